"""Dictionaries too large for their Gram matrix answer for parts of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding.constraints import OneAtom
from kernelcoding.dictionary import PointDictionary, point_gram
from kernelcoding.kernels import ChiSquared, Gaussian, Kernel, Linear, LogEuclideanGaussian
from kernelcoding.priors import LocalCoordinate

CODERS = {
    "approximate LLC": kc.KernelLLC(n_neighbors=4),
    "many neighbours": kc.KernelLLC(n_neighbors=200, regularization=0.1),
    "soft words": kc.KernelBagOfWords(),
    "local words": kc.KernelBagOfWords(n_neighbors=3),
    "hard words": kc.KernelBagOfWords(assignment="hard"),
    "one atom under a prior": kc.KernelCoder(
        prior=LocalCoordinate(), constraint=OneAtom(), alpha=0.3
    ),
    "candidates": kc.KernelSparseCoder(alpha=0.01, n_candidates=12),
    "non-negative candidates": kc.KernelSparseCoder(alpha=0.01, positive=True, n_candidates=12),
}
KERNELS = {
    "gaussian": (Gaussian(0.5), (60, 3)),
    "linear": (Linear(), (60, 3)),
    "chi-squared": (ChiSquared(1.0), (60, 3)),
    "sum": (Gaussian(0.5) + Linear(), (60, 3)),
    "matrices": (LogEuclideanGaussian(0.5), (60, 3, 3)),
}


def stack(shape, seed):
    draws = np.random.default_rng(seed).random(shape)
    return draws if len(shape) == 2 else draws @ draws.transpose(0, 2, 1) + np.eye(shape[1])


@pytest.fixture
def large(monkeypatch):
    """Any dictionary is too large for its Gram matrix, which nobody may ask for."""

    def forbidden(self):
        raise AssertionError("the whole Gram matrix was asked for")

    def lift():
        monkeypatch.setattr(point_gram, "SMALL", 0)
        monkeypatch.setattr(point_gram.PointGram, "gram", property(forbidden))

    return lift


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("coder", CODERS)
@pytest.mark.filterwarnings("ignore:n_neighbors=200 exceeds")
def test_parts_give_what_the_whole_gives(coder, kernel, dtype, large):
    kernel, shape = KERNELS[kernel]
    X, Q = stack(shape, 0).astype(dtype), stack((7, *shape[1:]), 1).astype(dtype)
    whole = clone(CODERS[coder]).set_params(kernel=kernel, sparse_output=True).fit(X)
    codes = whole.transform(Q)
    expected = whole.reconstruction_error(Q, codes), whole.certify(Q, codes)
    large()
    parts = clone(CODERS[coder]).set_params(kernel=kernel, sparse_output=True).fit(X)
    found = parts.transform(Q)
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    assert found.dtype == codes.dtype
    assert_allclose(found.toarray(), codes.toarray(), rtol=tolerance, atol=tolerance)
    assert_allclose(parts.reconstruction_error(Q, codes), expected[0], rtol=1e-5, atol=1e-5)
    assert_allclose(parts.certify(Q, codes), expected[1], rtol=1e-3, atol=1e-6)


def test_certificates_of_codes_of_any_origin_need_no_whole_matrix(large, rng):
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    whole = kc.KernelSparseCoder(Gaussian(0.5), alpha=0.05).fit(X)
    codes = whole.transform(Q)
    expected = whole.certify(Q, codes)
    worse = whole.certify(Q, 0.9 * codes)
    dictionary = PointDictionary(Gaussian(0.5), X)
    large()
    parts = kc.KernelSparseCoder(Gaussian(0.5), atoms=dictionary, alpha=0.05).fit(X)
    assert_allclose(parts.certify(Q, codes), expected, atol=1e-10)
    assert_allclose(parts.certify(Q, sparse.csr_array(0.9 * codes)), worse, rtol=1e-9)


def test_a_matrix_beyond_the_budget_is_refused_with_advice(rng):
    X = rng.normal(size=(300, 2))
    advice = r"Gram matrix of 300 atoms needs about .* more than the budget of 0\.0001 GB .*LLC"
    with kc.memory_budget(1e-4), pytest.raises(MemoryError, match=advice):
        kc.KernelLLC(Gaussian(), n_neighbors=None).fit(X)
    with pytest.raises(ValueError, match="positive number, got 0"), kc.memory_budget(0):
        pass
    kc.KernelLLC(Gaussian(), n_neighbors=None).fit(X)


def test_fit_computes_no_matrix_that_coding_does_not_need(monkeypatch, rng):
    monkeypatch.setattr(point_gram, "SMALL", 0)
    asked = []
    between = Kernel.between
    monkeypatch.setattr(
        Kernel, "between", lambda self, P, Q: asked.append(1) or between(self, P, Q)
    )
    X = rng.normal(size=(30, 2))
    kc.KernelLLC(Gaussian(), n_neighbors=3).fit(X)
    kc.KernelBagOfWords(Gaussian()).fit(X)
    assert not asked
    kc.KernelSparseCoder(Gaussian()).fit(X)
    assert asked


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("learned", [False, True], ids=["points", "combinations"])
def test_a_dictionary_answers_for_parts(rng, large, learned, is_large):
    """Inner products, norms and neighbours; of points without the whole matrix."""
    X, coder = rng.normal(size=(30, 3)), kc.KernelSparseCoder("poly", alpha=0.1)
    model = kc.KernelDictionaryLearning(coder, 7, max_iter=2) if learned else coder
    dictionary = model.fit(X).dictionary_
    expected, cross = dictionary.gram.copy(), dictionary.cross(X[:4])
    vars(dictionary).pop("facts", None)  # computed anew
    if is_large:
        large()
    rows, columns = np.array([5, 0, 3]), np.arange(dictionary.n_atoms) % 2 == 0
    assert_allclose(dictionary.block(rows, columns), expected[rows][:, columns], rtol=1e-10)
    assert_allclose(dictionary.block([1, 1]), expected[[1, 1]], rtol=1e-10)
    assert_allclose(dictionary.block(slice(2, 4), [6]), expected[2:4, [6]], rtol=1e-10)
    assert_allclose(dictionary.norms, np.sqrt(np.diag(expected)), rtol=1e-10)
    found = dictionary.nearest(X[:4], 2).indices
    order = np.argsort(np.diag(expected) - 2.0 * cross, axis=1)
    assert_array_equal(np.sort(found), np.sort(order[:, :2]))


def test_products_with_no_atoms_at_all(monkeypatch):
    """A class without atoms, in the residual rule."""
    monkeypatch.setattr(point_gram, "SMALL", 0)
    with kc.memory_budget(1e-9):
        facts = PointDictionary(Gaussian(0.5), stack((30, 3), 0)).facts
        found = facts.times(np.empty((0, 4)), np.empty(0, np.intp))
    assert found.shape == (0, 4)
