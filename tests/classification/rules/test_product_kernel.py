"""The system of the product kernel, against the same written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelcoding import long_calls
from kernelcoding.classification.rules.product_kernel import ProductSystem
from reference.supervised import ridge_left_out

N = 70


@pytest.fixture
def parts(rng):
    X, codes = rng.normal(size=(N, 6)), rng.normal(size=(N, 5))
    codes[rng.uniform(size=codes.shape) < 0.5] = 0.0
    return codes, X @ X.T, rng.uniform(0.5, 2.0, size=N), rng.normal(size=(N, 3))


@pytest.mark.parametrize("rows", [slice(0, N), slice(10, 25), slice(40, 70)])
@pytest.mark.parametrize("columns", [slice(0, N), slice(0, 20), slice(12, 60)])
def test_entries_are_products_and_a_ridge(parts, rows, columns):
    codes, kernel, weight, _ = parts
    written_out = (codes @ codes.T) * kernel + np.diag(0.3 / weight)
    system = ProductSystem.of(codes, kernel, 0.3, weight)
    assert_allclose(system[rows, columns], written_out[rows, columns], atol=1e-12)


@pytest.mark.parametrize("large", [False, True])
def test_the_solution_is_that_of_the_whole_matrix(parts, large, monkeypatch):
    monkeypatch.setattr(long_calls, "ROWS", 30)
    if large:
        monkeypatch.setattr(long_calls, "FACTORED", 50)
    codes, kernel, weight, targets = parts
    system = ProductSystem.of(codes, kernel, 0.3, weight)
    written_out = (codes @ codes.T) * kernel + np.diag(0.3 / weight)
    assert_allclose(system.solve(targets), np.linalg.solve(written_out, targets), rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_samples_left_out_are_predicted_by_refits(parts, intercept, monkeypatch):
    monkeypatch.setattr(long_calls, "ROWS", 30)
    codes, kernel, weight, targets = parts
    features = np.linalg.cholesky((codes @ codes.T) * kernel + 1e-10 * np.eye(N))
    expected = ridge_left_out(features, targets, weight, 0.3, intercept)
    system = ProductSystem.of(codes, kernel, 0.3, weight)
    found = system.regression(targets, intercept, judged=True)
    assert_allclose(found.left_out, expected, atol=1e-6)
    alone = system.regression(targets, intercept)
    assert alone.left_out is None
    assert_allclose(found.coefficients, alone.coefficients, atol=1e-9)
    assert_allclose(found.bias, alone.bias, atol=1e-9)
