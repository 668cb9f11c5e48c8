"""Data that are hard, not wrong: a documented answer, never NaN codes."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import kernelcoding as kc
from helpers.every_coder import CODERS, EVERY_CODER
from helpers.names import stable
from kernelcoding.kernels import Gaussian, Linear, Normalized, Sigmoid

BOTH_KERNELS = pytest.mark.parametrize("kernel", ["linear", "rbf"])


@pytest.fixture
def samples(rng):
    return rng.normal(size=(12, 3))


def transformed(coder, Q):
    """Codes; a warning says so where and only where most are zero and the samples are not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codes = coder.transform(Q)
    zero = abs(codes).sum(axis=1) == 0
    here = np.where(zero, coder.reconstruction_error(Q, codes), 1.0) > 0  # samples that are not 0
    silent = np.count_nonzero(zero & here) > 0.5 * np.count_nonzero(here)
    assert [w.category for w in caught] == [ConvergenceWarning] * int(silent)
    assert all("zero: " in str(w.message) for w in caught)
    return codes


def codes_of(coder, X, Q, allowed_warning=None):
    """Codes after checking what is promised of every code, whatever came in."""
    with warnings.catch_warnings():
        if allowed_warning:
            warnings.filterwarnings("ignore", message=allowed_warning)
        coder.fit(X, np.arange(len(X)) % 2)
    codes = transformed(coder, Q)
    errors = coder.reconstruction_error(Q, codes)
    codes = codes.toarray() if sparse.issparse(codes) else codes
    assert codes.shape == (len(Q), len(X) if coder.atoms is None else coder.dictionary_.n_atoms)
    assert np.isfinite(codes).all()
    assert np.isfinite(errors).all()
    assert errors.min() >= 0
    if not isinstance(coder, kc.KernelMatchingPursuit):
        formulation = coder.formulation()
        if not formulation.is_cone:  # codes that cannot be scaled sum to one
            assert_allclose(codes.sum(axis=1), 1.0, atol=1e-6)
        if formulation.nonnegative:
            assert codes.min() >= -1e-12
    return codes


@EVERY_CODER
@BOTH_KERNELS
def test_duplicate_atoms(coder, kernel, samples):
    X = np.vstack([samples, samples, samples[:3]])
    Q = samples + 0.1
    # A fixed width: the median distance changes with copies.
    coder = clone(coder).set_params(kernel="linear" if kernel == "linear" else Gaussian(gamma=0.3))
    codes_of(coder, X, Q)
    doubled = coder.reconstruction_error(Q).mean()
    single = clone(coder).fit(samples, np.arange(12) % 2).reconstruction_error(Q).mean()
    plain = isinstance(coder, kc.KernelSparseCoder) and coder.groups is coder.n_candidates is None
    if plain:
        assert doubled == pytest.approx(single, rel=1e-5)  # copies add nothing to explain with


@EVERY_CODER
@BOTH_KERNELS
def test_identical_samples(coder, kernel, samples):
    codes_of(clone(coder).set_params(kernel=kernel), np.ones((6, 3)), samples)


@EVERY_CODER
@BOTH_KERNELS
def test_a_query_equal_to_an_atom(coder, kernel, samples):
    codes_of(clone(coder).set_params(kernel=kernel), samples, samples)


@pytest.mark.parametrize(
    "name", ["hard", "local soft", "LLC", "LLC of two", "LLC without ridge", "omp", "ols"]
)
@BOTH_KERNELS
def test_an_atom_explains_itself(name, kernel, samples):
    coder = clone(CODERS[name]).set_params(kernel=kernel)
    codes = codes_of(coder, samples, samples)
    assert_allclose(codes, np.eye(len(samples)), atol=2e-3 if name == "LLC of two" else 1e-6)


