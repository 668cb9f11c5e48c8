"""Values of kernels of sparse samples, against their dense forms and against scikit-learn."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, polynomial_kernel, rbf_kernel

from kernelcoding.kernels import (
    CallableKernel,
    Centered,
    ChiSquared,
    DistanceKernel,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    MultipleKernel,
    Normalized,
    Polynomial,
    Scaled,
    Sigmoid,
    View,
    take,
)
from kernelcoding.kernels.sparse_pairs import (
    sparse_chi_squared,
    sparse_city_block,
    sparse_squared_distances,
)
from kernelcoding.sparse_vectors import SparseVectors


def city_blocks(X, Z):
    X, Z = (stack.toarray() if sparse.issparse(stack) else stack for stack in (X, Z))
    return np.abs(X[:, None] - Z[None]).sum(axis=-1)


KERNELS = [
    Linear(),
    Polynomial(degree=2, gamma="scale"),
    Polynomial(degree=3, gamma="median"),
    Gaussian("median"),
    Gaussian("scale"),
    Laplacian("0.5*median"),
    Sigmoid(gamma="scale"),
    ChiSquared("median"),
    ChiSquared("scale"),
    HistogramIntersection(),
    Normalized(HistogramIntersection()),
    Centered(ChiSquared("median")),
    DistanceKernel(city_blocks, "median"),
    CallableKernel(lambda X, Z: np.exp(-city_blocks(X, Z))),
    Scaled(Gaussian("median"), 2.0) + Linear() * Laplacian(),
    MultipleKernel([View([0, 3, 7], Gaussian("median")), View(slice(2, 20), Linear())]),
]
SIGNED = [kernel for kernel in KERNELS if not kernel.wants_nonnegative]


def named(kernel):
    """The same in every process: functions would show their place in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(kernel))


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=named)


def rows(rng, n, d=30, share=0.2):
    """Histograms, one of them empty and two of them equal."""
    X = rng.random((n, d)) * (rng.random((n, d)) < share)
    X[1], X[3] = 0.0, X[2]
    return X


@every_kernel
def test_values_and_widths_are_those_of_dense_samples(kernel, rng):
    X, Z = rows(rng, 25), rows(rng, 9)
    S, T = sparse.csr_array(X), sparse.csr_array(Z)
    dense, given = kernel.resolve(X), kernel.resolve(S)
    assert_allclose(given.theta, dense.theta, rtol=1e-12)
    for wanted, found in (
        (dense(X, Z), given(S, T)),
        (dense(X, Z), given(S, Z)),
        (dense(X, Z), given(X, T)),
        (dense(X), given(S)),
        (dense.diagonal(X), given.diagonal(S)),
        (dense.gradient(X, Z), given.gradient(S, T)),
    ):
        assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kernel", SIGNED, ids=named)
def test_numbers_of_both_signs(kernel, rng):
    X, Z = rows(rng, 25) - rows(rng, 25), rows(rng, 9) - rows(rng, 9)
    S, T = sparse.csr_array(X), sparse.csr_array(Z)
    assert_allclose(kernel.resolve(S)(S, T), kernel.resolve(X)(X, Z), rtol=1e-11, atol=1e-12)


@every_kernel
def test_the_same_bits_in_any_batch_either_way_round(kernel, rng):
    S, T = sparse.csr_array(rows(rng, 25)), sparse.csr_array(rows(rng, 9))
    kernel = kernel.resolve(S)
    K = kernel(S, T)
    assert_array_equal(kernel(T, S).T, K)
    assert_array_equal(kernel(S), kernel(S).T)
    for i in range(4):
        assert_array_equal(kernel(S[[i]], T)[0], K[i])
        assert_array_equal(kernel(S, T[[i]])[:, 0], K[:, i])
    prepared = kernel.prepare(S), kernel.prepare(T)
    assert_array_equal(kernel.between(take(prepared[0], slice(2, 7)), prepared[1]), K[2:7])


@every_kernel
def test_single_precision_stays_and_is_close(kernel, rng):
    S, T = sparse.csr_array(rows(rng, 12)), sparse.csr_array(rows(rng, 9))
    kernel = kernel.resolve(S)
    single = kernel(S.astype(np.float32), T.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, kernel(S, T), rtol=1e-4, atol=1e-5)
    assert kernel(S.astype(np.float32), T).dtype == np.float64


def test_scikit_learn_says_the_same(rng):
    X, Z = rows(rng, 30), rows(rng, 20)
    S, T = sparse.csr_array(X), sparse.csr_array(Z)
    assert_allclose(ChiSquared(0.7)(S, T), chi2_kernel(X, Z, gamma=0.7), rtol=1e-12)
    assert_allclose(Gaussian(0.7)(S, T), rbf_kernel(X, Z, gamma=0.7), rtol=1e-12)
    assert_allclose(Laplacian(0.7)(S, T), laplacian_kernel(X, Z, gamma=0.7), rtol=1e-12)
    ours = Polynomial(degree=2, gamma=0.7, coef0=0.5)(S, T)
    assert_allclose(ours, polynomial_kernel(S, T, 2, 0.7, 0.5), rtol=1e-12)


@pytest.mark.parametrize(
    ("distances", "term"),
    [
        (sparse_squared_distances, lambda x, z: (x - z) ** 2),
        (sparse_city_block, lambda x, z: np.abs(x - z)),
        (sparse_chi_squared, lambda x, z: (x - z) ** 2 / np.where(x + z > 0, x + z, 1.0)),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_close_rows_keep_their_digits(distances, term, offset, rng):
    """Sums of large numbers cancel: distances are a part of 1e-18 to 1 of them."""
    X = rows(rng, 12)
    X[:, 0] += offset  # far from zero in one column alone, which stays sparse
    Z = X * (1.0 + rng.choice([0.0, 1e-12, 1e-9, 1e-3, 1.0], size=X.shape) * rng.random(X.shape))
    found = distances(SparseVectors(sparse.csr_array(X)), SparseVectors(sparse.csr_array(Z)))
    wanted = term(X[:, None], Z[None]).sum(axis=-1)
    assert_allclose(found, wanted, rtol=1e-9, atol=0.0)
    alone = distances(*2 * (SparseVectors(sparse.csr_array(X)),))
    assert_array_equal(np.diag(alone), np.zeros(12))
    assert alone[2, 3] == 0.0


def test_long_indices_are_followed(rng):
    """More columns than 32 bits can number."""
    X = rows(rng, 8)
    columns = np.arange(30) * 2**28
    tall = sparse.csr_array(X)
    parts = (tall.data, columns[tall.indices], tall.indptr.astype(np.int64))
    far = SparseVectors(sparse.csr_array(parts, shape=(8, 2**33)))
    assert far.rows[1].dtype == np.int64
    assert_array_equal(far.rows[1], parts[1])


def test_stacks_are_put_in_order_and_left_alone(rng):
    given = sparse.coo_array(([1.0, 2.0, 0.0, -2.0, 4.0], ([0, 0, 1, 1, 1], [2, 1, 0, 1, 1])))
    stack = SparseVectors(given)
    assert stack.size == 3
    assert_array_equal(stack.toarray(), [[0.0, 2.0, 1.0], [0.0, 2.0, 0.0]])
    assert stack.matrix.has_canonical_format
    assert given.nnz == 5
    with pytest.raises(TypeError, match="no dense array"):
        np.asarray(stack)
    assert repr(stack) == "SparseVectors((2, 3), 3 nonzeros, float64)"
