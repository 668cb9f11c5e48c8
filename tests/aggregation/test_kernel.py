"""Kernel VLAD and kernel Fisher vectors against explicit feature maps and slow sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from kernelcoding.aggregation import (
    VLAD,
    FisherVector,
    KernelFisherVector,
    KernelVLAD,
    residual_gram,
)
from kernelcoding.kernels import Gaussian, LogEuclideanGaussian, Polynomial, Sigmoid


@pytest.fixture
def sets(rng):
    centres = 2 * rng.normal(size=(4, 5))
    return [centres[rng.integers(4, size=n)] + rng.normal(size=(n, 5)) for n in (40, 25, 1, 30)]


@pytest.fixture
def queries(rng):
    return [rng.normal(size=(n, 5)) for n in (20, 33)]


def spherical(**parameters):
    return KernelFisherVector(covariance="spherical", power=1.0, **parameters)


def quadratic(X):
    """Feature map of (x'z + 1)^2."""
    rows, columns = np.triu_indices(X.shape[1], 1)
    return np.hstack(
        [np.ones((len(X), 1)), np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, rows] * X[:, columns]]
    )


def features_of(words):
    """Words of H in the feature space of the quadratic kernel."""
    return words.weights.T @ quadratic(words.landmarks.points)


def unit(parts):
    norms = np.linalg.norm(parts, axis=-1, keepdims=True)
    return parts / np.where(norms > 0, norms, 1.0)


def slow_vlad(sets, words, intra, norm):
    vectors = []
    for X in map(quadratic, sets):
        nearest = ((X[:, None] - words) ** 2).sum(axis=2).argmin(axis=1)
        parts = np.array([(X[nearest == j] - w).sum(axis=0) for j, w in enumerate(words)])
        vectors.append((unit(parts) if intra else parts).ravel())
    return unit(np.array(vectors)) if norm else np.array(vectors)


@pytest.mark.parametrize("intra", [False, True])
@pytest.mark.parametrize("norm", [None, "l2"])
def test_kernel_vlad_gram_is_that_of_features(sets, queries, intra, norm, monkeypatch):
    monkeypatch.setattr(residual_gram, "ROWS", 33)  # blocks cut through the sets
    vlad = KernelVLAD(
        Polynomial(degree=2), 4, n_landmarks=12, intra_normalize=intra, norm=norm, random_state=0
    ).fit(sets)
    words = features_of(vlad.dictionary_)
    left, right = (slow_vlad(part, words, intra, norm) for part in (sets, queries))
    scale = np.abs(left @ left.T).max()
    assert_allclose(vlad.gram(sets), left @ left.T, atol=1e-9 * scale)
    assert_allclose(vlad.gram(sets, queries), left @ right.T, atol=1e-9 * scale)
    assert_array_equal(vlad.gram(sets), vlad.gram(sets).T)


def slow_spherical(sets, weights, means, variance, norm):
    vectors = []
    for X in map(quadratic, sets):
        away = X[:, None] - means
        gamma = softmax(np.log(weights) - 0.5 * (away**2).sum(axis=2) / variance, axis=1)
        parts = np.einsum("ij,ijk->jk", gamma, away) / np.sqrt(weights * variance)[:, None]
        vectors.append(parts.ravel() / len(X))
    return unit(np.array(vectors)) if norm else np.array(vectors)


@pytest.mark.parametrize("norm", [None, "l2"])
def test_spherical_gram_is_that_of_features(sets, queries, norm, monkeypatch):
    monkeypatch.setattr(residual_gram, "ROWS", 33)
    fisher = spherical(
        kernel=Polynomial(degree=2), n_components=3, n_landmarks=12, norm=norm, random_state=0
    ).fit(sets)
    model = fisher.model_
    means = features_of(model.dictionary)
    mixture = model.mixture
    left, right = (
        slow_spherical(part, mixture.weights, means, mixture.variance, norm)
        for part in (sets, queries)
    )
    scale = np.abs(left @ left.T).max()
    assert_allclose(fisher.gram(sets), left @ left.T, atol=1e-9 * scale)
    assert_allclose(fisher.gram(sets, queries), left @ right.T, atol=1e-9 * scale)


