"""Errors, certificates and reconstructions in explicit feature spaces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import sparse_encode
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.kernels import (
    Gaussian,
    Polynomial,
)
from reference.features import quadratic_features, squared_errors

GAMMA = 1.5


ANY_CODER = {
    "sparse": kc.KernelSparseCoder(alpha=0.1),
    "sparse, CSR": kc.KernelSparseCoder(alpha=0.1, sparse_output=True),
    "soft": kc.KernelBagOfWords(sigma=0.2),
    "hard": kc.KernelBagOfWords(assignment="hard"),
    "LLC": kc.KernelLLC(n_neighbors=3),
    "exact LLC": kc.KernelLLC(n_neighbors=None),
    "LCC": kc.KernelLCC(alpha=0.1),
    "omp": kc.KernelMatchingPursuit(n_nonzero=2),
    "means": kc.KernelSparseCoder(alpha=0.1, atoms=6, init="kernel-k-means", random_state=1),
}


@pytest.mark.parametrize("coder", ANY_CODER.values(), ids=ANY_CODER.keys())
@pytest.mark.parametrize("quadratic", [False, True], ids=["linear", "quadratic"])
def test_reconstruction_error_is_the_distance_of_explicit_features(coder, quadratic, rng):
    X, Q = rng.normal(size=(18, 3)), rng.normal(size=(25, 3))
    kernel, lift = (Polynomial(degree=2), quadratic_features) if quadratic else ("linear", np.array)
    coder = clone(coder).set_params(kernel=kernel).fit(X)
    codes = coder.transform(Q)
    atoms = lift(X)
    if hasattr(coder.dictionary_, "weights"):
        atoms = coder.dictionary_.weights.T @ atoms
    expected = squared_errors(lift(Q), atoms, codes)
    assert_allclose(coder.reconstruction_error(Q, codes), expected, atol=1e-10)
    assert_allclose(coder.reconstruction_error(Q), expected, atol=1e-10)


def test_certificates_bound_the_distance_to_the_optimum(rng):
    atoms, Q = normalize(rng.normal(size=(8, 5))), rng.normal(size=(12, 5))
    alpha = 0.1
    coder = kc.KernelSparseCoder(kernel="linear", alpha=alpha).fit(atoms)
    # The optimum of another library, solved to the last digits; not one of our own.
    optimal = sparse_encode(Q, atoms, algorithm="lasso_lars", alpha=alpha)

    def objective(codes):
        return 0.5 * squared_errors(Q, atoms, codes) + alpha * np.abs(codes).sum(axis=1)

    for scale in (0.0, 1e-3, 0.1, 3.0):
        codes = optimal + scale * rng.normal(size=optimal.shape)
        gaps = coder.certify(Q, codes)
        excess = objective(codes) - objective(optimal)
        assert np.all(gaps >= excess - 1e-9)
        assert np.all(gaps <= 30 * max(scale, 1e-10))  # and says something


@pytest.mark.parametrize("coder", ANY_CODER.values(), ids=ANY_CODER.keys())
def test_certificates_tell_good_codes_from_bad_ones(coder, digits):
    X, Q = digits
    coder = clone(coder).set_params(kernel=Gaussian(gamma=GAMMA)).fit(X)
    codes = coder.transform(Q)
    gaps = coder.certify(Q, codes)
    if not isinstance(coder, kc.KernelMatchingPursuit):  # whose optimum nobody knows
        assert gaps.max() < 1e-6
    wrong = np.roll(codes.toarray() if coder.sparse_output else codes, 1, axis=1)
    assert np.all(coder.certify(Q, wrong) > gaps + 1e-4)


@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(positive=True),
        kc.KernelBagOfWords(),
        kc.KernelBagOfWords(assignment="hard"),
        kc.KernelLLC(),
        kc.KernelLLC(n_neighbors=None),
        kc.KernelLCC(),
        kc.KernelMatchingPursuit(),
        kc.KernelCoder(),
    ],
    ids=str,
)
def test_codes_outside_the_constraint_are_infinitely_far(coder, digits):
    X, Q = digits
    outside = np.full((len(Q), len(X)), -1.0)
    assert np.all(np.isinf(coder.fit(X).certify(Q, outside)))
    broken = coder.transform(Q)
    broken[0, 0] = np.nan
    assert coder.certify(Q, broken)[0] == np.inf


def test_inverse_transform_of_the_linear_kernel_is_the_reconstruction(rng):
    X, Q = rng.normal(size=(12, 4)), rng.normal(size=(7, 4))
    for sparse_output in (False, True):
        coder = kc.KernelSparseCoder(kernel="linear", alpha=0.1, sparse_output=sparse_output)
        codes = coder.fit(X).transform(Q)
        points = coder.inverse_transform(codes)
        assert_allclose(((Q - points) ** 2).sum(axis=1), coder.reconstruction_error(Q, codes))
        assert_allclose(points, codes @ X)


def test_inverse_transform_of_a_single_atom_is_the_atom(digits):
    X, _ = digits
    coder = kc.KernelBagOfWords(assignment="hard").fit(X)
    assert_array_equal(coder.inverse_transform(coder.transform(X)), X)


def test_columns_of_texts_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0, 4.0], "colour": ["red", "green", "red"]})
    with pytest.raises(
        ValueError, match=r"to float: 'red'\. Not numeric: 'colour'\. .*OneHotEncoder"
    ):
        kc.KernelSparseCoder().fit(frame)
    with pytest.raises(ValueError, match=r"to float: 'red'\. This kernel compares numbers"):
        kc.KernelSparseCoder().fit([["red"], ["green"]])


def test_columns_of_a_precomputed_kernel_are_training_samples():
    K = np.eye(6)
    coder = kc.KernelSparseCoder("precomputed").fit(K[:4, :4])
    with pytest.raises(ValueError, match=r"is expecting 4 features.*K\[np\.ix_\(test, train\)\]"):
        coder.transform(K[4:, 4:])


def test_signals_are_told_to_become_covariances():
    with pytest.raises(ValueError, match=r"got shape \(5, 3, 20\); make covariances of signals"):
        kc.KernelSparseCoder("log-euclidean").fit(np.ones((5, 3, 20)))
