"""What estimators are given: samples, Gram matrices, stacks of them."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding.experiments.running.estimator_inputs import (
    GramInputs,
    GramStackInputs,
    SampleInputs,
    inputs_for,
)
from kernelcoding.kernels import Gaussian, Linear, Polynomial, Sigmoid


def test_grams_are_the_kernel_at_multiples_of_the_median_width(digits):
    X, Q = digits
    grams = GramInputs(Gaussian(), X, Q)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    unit = 1.0 / np.median(distances[np.triu_indices(80, 1)])
    for width in (0.3, 2.0):
        kernel = Gaussian(width * unit)
        assert_allclose(grams.training(width).values, kernel(X), atol=1e-10)
        assert_allclose(grams.queries(width), kernel(Q, X), atol=1e-10)
    plain = GramInputs(Linear(), X, Q)
    assert_allclose(plain.training(None).values, X @ X.T)
    assert_allclose(plain.queries(None), Q @ X.T)


def test_stacks_have_kernels_of_equal_size(digits):
    X, Q = digits
    kernels = (Linear(), Gaussian("median"), Polynomial(2, gamma="scale"), Sigmoid(gamma="scale"))
    stack = inputs_for(kernels, X, Q)
    assert isinstance(stack, GramStackInputs)
    values = stack.training(None).values
    assert_allclose([abs(np.diag(values[:, :, k]).mean()) for k in range(4)], 1.0)
    quadratic = kernels[2].resolve(X)
    unit = np.diag(quadratic(X)).mean()
    assert_allclose(values[:, :, 2], quadratic(X) / unit)
    assert_allclose(stack.queries(None)[:, :, 2], quadratic(Q, X) / unit)


def test_folds_of_the_training_part_are_rows_and_columns(digits):
    X, Q = digits
    fitted, asked = np.array([3, 1, 7]), np.array([0, 2])
    plain = SampleInputs(X, Q).training(None)
    assert_array_equal(plain.fitted(fitted), X[fitted])
    assert_array_equal(plain.asked(asked, fitted), X[asked])
    gram = GramInputs(Linear(), X, Q).training(None)
    assert_allclose(gram.fitted(fitted), X[fitted] @ X[fitted].T)
    assert_allclose(gram.asked(asked, fitted), X[asked] @ X[fitted].T)
