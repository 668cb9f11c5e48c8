"""Laws of kernels that do not change when all samples are moved. A new one adds a line."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelcoding as kc
from helpers.names import stable
from kernelcoding.kernels import Gaussian, Laplacian, MultipleKernel, Normalized, View


def square(differences, columns=slice(None)):
    return (differences[..., columns] ** 2).sum(axis=-1)


def city_block(differences, columns=slice(None)):
    return np.abs(differences[..., columns]).sum(axis=-1)


# Kernels, and their values from the differences of samples (n, m, d), which are exact in float64.
INVARIANT = [
    (Gaussian(0.05), lambda D: np.exp(-0.05 * square(D))),
    (Laplacian(0.2), lambda D: np.exp(-0.2 * city_block(D))),
    (2.5 * Gaussian(0.1), lambda D: 2.5 * np.exp(-0.1 * square(D))),
    (Normalized(Gaussian(0.2)), lambda D: np.exp(-0.2 * square(D))),
    (
        View([0, 3], Gaussian(0.3)) * View([1, 2], Laplacian(0.1)),
        lambda D: np.exp(-0.3 * square(D, [0, 3]) - 0.1 * city_block(D, [1, 2])),
    ),
    (
        View([1], Gaussian(0.3)) + Gaussian(0.01),
        lambda D: np.exp(-0.3 * square(D, [1])) + np.exp(-0.01 * square(D)),
    ),
    (
        MultipleKernel([Gaussian(0.02), Gaussian(0.5)], weights=[0.4, 2.0]),
        lambda D: 0.4 * np.exp(-0.02 * square(D)) + 2.0 * np.exp(-0.5 * square(D)),
    ),
]
every_invariant = pytest.mark.parametrize(
    ("kernel", "truth"), INVARIANT, ids=[stable(kernel) for kernel, _ in INVARIANT]
)


def differences(X, Z):
    return X.astype(np.float64)[:, None] - Z.astype(np.float64)[None]


@every_invariant
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3, 3e6, 1e9])
def test_values_do_not_depend_on_the_origin(kernel, truth, offset, dtype, rng):
    moves = offset * np.array([1.0, -1.0, 0.3, 1.0])
    X, Z = ((rng.normal(size=(n, 4)) + moves).astype(dtype) for n in (40, 90))
    Z[0], Z[1] = X[0], np.nextafter(X[1], dtype(np.inf))  # the same, and next to it
    rounding = 1e-13 if dtype is np.float64 else 3e-6
    for left, right in ((X, Z), (Z, X), (X, Z[:1]), (X[:1], Z), (X[-3:], Z[-2:]), (Z, Z)):
        expected = truth(differences(left, right))
        assert_allclose(kernel(left, right), expected, rtol=rounding, atol=rounding)
    assert_array_equal(kernel(X, Z)[0, 0], kernel.diagonal(X)[0])


@every_invariant
def test_derivatives_do_not_depend_on_the_origin(kernel, truth, rng):
    X, Z = (rng.normal(size=(n, 4)) + 3e6 for n in (8, 9))
    found, centred = kernel.gradient(X, Z), kernel.gradient(X - 3e6, Z - 3e6)
    assert_allclose(found, centred, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_groups_of_samples_far_from_each_other(offset, rng):
    X = rng.normal(size=(60, 5)) + offset
    X[::2] += 1e8  # no single origin is near them all
    kernel = Gaussian(0.1)
    for Z in (X[:30].copy(), X):
        expected = square(differences(X, Z))
        assert_allclose(kernel.statistic(kernel.prepare(X), kernel.prepare(Z)), expected, 1e-11)
        assert_allclose(kernel(X, Z), np.exp(-0.1 * expected), rtol=0, atol=1e-12)


def test_samples_whose_squares_overflow_are_the_same_or_strangers():
    X = np.array([[1e200, 0.0], [1e200, 1.0], [-1e200, 0.0]])
    with np.errstate(over="ignore", invalid="ignore"):
        K = Gaussian(1.0)(X, X.copy())
    assert_allclose(K, [[1.0, np.exp(-1.0), 0.0], [np.exp(-1.0), 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("gamma", ["median", "scale"])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
@pytest.mark.parametrize("offset", [3e6, 1e9])
def test_widths_do_not_depend_on_the_origin(family, gamma, offset, rng):
    X = rng.normal(size=(80, 4)) + offset
    back = X - offset  # exact: the same samples, rounded as X is
    found = family(gamma).resolve(X).gamma
    assert_allclose(found, family(gamma).resolve(back).gamma, rtol=1e-9)
    if gamma == "median":
        distance = square if family is Gaussian else city_block
        values = distance(differences(back, back))[np.triu_indices(80, 1)]
        assert_allclose(found, 1.0 / np.median(values), rtol=1e-12)


CODERS = {
    "sparse": kc.KernelSparseCoder(Gaussian(0.05), alpha=0.01),
    "few atoms": kc.KernelSparseCoder("rbf", atoms=20, alpha=0.01, random_state=0),
    "llc": kc.KernelLLC(Gaussian(0.05), n_neighbors=6),
    "words": kc.KernelBagOfWords("rbf", atoms=10, random_state=0),
    "means": kc.KernelBagOfWords("rbf", atoms=10, init="kernel-k-means", random_state=0),
}


@pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())
@pytest.mark.parametrize("offset", [3e6, 1e9])
def test_codes_do_not_depend_on_the_origin(coder, offset, rng):
    X, Q = (rng.normal(size=(n, 6)) + offset for n in (70, 30))
    moved = coder.fit(X).transform(Q)
    gaps = coder.certify(Q, moved)
    centred = coder.fit(X - offset).transform(Q - offset)
    assert_allclose(moved, centred, atol=1e-6)
    # The certificate of moved samples is one of the samples themselves.
    assert_allclose(gaps, coder.certify(Q - offset, moved), atol=1e-9)


def test_points_and_preimages_do_not_depend_on_the_origin(rng):
    X = rng.normal(size=(60, 3))
    X = (X + 3e6) - 3e6  # the same samples at both places
    for update in ("points", "auto"):
        learning = kc.KernelDictionaryLearning(
            kc.KernelSparseCoder(Gaussian(0.1), alpha=0.05), n_atoms=6, update=update, max_iter=3,
            random_state=0,
        )  # fmt: skip
        moved = learning.fit(X + 3e6).preimages()
        assert_allclose(moved - 3e6, learning.fit(X).preimages(), atol=1e-5)
