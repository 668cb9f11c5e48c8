"""VLAD and Fisher vectors against loops, finite differences and scikit-image."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from kernelcoding.aggregation import VLAD, FisherVector, KernelFisherVector, KernelVLAD, base
from kernelcoding.aggregation.mixtures import MixtureSettings, SharedMixture


@pytest.fixture
def sets(rng):
    centres = 3 * rng.normal(size=(4, 6))
    return [centres[rng.integers(4, size=n)] + rng.normal(size=(n, 6)) for n in (150, 70, 1, 90)]


def slow_vlad(sets, words, intra, power, norm):
    vectors = []
    for descriptors in sets:
        parts = np.zeros_like(words)
        for x in descriptors:
            nearest = min(range(len(words)), key=lambda j: np.sum((x - words[j]) ** 2))
            parts[nearest] += x - words[nearest]
        if intra:
            parts = np.array([p / np.linalg.norm(p) if p.any() else p for p in parts])
        vector = np.sign(parts.ravel()) * np.abs(parts.ravel()) ** power
        vectors.append(vector / np.linalg.norm(vector) if norm else vector)
    return np.array(vectors)


@pytest.mark.parametrize("intra", [False, True])
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("norm", [None, "l2"])
def test_vlad_sums_residuals(sets, intra, power, norm, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_SIZE", 1)  # blocks cut through the sets
    vlad = VLAD(5, intra_normalize=intra, power=power, norm=norm, random_state=0)
    vectors = vlad.fit_transform(sets)
    assert_allclose(vectors, slow_vlad(sets, vlad.words_, intra, power, norm), atol=1e-12)


def test_words_are_means_of_their_descriptors(sets):
    vlad = VLAD(4, intra_normalize=False, power=1, norm=None, random_state=0).fit(sets)
    everyone = vlad.transform([np.concatenate(sets)])
    assert_allclose(everyone, 0.0, atol=1e-10)  # residuals from means cancel


@pytest.mark.parametrize("intra", [False, True])
def test_a_residual_of_rounding_is_not_normalised(intra, rng):
    points = rng.normal(size=(3, 4))
    vlad = VLAD(3, intra_normalize=intra, random_state=0).fit([points, points])
    assert_allclose(vlad.transform([points]), 0.0)  # each word is a descriptor


@pytest.mark.parametrize("n_copies", [10, 1000, 30_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_copies_of_a_word_are_no_residual(n_copies, dtype, rng):
    """Rounding of sums grows with their terms: flat pictures are sets of equal descriptors."""
    words = 3 * rng.random((8, 6)).astype(dtype)
    copies = [np.repeat(words[:1], n_copies, axis=0)]
    assert_allclose(VLAD(8, n_samples=None).fit([words]).transform(copies), 0.0)
    kernel = KernelVLAD(n_words=8, n_landmarks=None).fit([words])
    assert_allclose(kernel.transform(copies), 0.0)
    if n_copies <= 1000:
        assert_allclose(kernel.gram(copies), 0.0)


@pytest.mark.parametrize("make", [VLAD, FisherVector])
def test_pca_is_that_of_the_descriptors(make, sets):
    everyone = np.concatenate(sets)
    centred = everyone - everyone.mean(axis=0)
    axes = np.linalg.svd(centred)[2][:3]
    plain = make(3, random_state=0)
    reduced = make(3, n_pca=3, random_state=0).fit(sets)
    by_hand = [(one - everyone.mean(axis=0)) @ axes.T for one in sets]
    vectors, expected = reduced.transform(sets), plain.fit_transform(by_hand)
    assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-8)  # signs are free


def log_likelihood(points, logits, means, deviations):
    """Mean over points; weights are the softmax of the logits."""
    weights = np.exp(logits) / np.exp(logits).sum()
    away = (points[:, None] - means) / deviations
    logs = -0.5 * (away**2).sum(axis=2) - np.log(deviations).sum(axis=1)
    return logsumexp(logs + np.log(weights), axis=1).mean()


def test_fisher_vectors_are_gradients_of_the_likelihood(sets):
    fisher = FisherVector(
        3, ("weights", "means", "variances"), power=1, norm=None, random_state=0
    ).fit(sets)
    mixture = fisher.mixture_
    parameters = [np.log(mixture.weights), mixture.means, np.sqrt(mixture.variances)]
    deviations = np.sqrt(mixture.variances)
    root_information = [
        np.sqrt(mixture.weights),
        np.sqrt(mixture.weights)[:, None] / deviations,
        np.sqrt(2 * mixture.weights)[:, None] / deviations,
    ]
    step = 1e-5
    for points, vector in zip(sets, fisher.transform(sets), strict=True):
        expected = []
        for number, scale in enumerate(root_information):
            slopes = np.empty_like(scale)
            for entry in np.ndindex(scale.shape):
                values = []
                for sign in (1, -1):
                    moved = [part.copy() for part in parameters]
                    moved[number][entry] += sign * step
                    values.append(log_likelihood(points, *moved))
                slopes[entry] = (values[0] - values[1]) / (2 * step)
            expected.append((slopes / scale).ravel())
        assert_allclose(vector, np.concatenate(expected), atol=1e-6)


def test_fisher_vectors_equal_those_of_scikit_image(sets, monkeypatch):
    feature = pytest.importorskip("skimage.feature")
    monkeypatch.setattr(base, "BLOCK_SIZE", 1)
    names = ("weights", "means", "variances")
    fisher = FisherVector(4, names, power=1, norm=None, random_state=0).fit(sets)
    gmm = GaussianMixture(4, covariance_type="diag", random_state=0).fit(np.concatenate(sets))
    for name in ("weights", "means"):
        assert_allclose(getattr(fisher.mixture_, name), getattr(gmm, f"{name}_"), rtol=1e-7)
    sign = np.repeat([1.0, -1.0], [4 + 4 * 6, 4 * 6])  # theirs is minus the variance gradient
    expected = np.array([feature.fisher_vector(one, gmm) for one in sets])
    assert_allclose(fisher.transform(sets), sign * expected, atol=1e-8)
    improved = np.array([feature.fisher_vector(one, gmm, improved=True) for one in sets])
    fisher.set_params(power=0.5, norm="l2")
    assert_allclose(fisher.transform(sets), sign * improved, atol=1e-4)  # roots of small numbers


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_unions_of_sets_are_their_descriptors_together(sets, power):
    fisher = FisherVector(3, power=power, random_state=0).fit(sets)
    unions = [[0], [3, 1], [0, 3], [1]]  # all together are where the gradient is zero
    together = [np.concatenate([sets[one] for one in union]) for union in unions]
    found = fisher.transform_unions(sets, [*unions, []])
    assert_allclose(found[:-1], fisher.transform(together), atol=1e-12)
    assert_allclose(found[-1], 0.0)
    assert fisher.transform_unions(sets, []).shape == (0, found.shape[1])
    for wrong in ([[0], [4]], [[-1]]):
        with pytest.raises(ValueError, match="numbers of sets from 0 to 3"):
            fisher.transform_unions(sets, wrong)


def test_the_training_sample_is_at_a_stationary_point(sets):
    fisher = FisherVector(
        2, ("weights", "means", "variances"), power=1, norm=None, reg_covar=1e-12,
        max_iter=1000, random_state=0,
    ).fit(sets)  # fmt: skip
    everyone = fisher.transform([np.concatenate(sets)])
    assert np.abs(everyone).max() < 0.02  # EM stopped by its tolerance
    assert np.abs(fisher.transform(sets)).max() > 0.5


@pytest.mark.parametrize("aggregator", [VLAD(4, random_state=0), FisherVector(4, random_state=0)])
def test_float32_agrees_with_float64(aggregator, sets):
    rough = [one.astype(np.float32) for one in sets]
    aggregator.fit(sets)
    assert aggregator.transform(rough).dtype == np.float32
    vectors = aggregator.set_params(power=1).transform(sets)
    assert_allclose(aggregator.transform(rough), vectors, atol=1e-5)


def test_shared_mixture_satisfies_its_own_equations(sets):
    points = np.concatenate(sets)
    settings = MixtureSettings(3, 1e-12, 2000)
    mixture = SharedMixture.fit(points, settings, np.random.RandomState(0), tol=1e-14)
    logs = -0.5 * ((points[:, None] - mixture.means) ** 2).sum(axis=2) / mixture.variance
    logs += np.log(mixture.weights)
    posteriors = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    squares = (mixture.means**2).sum(axis=1)
    assert_allclose(mixture.posteriors(points @ mixture.means.T, squares), posteriors, atol=1e-10)
    mass = posteriors.sum(axis=0)
    assert_allclose(mixture.weights, mass / len(points), atol=1e-5)
    assert_allclose(mixture.means, posteriors.T @ points / mass[:, None], atol=1e-5)
    away = (posteriors * ((points[:, None] - mixture.means) ** 2).sum(axis=2)).sum()
    assert_allclose(mixture.variance, away / points.size, rtol=1e-6)
    one = SharedMixture.fit(points, MixtureSettings(1, 1e-12, 5), np.random.RandomState(0))
    assert_allclose(one.variance, points.var(axis=0).mean(), rtol=1e-6)
    assert_allclose(one.means[0], points.mean(axis=0), atol=1e-10)


def test_unfinished_mixtures_are_reported(sets):
    for aggregator in (
        FisherVector(4, max_iter=1, random_state=0),
        KernelFisherVector(n_components=4, covariance="spherical", max_iter=1, random_state=0),
    ):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            aggregator.fit(sets)
