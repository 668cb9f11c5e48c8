"""Data that are wrong: an error that names what is wrong with them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelcoding as kc
from helpers.every_coder import EVERY_CODER
from kernelcoding.kernels import Polynomial


@pytest.fixture
def samples(rng):
    return rng.normal(size=(12, 3))


def covariances(rng, n=8):
    factors = rng.normal(size=(n, 3, 6))
    return factors @ factors.transpose(0, 2, 1)


@EVERY_CODER
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(coder, bad, samples):
    broken = samples.copy()
    broken[3, 1] = bad
    y = np.arange(12) % 2
    coder = clone(coder)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.fit(broken, y)
    coder.fit(samples, y)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.transform(broken)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.reconstruction_error(broken)


@EVERY_CODER
def test_shapes(coder, samples):
    coder, y = clone(coder), np.arange(12) % 2
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        coder.fit(samples[0], y[:3])
    with pytest.raises(ValueError, match="dim 3"):
        coder.fit(samples[None])
    with pytest.raises(ValueError, match="0 sample"):
        coder.fit(samples[:0], y[:0])
    with pytest.raises(NotFittedError):
        coder.transform(samples)
    coder.fit(samples, y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        coder.transform(samples[0])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
        coder.transform(samples[:, :2])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
        coder.certify(samples[:, :2], np.ones((12, 12)))


def test_sparse_and_complex_and_text(samples):
    for kernel in ("stein", "projection", "precomputed"):
        with pytest.raises(TypeError, match=r"Sparse data was passed, but .* dense arrays alone"):
            kc.KernelSparseCoder(kernel).fit(sparse.csr_array(samples))
    with pytest.raises(ValueError, match="Complex data not supported"):
        kc.KernelSparseCoder().fit(samples + 1j)
    with pytest.raises(ValueError, match="could not convert string to float"):
        kc.KernelSparseCoder().fit([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match=r"are texts.* make vectors of them.*TfidfVectorizer"):
        kc.KernelSparseCoder().fit(["a b", "c d"])


@pytest.mark.parametrize("kernel", ["log-euclidean", "stein"])
def test_matrices_that_are_not_spd(kernel, rng):
    X = covariances(rng)
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    skew, negative, nan = X.copy(), X.copy(), X.copy()
    skew[2, 0, 1] += 1.0
    negative[2] -= 100 * np.eye(3)
    nan[2, 0, 0] = np.nan
    for broken, message in (
        (skew, "expected symmetric matrices, sample 2"),
        (negative, "expected positive definite matrices, sample 2"),
        (nan, "contains NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(coder).fit(broken)
        with pytest.raises(ValueError, match=message):
            coder.transform(broken)
    with pytest.raises(ValueError, match=r"expected samples of shape \(n, p, p\)"):
        clone(coder).fit(X[:, 0])
    with pytest.raises(ValueError, match=r"square matrices \(n, p, p\)"):
        clone(coder).fit(X[:, :2])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3"):
        coder.transform(X[:, :2, :2])


@pytest.mark.parametrize("kernel", ["projection", "projection-gaussian"])
def test_bases_that_are_not_orthonormal(kernel, rng):
    X = np.linalg.qr(rng.normal(size=(6, 5, 2)))[0]
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="expected bases with orthonormal columns"):
        clone(coder).fit(2 * X)
    with pytest.raises(ValueError, match="expected bases with orthonormal columns"):
        coder.transform(X + 0.1)


@pytest.mark.parametrize("kernel", ["chi2", "intersection"])
def test_negative_histograms(kernel, rng):
    X = rng.dirichlet(np.ones(4), size=7)
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="Negative values in data"):
        clone(coder).fit(X - 0.5)
    with pytest.raises(ValueError, match="Negative values in data"):
        coder.transform(X - 0.5)


def test_precomputed_matrices_of_the_wrong_shape(samples):
    gram = samples @ samples.T
    coder = kc.KernelSparseCoder(kernel="precomputed")
    with pytest.raises(ValueError, match=r"square training matrix \(n, n\), got shape \(12, 7\)"):
        coder.fit(gram[:, :7])
    with pytest.raises(ValueError, match="symmetric training matrix"):
        coder.fit(np.triu(gram))
    with pytest.raises(ValueError, match="indices of training samples"):
        coder.set_params(atoms=samples).fit(gram)
    with pytest.raises(ValueError, match="atoms must be indices from 0 to 11"):
        coder.set_params(atoms=[0, 12]).fit(gram)
    with pytest.raises(ValueError, match="atoms must be indices from 0 to 11"):
        coder.set_params(atoms=[0, -1]).fit(gram)
    coder.set_params(atoms=[0, 3]).fit(gram)
    with pytest.raises(ValueError, match=r"7 features, but .* is expecting 12"):
        coder.transform(gram[:, :7])
    with pytest.raises(ValueError, match=r"7 features, but .* is expecting 12"):
        coder.reconstruction_error(gram[:, :7])


def test_kernels_that_return_nonsense(samples):
    def nan(X, Z):
        return np.full((len(X), len(Z)), np.nan)

    def short(X, Z):
        return np.ones(len(X))

    def scalar(x, z):
        return float(np.sum(x) @ np.sum(z)) if np.ndim(x) == 1 else 1.0

    with pytest.raises(ValueError, match="NaN or infinity"):
        kc.KernelSparseCoder(kernel=nan).fit(samples)
    for function in (short, scalar):
        with pytest.raises(ValueError, match="must take whole stacks, not single samples"):
            kc.KernelSparseCoder(kernel=function).fit(samples)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="kernel returned NaN or infinite"),
    ):
        kc.KernelSparseCoder(kernel=Polynomial(degree=99, gamma=1e20)).fit(samples)


def test_codes_of_the_wrong_shape(samples):
    coder = kc.KernelSparseCoder().fit(samples)
    good = coder.transform(samples)
    for method in (coder.certify, coder.reconstruction_error):
        with pytest.raises(ValueError, match="one column for each of the 12 atoms, got shape"):
            method(samples, good[:, :5])
        with pytest.raises(ValueError, match="12 samples but 5 codes"):
            method(samples, good[:5])
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            method(samples, good[0])
    with pytest.raises(ValueError, match="one column for each of the 12 atoms, got shape"):
        coder.inverse_transform(good[:, :5])
    broken = np.full_like(good, np.nan)
    with pytest.raises(ValueError, match="codes must be finite"):
        coder.reconstruction_error(samples, broken)
    with pytest.raises(ValueError, match="codes must be finite"):
        coder.inverse_transform(sparse.csr_array(broken))
    assert np.all(np.isinf(coder.certify(samples, broken)))


def test_inverse_transform_is_refused_where_atoms_are_not_vectors(samples, rng):
    gram = samples @ samples.T
    for coder, X in (
        (kc.KernelSparseCoder(kernel="precomputed"), gram),
        (kc.KernelSparseCoder(kernel="log-euclidean"), covariances(rng, 12)),
        (kc.KernelSparseCoder(atoms=12, init="kernel-k-means"), samples),
    ):
        with pytest.raises(ValueError, match="inverse_transform needs atoms that are vectors"):
            coder.fit(X).inverse_transform(np.eye(12))
    with pytest.raises(NotFittedError):
        kc.KernelSparseCoder().inverse_transform(np.eye(12))
