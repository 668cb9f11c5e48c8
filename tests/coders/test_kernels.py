"""Every kind of kernel through the coders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import (
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

import kernelcoding as kc
from kernelcoding.kernels import (
    ChiSquared,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Normalized,
    Polynomial,
    Projection,
    ProjectionGaussian,
    Stein,
    View,
)
from reference.features import squared_errors

GAMMA = 1.5


def orthonormal(rng, n, p, q):
    return np.linalg.qr(rng.normal(size=(n, p, q)))[0]


def covariances(rng, n, p):
    factors = rng.normal(size=(n, p, 2 * p))
    return factors @ factors.transpose(0, 2, 1) / (2 * p)


def log_euclidean(gamma):
    def function(left, right):
        distances = pytest.importorskip("pyriemann.geometry.distance")
        pairs = distances.pairwise_distance(left, right, metric="logeuclid")
        return np.exp(-gamma * pairs**2)

    return function


def stein(left, right):
    means = 0.5 * (left[:, None] + right[None])
    halves = 0.5 * (np.linalg.slogdet(left)[1][:, None] + np.linalg.slogdet(right)[1])
    return np.exp(-2.0 * (np.linalg.slogdet(means)[1] - halves))


def overlaps(left, right):
    return (np.einsum("nij,mik->nmjk", left, right) ** 2).sum(axis=(2, 3))


def both(left, right):
    return 0.3 * rbf_kernel(left, right, gamma=0.2) + 0.7 * polynomial_kernel(
        left, right, degree=2, gamma=1.0
    )


def cosines(left, right):
    raw = polynomial_kernel(left, right, degree=2, gamma=1.0)
    norms = [((each**2).sum(axis=1) + 1.0) for each in (left, right)]
    return raw / np.outer(*norms)


def intersections(left, right):
    return np.minimum(left[:, None], right[None]).sum(axis=2)


KERNELS = {
    "several": (
        MultipleKernel([Gaussian(gamma=0.2), Polynomial(degree=2)], weights=[0.3, 0.7]),
        both,
        "vectors",
    ),
    "sum": (0.3 * Gaussian(gamma=0.2) + 0.7 * Polynomial(degree=2), both, "vectors"),
    "normalised": (Normalized(Polynomial(degree=2)), cosines, "vectors"),
    "laplacian": (Laplacian(gamma=0.3), lambda X, Z: laplacian_kernel(X, Z, gamma=0.3), "vectors"),
    "product": (
        Linear() * Gaussian(gamma=0.2),
        lambda X, Z: linear_kernel(X, Z) * rbf_kernel(X, Z, gamma=0.2),
        "vectors",
    ),
    "view": (
        View([2, 0], Gaussian(gamma=0.5)),
        lambda X, Z: rbf_kernel(X[:, [2, 0]], Z[:, [2, 0]], gamma=0.5),
        "vectors",
    ),
    "chi2": (ChiSquared(gamma=0.7), lambda X, Z: chi2_kernel(X, Z, gamma=0.7), "histograms"),
    "intersection": (HistogramIntersection(), intersections, "histograms"),
    "log-Euclidean": (LogEuclideanGaussian(gamma=0.4), log_euclidean(0.4), "covariances"),
    "Stein": (Stein(gamma=2.0), stein, "covariances"),
    "projection": (Projection(), overlaps, "subspaces"),
    "projection Gaussian": (
        ProjectionGaussian(gamma=0.8),
        lambda X, Z: np.exp(-0.8 * (2 - overlaps(X, Z))),
        "subspaces",
    ),
}


def stack_of(kind, rng, n):
    return {
        "vectors": lambda: rng.normal(size=(n, 4)),
        "histograms": lambda: rng.dirichlet(np.ones(6), size=n),
        "covariances": lambda: covariances(rng, n, 3),
        "subspaces": lambda: orthonormal(rng, n, 5, 2),
    }[kind]()


THROUGH = {
    "sparse": kc.KernelSparseCoder(alpha=0.05, tol=1e-10),
    "LLC": kc.KernelLLC(n_neighbors=4),
    "soft": kc.KernelBagOfWords(),
    "omp": kc.KernelMatchingPursuit(n_nonzero=3),
}


@pytest.mark.parametrize("coder", THROUGH.values(), ids=THROUGH.keys())
@pytest.mark.parametrize(("kernel", "function", "kind"), KERNELS.values(), ids=KERNELS.keys())
def test_kernels_and_functions_give_the_same_codes(kernel, function, kind, coder, rng):
    X, Q = stack_of(kind, rng, 20), stack_of(kind, rng, 9)
    by_kernel = clone(coder).set_params(kernel=kernel).fit(X)
    codes, errors = by_kernel.transform(Q), by_kernel.reconstruction_error(Q)
    by_function = clone(coder).set_params(kernel=function).fit(X)
    assert_allclose(by_function.transform(Q), codes, atol=1e-6)
    assert_allclose(by_function.reconstruction_error(Q), errors, atol=1e-8)
    by_matrix = clone(coder).set_params(kernel="precomputed").fit(function(X, X))
    if not isinstance(coder, kc.KernelLLC):  # which needs k(x, x), and a row does not tell
        assert_allclose(by_matrix.transform(function(Q, X)), codes, atol=1e-6)


def test_a_precomputed_kernel_of_constant_diagonal_knows_errors(digits):
    X, Q = digits
    inside = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA)).fit(X)
    outside = kc.KernelSparseCoder(kernel="precomputed").fit(rbf_kernel(X, gamma=GAMMA))
    cross = rbf_kernel(Q, X, gamma=GAMMA)
    assert_allclose(outside.reconstruction_error(cross), inside.reconstruction_error(Q), atol=1e-9)


def test_a_precomputed_kernel_bounds_errors_from_below_where_it_cannot_know(rng):
    X, Q = rng.normal(size=(4, 6)), rng.normal(size=(9, 6))
    inside = kc.KernelSparseCoder(kernel="linear", alpha=0.1).fit(X)
    outside = kc.KernelSparseCoder(kernel="precomputed", alpha=0.1).fit(X @ X.T)
    codes = inside.transform(Q)
    assert_allclose(outside.transform(Q @ X.T), codes, atol=1e-9)
    # The part of a query outside the span of the atoms is invisible in a row of similarities.
    basis = np.linalg.qr(X.T)[0]
    visible = squared_errors(Q @ basis, X @ basis, codes)
    assert_allclose(outside.reconstruction_error(Q @ X.T, codes), visible, atol=1e-9)


def test_names_stand_for_data_driven_widths(digits):
    X, _ = digits
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    coder = kc.KernelSparseCoder(kernel="rbf").fit(X)
    assert_allclose(coder.kernel_.gamma, 1.0 / np.median(squares))
    scale = kc.KernelSparseCoder(kernel=Gaussian(gamma="scale")).fit(X)
    assert_allclose(scale.kernel_.gamma, 1.0 / (X.shape[1] * X.var()))
    assert_allclose(coder.dictionary_.gram, rbf_kernel(X, gamma=coder.kernel_.gamma))