@pytest.mark.parametrize("norm", [None, "l2"])
@pytest.mark.parametrize("intra", [False, True])
def test_kernel_vlad_with_the_linear_kernel_is_vlad(sets, queries, intra, norm):
    vlad = VLAD(4, intra_normalize=intra, power=1, norm=norm, random_state=0).fit(sets)
    kernel_vlad = KernelVLAD(
        "linear", 4, n_landmarks=None, intra_normalize=intra, norm=norm, random_state=0
    ).fit(sets)
    expected = vlad.transform(queries) @ vlad.transform(sets).T
    vectors = kernel_vlad.transform(queries) @ kernel_vlad.transform(sets).T
    assert_allclose(vectors, expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(kernel_vlad.gram(queries, sets), expected, atol=1e-9 * np.abs(expected).max())


def test_kernel_fisher_with_the_linear_kernel_is_fisher_after_pca(sets, queries):
    for n_axes, power in ((5, 1.0), (3, 0.5)):
        linear = FisherVector(3, n_pca=n_axes, power=power, random_state=0).fit(sets)
        fisher = KernelFisherVector(
            "linear", 3, n_axes=n_axes, n_landmarks=None, power=power, random_state=0
        ).fit(sets)
        expected = linear.transform(queries) @ linear.transform(sets).T
        assert_allclose(fisher.gram(queries, sets), expected, atol=1e-5)
        assert_allclose(fisher.transform(queries) @ fisher.transform(sets).T, expected, atol=1e-5)


def test_spherical_with_the_linear_kernel_is_the_formula_in_input_space(sets):
    fisher = spherical(kernel="linear", n_components=3, n_landmarks=None, norm=None, random_state=0)
    fisher.fit(sets)
    dictionary, mixture = fisher.model_.dictionary, fisher.model_.mixture
    means = dictionary.weights.T @ dictionary.landmarks.points
    expected = []
    for X in sets:
        away = X[:, None] - means
        scores = np.log(mixture.weights) - 0.5 * (away**2).sum(axis=2) / mixture.variance
        gradient = np.einsum("ij,ijk->jk", softmax(scores, axis=1), away) / len(X)
        expected.append(gradient / np.sqrt(mixture.weights * mixture.variance)[:, None])
    expected = np.reshape(expected, (4, -1))
    vectors = fisher.transform(sets)
    assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-9)
    assert_allclose(fisher.gram(sets), expected @ expected.T, atol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: KernelVLAD(Gaussian(0.01), 4, n_landmarks=n, norm=None,
                             intra_normalize=False, random_state=0),
        lambda n: spherical(kernel=Gaussian(0.01), n_components=3, n_landmarks=n, norm=None,
                            random_state=0),
    ],
    ids=["VLAD", "spherical"],
)  # fmt: skip
def test_vectors_converge_to_the_exact_gram(make, sets):
    errors = []
    for n_landmarks in (4, 12, 36, None):
        aggregator = make(n_landmarks).fit(sets)
        vectors, exact = aggregator.transform(sets), aggregator.gram(sets)
        missed = exact - vectors @ vectors.T
        # What vectors miss is the Gram matrix of the parts outside of the landmarks' span.
        assert np.linalg.eigvalsh(missed)[0] > -1e-9 * np.trace(exact)
        errors.append(np.trace(missed) / np.trace(exact))
    assert errors[0] > 0.1
    assert errors[0] > 1.5 * errors[1] > 1.5**2 * errors[2]
    assert abs(errors[3]) < 1e-6