@EVERY_CODER
@BOTH_KERNELS
def test_zero_vectors(coder, kernel, samples):
    coder = clone(coder).set_params(kernel=kernel)
    with_zeros = np.vstack([samples, np.zeros((2, 3))])
    codes_of(coder, samples, np.zeros((3, 3)))
    codes_of(coder, with_zeros, with_zeros)
    codes_of(coder, np.zeros((4, 3)), samples)


@EVERY_CODER
def test_zero_vectors_have_no_direction(coder, samples):
    coder = clone(coder).set_params(kernel=Normalized(Linear()))
    codes_of(coder, np.vstack([samples, np.zeros((1, 3))]), np.zeros((2, 3)))


@EVERY_CODER
@BOTH_KERNELS
def test_a_single_sample(coder, kernel, samples):
    coder = clone(coder).set_params(kernel=kernel)
    codes = codes_of(coder, samples[:1], samples, allowed_warning="n_neighbors=2 exceeds")
    if not coder.formulation().is_cone:
        assert_allclose(codes, 1.0)


@EVERY_CODER
def test_scales_far_from_one(coder, samples):
    for scale in (1e-6, 1e6):
        codes_of(clone(coder).set_params(kernel="rbf"), scale * samples, scale * samples[:4] + 1)
    codes_of(clone(coder).set_params(kernel="linear"), 1e3 * samples, 1e3 * samples[:4] + 1)


@EVERY_CODER
def test_a_query_far_from_everything(coder, samples):
    codes = codes_of(clone(coder).set_params(kernel="rbf"), samples, np.full((2, 3), 1e6))
    if isinstance(coder, (kc.KernelSparseCoder, kc.KernelMatchingPursuit)):
        assert_array_equal(codes, 0.0)  # it resembles no atom


@EVERY_CODER
def test_indefinite_kernels_warn_once_and_give_finite_codes(coder, rng):
    X, Q = rng.normal(size=(15, 3)), rng.normal(size=(8, 3))
    coder = clone(coder).set_params(kernel=Sigmoid(gamma=1.0, coef0=-1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coder.fit(X, np.arange(15) % 2)
    assert [w.category for w in caught] == [UserWarning]
    assert "indefinite" in str(caught[0].message)
    codes = coder.transform(Q)  # warnings are errors: transform is silent
    assert np.isfinite(codes.toarray() if sparse.issparse(codes) else codes).all()
    assert coder.reconstruction_error(Q, codes).min() >= 0
    if not isinstance(coder, kc.KernelMatchingPursuit):
        assert coder.certify(Q, codes).max() < 1e-5


@pytest.mark.parametrize(
    "coder", [kc.KernelLLC(n_neighbors=50), kc.KernelBagOfWords(n_neighbors=50)]
)
def test_more_neighbours_than_atoms_means_all(coder, samples):
    with pytest.warns(UserWarning, match=r"n_neighbors=50 exceeds the number of atoms \(12\)"):
        coder.fit(samples)
    codes = coder.transform(samples + 0.1)
    assert_array_equal(
        codes, clone(coder).set_params(n_neighbors=12).fit(samples).transform(samples + 0.1)
    )
    assert np.all(codes != 0)


@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1),
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1, positive=True),
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1, groups="y"),
        kc.KernelLCC(alpha=1e-5, max_iter=1),
        kc.KernelCoder(alpha=1e-5, max_iter=1),
    ],
    ids=stable,
)
def test_giving_up_is_reported_with_advice(coder, rng):
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(6, 3))
    coder.fit(X, np.arange(40) % 5)
    with pytest.warns(ConvergenceWarning, match=r"of 6 codes did not converge.*increase max_iter"):
        codes = coder.transform(Q)
    assert np.isfinite(codes).all()
    gaps = coder.certify(Q, codes)
    assert np.all(gaps > 1e-8)  # the judge agrees that they are not optimal
    better = clone(coder).set_params(max_iter=10_000).fit(X, np.arange(40) % 5)
    assert better.certify(Q, better.transform(Q)).max() < gaps.max()
