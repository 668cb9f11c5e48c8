"""Kernels whose samples are rows of a matrix, a user's function, or some columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding import KernelSparseCoder
from kernelcoding.kernels import (
    CallableKernel,
    Gaussian,
    Linear,
    MultipleKernel,
    Normalized,
    Precomputed,
    View,
    take,
)


@pytest.fixture
def data(rng):
    return rng.normal(size=(6, 3)), rng.normal(size=(4, 3))


# -- precomputed ------------------------------------------------------------------------------


def test_matrix_is_the_kernel(data):
    X, Q = data
    K, C = Gaussian(0.3)(X), Gaussian(0.3)(Q, X)
    kernel = Precomputed()
    assert_array_equal(kernel(K), K)
    assert_array_equal(kernel(C, X), C)
    assert_array_equal(kernel(C), C)
    assert_array_equal(kernel.diagonal(2 * K), np.full(6, 2.0))
    with pytest.raises(ValueError, match=r"got X of shape \(4, 6\) and 5 samples in Z"):
        kernel(C, X[:5])


def test_prepared_rows_find_their_columns(data):
    X, Q = data
    K, C = Linear()(X), Linear()(Q, X)
    kernel, index = Precomputed(), np.array([4, 0, 3])
    atoms = kernel.prepare(K[index], index)
    assert_allclose(kernel.between(kernel.prepare(C), atoms), Linear()(Q, X[index]))
    assert_allclose(kernel.between(atoms, atoms), Linear()(X[index]))
    assert_allclose(kernel.diagonal_of(atoms), Linear().diagonal(X[index]))
    assert_allclose(kernel.diagonal_of(take(atoms, [2])), Linear().diagonal(X[[3]]))
    assert np.isnan(kernel.diagonal_of(kernel.prepare(C))).all()
    assert_array_equal(Precomputed(3.0).diagonal_of(kernel.prepare(C)), np.full(4, 3.0))
    assert_array_equal(Precomputed(3.0).diagonal(C), np.full(4, 3.0))


def test_values_are_no_view_of_the_matrix(data):
    K = Linear()(data[0])
    before = K.copy()
    (2.0 * Precomputed())(K)
    (Precomputed() + Precomputed())(K)
    coder = KernelSparseCoder("precomputed").fit(K)
    coder.dictionary_.cross(K[:3])[...] = 0.0
    coder.transform(K[:3])[...] = 0.0
    assert_array_equal(K, before)


def test_composites_of_matrices(data):
    X, Q = data
    K, C = Linear()(X), Linear()(Q, X)
    assert_allclose((0.5 * Precomputed())(K), 0.5 * K)
    assert_allclose((0.5 * Precomputed())(C, X @ X.T), 0.5 * C)
    assert_allclose(Normalized(Precomputed())(K), Normalized(Linear())(X))
    both = np.hstack([K, Gaussian()(X)])
    kernel = MultipleKernel([View(slice(0, 6), Precomputed()), View(slice(6, 12), Precomputed())])
    assert_allclose(kernel(both), (K + Gaussian()(X)) / 2)
    assert_allclose(kernel.diagonal(both), np.diag(K + Gaussian()(X)) / 2)
    assert kernel.resolve(both).kernels[1].kernel.self_similarity == 1.0


def test_resolve_finds_a_constant_diagonal(data):
    X, _ = data
    assert Precomputed().resolve(2 * Gaussian()(X)).self_similarity == 2.0
    assert Precomputed().resolve(Linear()(X)).self_similarity is None
    assert Precomputed(7.0).resolve(Gaussian()(X)).self_similarity == 7.0


def test_precomputed_refuses(data):
    X, Q = data
    K, C = Linear()(X), Linear()(Q, X)
    kernel = Precomputed()
    with pytest.raises(ValueError, match=r"square training matrix \(n, n\), got shape \(4, 6\)"):
        kernel.resolve(C)
    with pytest.raises(ValueError, match=r"symmetric training matrix, got one of shape \(6, 6\)"):
        kernel.resolve(np.triu(K))
    with pytest.raises(ValueError, match=r"pass index= to prepare"):
        kernel.between(kernel.prepare(C), kernel.prepare(K))
    with pytest.raises(ValueError, match="one training index per row"):
        kernel.prepare(K, np.arange(3))
    with pytest.raises(ValueError, match=r"got shape \(4, 3\) where training sample 5"):
        kernel.between(kernel.prepare(C[:, :3]), kernel.prepare(K, np.arange(6)))
    with pytest.raises(ValueError, match=r"set Precomputed\(self_similarity"):
        Normalized(kernel)(C, K)


CODER = KernelSparseCoder("precomputed")


@pytest.mark.parametrize("landmarks", ["rows", "places"])
@pytest.mark.parametrize(
    "estimator",
    [
        kc.KernelDictionaryLearning(CODER, n_atoms=3),
        kc.KernelDictionaryLearning(CODER, n_atoms=3, per_class=True),
        kc.SupervisedKernelCoding(CODER, n_atoms=3),
        kc.KernelDictionaryPairLearning("precomputed", n_atoms=3),
        kc.LandmarkMap("precomputed"),
    ],
    ids=["learning", "class-wise", "supervised", "pairs", "map"],
)
def test_landmarks_of_a_given_matrix_are_chosen_by_name(estimator, landmarks, data):
    K = data[0] @ data[0].T
    given = K[:4] if landmarks == "rows" else np.arange(4)
    model = clone(estimator).set_params(landmarks=given)
    with pytest.raises(ValueError, match=r"landmarks cannot be points .* by n_landmarks"):
        model.fit(K, [0, 1] * 3)
    model.set_params(landmarks="greedy", n_landmarks=4).fit(K, [0, 1] * 3)


# -- callables --------------------------------------------------------------------------------


def test_callable_diagonal_never_asks_for_the_matrix(rng):
    shapes = []

    def product(X, Z):
        shapes.append((len(X), len(Z)))
        return X @ Z.T

    X = rng.normal(size=(100, 2))
    assert_allclose(CallableKernel(product).diagonal(X), (X**2).sum(axis=1))
    assert shapes == [(32, 32), (32, 32), (32, 32), (4, 4)]


def test_a_function_of_pairs_that_fails_is_told_what_it_is_called_with(rng):
    def of_a_pair(x, z):
        return float(x @ z)

    with pytest.raises(ValueError) as caught:
        KernelSparseCoder(of_a_pair).fit(rng.normal(size=(9, 3)))
    (note,) = caught.value.__notes__
    assert "stacks of 9 and 9 samples" in note
    assert "not that of a single pair" in note


def test_callable_that_returns_a_wrong_shape():
    with pytest.raises(ValueError, match=r"return shape \(3, 2\).*got \(3,\).*whole stacks"):
        CallableKernel(lambda X, Z: X[:, 0])(np.ones((3, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="expected finite values"):
        CallableKernel(lambda X, Z: np.full((len(X), len(Z)), np.nan))(np.ones((3, 1)))


def test_what_a_callable_keeps_is_safe():
    kept = np.ones((3, 3))
    kernel = 5.0 * CallableKernel(lambda X, Z: kept)
    assert_array_equal(kernel(np.ones((3, 1))), 5 * kept)
    assert_array_equal(kept, np.ones((3, 3)))


def test_callable_of_words():
    words = np.array(["ab", "b", "abc"])
    kernel = CallableKernel(lambda X, Z: np.array([[len({*x} & {*z}) for z in Z] for x in X]))
    assert_array_equal(kernel(words), [[2, 1, 2], [1, 1, 1], [2, 1, 3]])


# -- views ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns", [slice(1, None), [1, 2], np.array([1, 2]), (-2, -1), [False, True, True]]
)
def test_ways_to_choose_columns(columns, data):
    X, Q = data
    assert_allclose(View(columns, Gaussian())(X, Q), Gaussian()(X[:, 1:], Q[:, 1:]))


def test_view_resolves_on_its_columns(data):
    X, _ = data
    view = View([2], Gaussian("median")).resolve(X)
    assert_allclose(view.kernel.gamma, Gaussian("median").resolve(X[:, [2]]).gamma)


def test_names_of_columns(data):
    X, Q = data
    view = View(["c", "a"], Gaussian()) + Linear()
    truth = Gaussian()(X[:, [2, 0]], Q[:, [2, 0]]) + X @ Q.T
    assert not view.is_resolved
    with pytest.raises(ValueError, match="are names and are not resolved"):
        view(X)
    resolved = view.resolve(X, feature_names=["a", "b", "c"])
    assert resolved.is_resolved
    assert resolved.kernels[0].columns == [2, 0]
    assert_allclose(resolved(X, Q), truth)
    with pytest.raises(ValueError, match=r"columns \['c'\] are not among \['a', 'b'\]"):
        view.resolve(X[:, :2], feature_names=["a", "b"])


def test_data_frames(data):
    pandas = pytest.importorskip("pandas")
    X, Q = data
    frame, queries = (pandas.DataFrame(part, columns=list("abc")) for part in data)
    view = View(["c", "a"], Gaussian()) + Linear()
    truth = Gaussian()(X[:, [2, 0]], Q[:, [2, 0]]) + X @ Q.T
    assert_allclose(view(frame, queries), truth)
    assert_allclose(view.resolve(frame)(X, Q), truth)
    assert_allclose(clone(view).diagonal(frame), 1 + (X**2).sum(axis=1))


def test_bad_data_outside_the_view_does_not_matter(data):
    X = data[0].copy()
    truth = View([0, 1], Gaussian())(X)
    X[:, 2] = np.nan
    assert_array_equal(View([0, 1], Gaussian())(X), truth)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([3], r"columns \[3\] do not fit 3 columns"),
        ([-4], r"columns \[-4\] do not fit 3 columns"),
        ([True, False], r"mask of shape \(2,\) does not fit 3 columns"),
        ([0.5], "columns must be a slice, a list of integers"),
        ([[0]], "columns must be a slice, a list of integers"),
        ([0, "a"], "columns must be a slice, a list of integers"),
    ],
)
def test_bad_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        View(columns, Linear())(np.ones((2, 3)))