def test_words_are_kernel_k_means(sets):
    vlad = KernelVLAD(Gaussian(0.1), 3, n_landmarks=None, random_state=0).fit(sets)
    X = np.concatenate(sets)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    weights, landmarks = vlad.dictionary_.weights, vlad.dictionary_.landmarks.points
    cross = np.exp(-0.1 * ((X[:, None] - landmarks) ** 2).sum(axis=2)) @ weights
    labels = (np.diag(vlad.dictionary_.gram) - 2 * cross).argmin(axis=1)
    assert len(np.unique(labels)) == 3
    for j in range(3):  # the inner products of a mean are the means of the inner products
        assert_allclose(cross[:, j], K[:, labels == j].mean(axis=1), atol=1e-6)


def test_axes_are_kernel_principal_components(sets):
    fisher = KernelFisherVector(Gaussian(0.1), 2, n_axes=4, n_landmarks=None, random_state=0).fit(
        sets
    )
    X = np.concatenate(sets)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values = np.linalg.eigvalsh(centred)[::-1][:4]
    scores = fisher.model_.axes.transform(fisher.coordinates_(X))
    assert_allclose(scores.T @ scores, np.diag(values), atol=1e-6)
    assert_allclose(scores.mean(axis=0), 0, atol=1e-10)


def test_sets_of_matrices(rng):
    roots = [rng.normal(size=(n, 3, 3)) for n in (12, 9, 15)]
    sets = [np.einsum("nij,nkj->nik", r, r) + 0.1 * np.eye(3) for r in roots]
    kernel = LogEuclideanGaussian(gamma=0.2)
    for aggregator in (
        KernelVLAD(kernel, 3, n_landmarks=None, random_state=0),
        spherical(kernel=kernel, n_components=2, n_landmarks=None, random_state=0),
    ):
        vectors = aggregator.fit_transform(sets)
        assert_allclose(vectors @ vectors.T, aggregator.gram(sets), atol=1e-6)
        with pytest.raises(ValueError, match=r"set 0 must have shape \(n_i, p, p\), got \(4, 3\)"):
            aggregator.fit([np.ones((4, 3))])


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", "intersection", "cosine", np.inner])
def test_other_kernels(kernel, sets):
    positive = [np.abs(one) for one in sets]
    vlad = KernelVLAD(kernel, 3, n_landmarks=None, random_state=0)
    vectors = vlad.fit_transform(positive)
    assert_allclose(vectors @ vectors.T, vlad.gram(positive), atol=1e-5)


def test_gram_refuses_what_depends_on_coordinates(sets):
    with pytest.raises(ValueError, match=r"use power=1 and norm="):
        KernelVLAD(n_words=2, power=0.5).fit(sets).gram(sets)
    with pytest.raises(ValueError, match=r"Got power=1.0 and norm='l1'"):
        spherical(n_components=2, norm="l1").fit(sets).gram(sets)
    with pytest.warns(UserWarning, match="indefinite"):
        vlad = KernelVLAD(Sigmoid(gamma=0.5), 2, n_landmarks=20, random_state=0).fit(sets)
    with pytest.raises(ValueError, match="gram needs a positive definite kernel"):
        vlad.gram(sets)


@pytest.mark.filterwarnings("ignore:.*descriptor sets are empty")
def test_gram_of_empty_sets_is_zero(sets):
    vlad = KernelVLAD(n_words=2, random_state=0).fit(sets)
    gram = vlad.gram([sets[0], [], sets[1]])
    assert_array_equal(gram[1], 0.0)
    assert_allclose(gram[np.ix_([0, 2], [0, 2])], vlad.gram(sets[:2]), atol=1e-12)
    assert_array_equal(vlad.gram([[]], sets), np.zeros((1, 4)))
    fisher = spherical(n_components=2, random_state=0).fit(sets)
    assert_array_equal(fisher.gram(sets, [[]]), np.zeros((4, 1)))


def test_given_landmarks(sets, rng):
    landmarks = rng.normal(size=(9, 5))
    vlad = KernelVLAD(n_words=2, landmarks=landmarks, random_state=0).fit(sets)
    assert_array_equal(vlad.dictionary_.landmarks.points, landmarks)
