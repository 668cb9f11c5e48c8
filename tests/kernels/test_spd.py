"""Kernels of SPD matrices: the tangent space at a mean, linear kernels, and bands."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import logm, sqrtm
from sklearn.exceptions import ConvergenceWarning

import kernelcoding as kc
from kernelcoding.kernels import (
    AffineInvariantGaussian,
    AffineInvariantLinear,
    LogEuclideanGaussian,
    LogEuclideanLinear,
    Stein,
    as_kernel,
)
from kernelcoding.kernels.spd_matrices import affine_mean


def spd(rng, n, p=3, spread=1.0):
    A = rng.normal(size=(n, p, p + 2)) * spread
    return A @ A.transpose(0, 2, 1) + 0.1 * np.eye(p)


@pytest.fixture
def matrices(rng):
    return spd(rng, 12), spd(rng, 5)


def tangent(X, reference):
    """By SciPy, one matrix at a time."""
    inverse = np.linalg.inv(sqrtm(reference))
    return np.array([logm(inverse @ x @ inverse) for x in X])


def test_the_mean_is_where_tangent_vectors_balance(matrices):
    X, _ = matrices
    mean = affine_mean(X, "test")
    assert np.abs(tangent(X, mean).mean(axis=0)).max() < 1e-9
    assert_allclose(affine_mean(np.repeat(X[:1], 4, axis=0), "test"), X[0], rtol=1e-9)


def test_the_mean_of_two_is_the_midpoint_of_their_geodesic(matrices):
    a, b = matrices[0][:2]
    root = sqrtm(a)
    inverse = np.linalg.inv(root)
    middle = root @ sqrtm(inverse @ b @ inverse) @ root
    assert_allclose(affine_mean(np.array([a, b]), "test"), middle, rtol=1e-8)


@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_the_mean_of_distant_matrices(spread, rng):
    X = spd(rng, 20, p=4, spread=spread) ** 1 + np.diag([1e-3, 1.0, 1e3, 1e4])
    mean = affine_mean(X, "test")
    assert np.abs(tangent(X, mean).mean(axis=0)).max() < 1e-8


def test_tangent_kernels_are_their_formulas(matrices):
    X, Z = matrices
    gaussian = AffineInvariantGaussian(gamma=0.3).resolve(X)
    linear = AffineInvariantLinear().resolve(X)
    assert_allclose(gaussian.reference, linear.reference)
    left, right = (tangent(part, gaussian.reference).reshape(len(part), -1) for part in (X, Z))
    squares = np.square(left[:, None] - right[None]).sum(axis=-1)
    assert_allclose(gaussian(X, Z), np.exp(-0.3 * squares), rtol=1e-8)
    assert_allclose(linear(X, Z), left @ right.T, atol=1e-8)
    assert_allclose(linear.diagonal(Z), np.square(right).sum(axis=1), rtol=1e-8)


def test_agreement_with_pyriemann(matrices):
    kernel_of = pytest.importorskip("pyriemann.utils.kernel")
    mean_of = pytest.importorskip("pyriemann.utils.mean")
    X, Z = matrices
    linear = AffineInvariantLinear().resolve(X)
    mean = mean_of.mean_riemann(X, tol=1e-12, maxiter=200)
    assert_allclose(linear.reference, mean, rtol=1e-7)
    assert_allclose(linear(X, Z), kernel_of.kernel_riemann(X, Z, Cref=mean, reg=0), atol=1e-7)
    truth = kernel_of.kernel_logeuclid(X, Z, Cref=np.eye(3), reg=0)
    assert_allclose(LogEuclideanLinear()(X, Z), truth, atol=1e-9)


def test_congruence_changes_nothing_at_the_mean(matrices, rng):
    X, Z = matrices
    mixing = rng.normal(size=(3, 3)) + 2.0 * np.eye(3)
    moved = [mixing @ part @ mixing.T for part in (X, Z)]
    for kernel in (AffineInvariantGaussian("median"), AffineInvariantLinear()):
        here, there = kernel.resolve(X), kernel.resolve(moved[0])
        assert_allclose(there(*moved), here(X, Z), atol=1e-7)
    euclidean = LogEuclideanGaussian(0.3)
    assert np.abs(euclidean(*moved) - euclidean(X, Z)).max() > 0.01  # which is not invariant


def test_the_identity_as_reference_is_log_euclidean(matrices):
    X, Z = matrices
    linear, gaussian = AffineInvariantLinear(np.eye(3)), AffineInvariantGaussian(0.2, np.eye(3))
    assert_allclose(linear(X, Z), LogEuclideanLinear()(X, Z), atol=1e-10)
    assert_allclose(gaussian(X, Z), LogEuclideanGaussian(0.2)(X, Z), rtol=1e-10)


def test_log_euclidean_linear_is_a_trace(matrices):
    X, Z = matrices
    truth = [[np.trace(logm(x) @ logm(z)) for z in Z] for x in X]
    assert_allclose(LogEuclideanLinear()(X, Z), truth, rtol=1e-8)


BANDED = [
    (LogEuclideanGaussian(0.2), np.multiply),
    (LogEuclideanLinear(), np.add),
    (Stein(1.0), np.multiply),
    (AffineInvariantGaussian(0.2), np.multiply),
    (AffineInvariantLinear(), np.add),
]


@pytest.mark.parametrize(("kernel", "combine"), BANDED, ids=lambda x: type(x).__name__)
def test_bands_are_summed_in_the_exponent_or_the_product(kernel, combine, rng):
    X, Z = (np.stack([spd(rng, n), 4.0 * spd(rng, n)], axis=1) for n in (9, 4))
    parts = [kernel.resolve(X[:, b])(X[:, b], Z[:, b]) for b in (0, 1)]
    resolved = kernel.resolve(X)
    assert_allclose(resolved(X, Z), combine(*parts), rtol=1e-8, atol=1e-8)
    assert_allclose(resolved(X[:, :1], Z[:, :1]) if not hasattr(kernel, "reference") else parts[0],
                    parts[0], rtol=1e-8)  # fmt: skip
    assert np.linalg.eigvalsh(resolved(X))[0] > -1e-9


@pytest.mark.parametrize("name", ["affine-invariant", "affine-invariant-linear",
                                  "log-euclidean-linear", "log-euclidean"])  # fmt: skip
def test_coding_bands_and_saving(name, rng, tmp_path):
    X = np.stack([spd(rng, 20), spd(rng, 20)], axis=1).astype(np.float32)
    coder = kc.KernelSparseCoder(name, alpha=0.1).fit(X)
    codes = coder.transform(X)
    assert codes.dtype == np.float32
    assert coder.kernel_.is_resolved
    kc.save(coder, tmp_path / "model.kc")
    assert_array_equal(kc.load(tmp_path / "model.kc").transform(X), codes)


def test_the_width_of_the_tangent_gaussian_is_learned(rng):
    X = spd(rng, 40)
    kernel = AffineInvariantGaussian("median")
    coder = kc.KernelSparseCoder(kernel, alpha=0.05, atoms=15, learn_kernel=True, random_state=0)
    coder.fit(X)
    start = kernel.resolve(X)
    assert coder.kernel_.gamma != start.gamma
    assert_array_equal(coder.kernel_.reference, start.reference)
    assert coder.kernel_history_[-1] <= coder.kernel_history_[0]


def test_what_is_refused(matrices):
    X, _ = matrices
    for kind in (AffineInvariantGaussian, AffineInvariantLinear):
        assert not kind().is_resolved
        with pytest.raises(ValueError, match=r"reference='mean' depends on data.*\.resolve\(X\)"):
            kind()(X)
        with pytest.raises(ValueError, match='reference must be "mean" or a positive definite'):
            kind(reference="median").resolve(X)
        with pytest.raises(ValueError, match=r"reference has shape \(2, 2\).*have \(3, 3\)"):
            kind(reference=np.eye(2))(X)
        with pytest.raises(ValueError, match="positive definite matrices"):
            kind(reference=-np.eye(3))(X)
        with pytest.raises(ValueError, match=r"\(n, p, p\), or \(n, b, p, p\) for several bands"):
            kind(reference=np.eye(3))(np.ones((2, 2, 2, 2, 2)))
    with pytest.raises(ValueError, match="expected square matrices"):
        LogEuclideanLinear()(np.ones((2, 2, 3, 4)))
    bad = np.stack([X, X], axis=1)
    bad[4, 1] = np.diag([1.0, -2.0, 1.0])
    for kernel in (LogEuclideanLinear(), Stein(), LogEuclideanGaussian()):
        with pytest.raises(ValueError, match="sample 4 has smallest eigenvalue -2"):
            kernel(bad)


def test_a_mean_that_is_not_reached_is_told(matrices, monkeypatch):
    monkeypatch.setattr("kernelcoding.kernels.spd_matrices.MEAN_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="the affine-invariant mean was not found"):
        as_kernel("affine-invariant").resolve(matrices[0])


# Widths that no admissible gamma reaches -------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.5, "median", "scale"])
def test_large_matrices_that_look_unrelated_are_told(gamma, rng):
    divergence_of = pytest.importorskip("pyriemann.geometry.distance").distance_logdet
    X = spd(rng, 20, p=60)
    pairs = np.triu_indices(20, 1)
    divergences = np.array([divergence_of(X[i], X[j]) ** 2 for i, j in zip(*pairs, strict=True)])
    typical = np.exp(-0.5 * np.median(divergences))
    assert typical < 1e-3
    coder = kc.KernelSparseCoder(Stein(gamma))
    with pytest.warns(UserWarning, match="60 x 60 matrices .* all samples look unrelated") as told:
        coder.fit(X)
    [warning] = told
    assert warning.filename == __file__
    assert f"gamma=0.5 makes the median similarity of these 60 x 60 matrices {typical:.2g}:" in str(
        warning.message
    )
    assert f"one over their median is {1 / np.median(divergences):.2g}" in str(warning.message)
    assert 'Use LogEuclideanGaussian(gamma="median")' in str(warning.message)
    advised = kc.KernelSparseCoder(LogEuclideanGaussian("median")).fit(X)
    assert 0.3 < np.median(advised.dictionary_.gram[pairs]) < 0.45


def test_nothing_is_said_of_matrices_that_resemble_each_other(rng):
    X = spd(rng, 120, p=4)  # more than are looked at
    for gamma in (0.5, "median", 200.0, "100*median"):  # narrow by the will of the user
        kc.KernelSparseCoder(Stein(gamma)).fit(X)
    kc.KernelSparseCoder(Stein()).fit(spd(rng, 1, p=60))  # no pair
