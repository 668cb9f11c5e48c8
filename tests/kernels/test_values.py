"""Kernel values against other libraries and slow, obvious formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import logm
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from helpers.names import stable
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
    Sigmoid,
    Stein,
    View,
    as_kernel,
)


def spd(rng, n, p=4):
    A = rng.normal(size=(n, p, p + 2))
    return A @ A.transpose(0, 2, 1)


def bases(rng, n, p=6, q=3):
    return np.linalg.qr(rng.normal(size=(n, p, q)))[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "params"),
    [
        (Linear(), pairwise.linear_kernel, {}),
        (Gaussian(0.3), pairwise.rbf_kernel, {"gamma": 0.3}),
        (Laplacian(0.3), pairwise.laplacian_kernel, {"gamma": 0.3}),
        (ChiSquared(0.3), pairwise.chi2_kernel, {"gamma": 0.3}),
        (
            Polynomial(degree=4, gamma=0.3, coef0=0.7),
            pairwise.polynomial_kernel,
            {"degree": 4, "gamma": 0.3, "coef0": 0.7},
        ),
        (
            Sigmoid(gamma=0.3, coef0=-0.7),
            pairwise.sigmoid_kernel,
            {"gamma": 0.3, "coef0": -0.7},
        ),
        (as_kernel("cosine"), pairwise.cosine_similarity, {}),
    ],
    ids=stable,
)
def test_agreement_with_scikit_learn(ours, theirs, params, rng):
    X, Z = rng.exponential(size=(40, 5)), rng.exponential(size=(30, 5))
    X[3] = Z[2] = 0.0  # empty histograms, vectors without direction
    assert_allclose(ours(X, Z), theirs(X, Z, **params), rtol=1e-11, atol=1e-14)
    assert_allclose(ours(X), theirs(X, X, **params), rtol=1e-11, atol=1e-14)


def test_intersection_is_the_sum_of_minima(rng):
    X, Z = rng.exponential(size=(7, 5)), rng.exponential(size=(6, 5))
    naive = [[np.minimum(x, z).sum() for z in Z] for x in X]
    assert_allclose(HistogramIntersection()(X, Z), naive, rtol=1e-12)


@pytest.mark.parametrize("shape", [(300, 700), (700, 300), (5, 40_000)])
def test_distances_over_many_blocks(shape, rng):
    X, Z = rng.normal(size=(shape[0], 3)), rng.normal(size=(shape[1], 3))
    kernel = Gaussian()
    S = kernel.statistic(kernel.prepare(X), kernel.prepare(Z))
    assert_allclose(S, cdist(X, Z, "sqeuclidean"), rtol=1e-9, atol=1e-12)


def test_mirrored_blocks_are_in_their_places(rng):
    X = rng.normal(size=(700, 3))
    kernel = Gaussian(0.3)
    P = kernel.prepare(X)
    truth = cdist(X, X, "sqeuclidean")
    assert_allclose(kernel.statistic(P, P), truth, rtol=1e-9, atol=1e-12)
    assert_allclose(kernel(X), np.exp(-0.3 * truth), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_never_makes_a_similarity_exceed_one(dtype, rng):
    X = (100.0 + rng.normal(size=(300, 8))).astype(dtype)
    kernel = Gaussian(50.0)
    assert kernel.statistic(kernel.prepare(X), kernel.prepare(X.copy())).min() >= 0
    assert kernel(X, X.copy()).max() <= 1
    K = kernel(X)  # several blocks of rows, each with its part of the diagonal
    assert (np.diag(K) == 1).all()
    assert (K == K.T).all()


def test_float32_far_from_the_origin(rng):
    X = (1000.0 + rng.normal(size=(50, 8))).astype(np.float32)
    Z = (1000.0 + rng.normal(size=(40, 8))).astype(np.float32)
    exact = np.exp(-0.1 * cdist(X.astype(float), Z.astype(float), "sqeuclidean"))
    assert_allclose(Gaussian(0.1)(X, Z), exact, rtol=1e-4)
    # a row does not depend on its neighbours, though the origin is moved
    assert_allclose(Gaussian(0.1)(X[:1], Z), Gaussian(0.1)(X, Z)[:1], rtol=1e-5)


def test_log_euclidean_agrees_with_pyriemann(rng):
    distance = pytest.importorskip("pyriemann.geometry.distance")
    X, Z = spd(rng, 6), spd(rng, 5)
    theirs = np.array([[distance.distance_logeuclid(x, z) for z in Z] for x in X])
    assert_allclose(LogEuclideanGaussian(0.2)(X, Z), np.exp(-0.2 * theirs**2), rtol=1e-10)


def test_log_euclidean_agrees_with_scipy_logm(rng):
    X, Z = spd(rng, 3), spd(rng, 3)
    naive = [[np.linalg.norm(logm(x) - logm(z)) ** 2 for z in Z] for x in X]
    kernel = LogEuclideanGaussian(0.2)
    assert_allclose(kernel.statistic(kernel.prepare(X), kernel.prepare(Z)), naive, rtol=1e-9)


def test_stein_agrees_with_pyriemann_and_determinants(rng):
    X, Z = spd(rng, 6), spd(rng, 5)
    naive = np.array(
        [
            [np.log(np.linalg.det((x + z) / 2)) - 0.5 * np.log(np.linalg.det(x @ z)) for z in Z]
            for x in X
        ]
    )
    assert_allclose(Stein(2.0)(X, Z), np.exp(-2.0 * naive), rtol=1e-10)
    distance = pytest.importorskip("pyriemann.geometry.distance")
    theirs = np.array([[distance.distance_logdet(x, z) for z in Z] for x in X])
    assert_allclose(Stein(2.0)(X, Z), np.exp(-2.0 * theirs**2), rtol=1e-10)


def test_an_inadmissible_stein_gamma_is_truly_indefinite(rng):
    turns = np.linalg.qr(rng.normal(size=(60, 2, 2)))[0]
    spectra = np.exp(rng.uniform(-3.0, 3.0, size=(60, 1, 2)))
    X = (turns * spectra) @ turns.transpose(0, 2, 1)
    S = -np.log(Stein(gamma=1.0)(X))
    assert np.linalg.eigvalsh(np.exp(-0.5 * S))[0] > -1e-12
    assert np.linalg.eigvalsh(np.exp(-0.25 * S))[0] < -1e-2


def test_projection_agrees_with_loops(rng):
    X, Z = bases(rng, 7), bases(rng, 5)
    naive = np.array([[np.linalg.norm(x.T @ z) ** 2 for z in Z] for x in X])
    metric = np.array([[np.linalg.norm(x @ x.T - z @ z.T) ** 2 for z in Z] for x in X])
    assert_allclose(Projection()(X, Z), naive, rtol=1e-12)
    assert_allclose(ProjectionGaussian(0.7)(X, Z), np.exp(-0.7 * metric / 2), rtol=1e-10)


def test_projection_over_many_blocks_and_mixed_dimensions(rng):
    X, Z = bases(rng, 90, p=5, q=2), bases(rng, 400, p=5, q=3)
    naive = np.einsum("ipa,jpb->ijab", X, Z)
    assert_allclose(Projection()(X, Z), (naive**2).sum(axis=(2, 3)), rtol=1e-12)


def test_projection_does_not_depend_on_the_basis(rng):
    X, Z = bases(rng, 4), bases(rng, 3)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert_allclose(ProjectionGaussian()(X @ rotation, Z), ProjectionGaussian()(X, Z), rtol=1e-12)


def test_erratum_distance_in_the_feature_space(rng):
    # The text prints k_ii - 2 k_ij - k_jj. Features of (x'z + 1)^2 are known explicitly.
    X = rng.normal(size=(6, 2))
    a, b = X.T
    root = np.sqrt(2)
    features = np.stack([a**2, b**2, root * a * b, root * a, root * b, np.ones(6)], axis=1)
    kernel = Polynomial(degree=2)
    K, d = kernel(X), kernel.diagonal(X)
    right = d[:, None] - 2 * K + d
    printed = d[:, None] - 2 * K - d
    truth = cdist(features, features, "sqeuclidean")
    assert_allclose(right, truth, atol=1e-10)
    assert np.abs(printed - truth).max() > 1.0


def test_erratum_gaussian_is_of_the_difference():
    # The text prints ||x_i, x_j||: neither a joint norm nor a product of norms.
    x, z = np.array([[3.0, 1.0]]), np.array([[1.0, 2.0]])
    assert_allclose(Gaussian(0.1)(x, z), np.exp(-0.1 * 5.0))
    assert_allclose(Gaussian(0.1)(x + 7.0, z + 7.0), Gaussian(0.1)(x, z))  # only differences count


def test_algebra_is_arithmetic(rng):
    X, Z = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    g, p = Gaussian(0.5), Polynomial(degree=2)
    k = 0.5 * g + Linear() * p
    assert_allclose(k(X, Z), 0.5 * g(X, Z) + (X @ Z.T) * p(X, Z), rtol=1e-12)
    m = MultipleKernel([g, p], weights=[0.25, 3.0])
    assert_allclose(m(X, Z), 0.25 * g(X, Z) + 3.0 * p(X, Z), rtol=1e-12)
    assert_allclose(MultipleKernel([g, p])(X), (g(X) + p(X)) / 2, rtol=1e-12)
    normal = Normalized(p)(X, Z)
    naive = p(X, Z) / np.sqrt(np.outer(p.diagonal(X), p.diagonal(Z)))
    assert_allclose(normal, naive, rtol=1e-12)
    assert_allclose(View([2, 0], g)(X, Z), g(X[:, [2, 0]], Z[:, [2, 0]]), rtol=1e-12)


def test_zero_self_similarity_is_similar_to_nothing():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = Normalized(Linear())
    assert_allclose(kernel(X), [[0.0, 0.0], [0.0, 1.0]], rtol=1e-15)
    assert_allclose(kernel.diagonal(X), [0.0, 1.0])
    assert np.isfinite(Normalized(Polynomial(2, coef0=0.0)).gradient(X)).all()


@pytest.mark.parametrize("kernel", [LogEuclideanGaussian(0.2), Stein()], ids=repr)
def test_one_decomposition_per_stack(kernel, rng, monkeypatch):
    calls = []
    for name in ("eigh", "eigvalsh", "cholesky"):
        original = getattr(np.linalg, name)

        def counted(a, *args, name=name, original=original, **kwargs):
            calls.append((name, len(a)))
            return original(a, *args, **kwargs)

        monkeypatch.setattr(np.linalg, name, counted)
    X, Z = spd(rng, 6), spd(rng, 5)
    P, Q = kernel.prepare(X), kernel.prepare(Z)
    per_sample = "eigh" if isinstance(kernel, LogEuclideanGaussian) else "cholesky"
    assert calls == [(per_sample, 6), (per_sample, 5)]
    calls.clear()
    kernel.between(P, Q)
    if isinstance(kernel, LogEuclideanGaussian):
        assert calls == []  # pairs need no decomposition at all
        kernel(X)
        assert calls == [("eigh", 6)]


def test_stein_computes_each_pair_once(rng, monkeypatch):
    kernel, P, pairs = Stein(), Stein().prepare(spd(rng, 6)), []
    original = np.linalg.cholesky
    monkeypatch.setattr(np.linalg, "cholesky", lambda a: pairs.append(len(a)) or original(a))
    kernel.statistic(P, P)
    assert sum(pairs) == 15


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial(), ChiSquared(), Stein()], ids=repr)
def test_empty_stacks(kernel):
    shape = (3, 3) if kernel.input_ndim == 3 else (3,)
    X = np.broadcast_to(np.eye(3) if kernel.input_ndim == 3 else np.ones(3), (2, *shape))
    assert kernel(X[:0], X).shape == (0, 2)
    assert kernel(X, X[:0]).shape == (2, 0)
    assert kernel.diagonal(X[:0]).shape == (0,)
