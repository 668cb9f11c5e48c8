"""Outliers by residuals in H: scores, thresholds, and samples that are atoms themselves."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from kernelcoding import KernelOutlierDetector, constraints, priors
from kernelcoding.kernels import Gaussian

GAMMA = 1.5


@parametrize_with_checks(
    [
        KernelOutlierDetector(),
        KernelOutlierDetector(kc.KernelSparseCoder("linear", sparse_output=True), 0.1),
        KernelOutlierDetector(kc.KernelDictionaryLearning(n_atoms=1, max_iter=2), 0.1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def zeros():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    order = np.random.default_rng(0).permutation(np.flatnonzero(y == 0))  # writers come in turn
    return X[order[:50]], X[order[50:]], X[y == 1][:60]


CODERS = {
    "sparse": kc.KernelSparseCoder(Gaussian(GAMMA), alpha=0.02),
    "positive": kc.KernelSparseCoder(Gaussian(GAMMA), alpha=0.02, positive=True),
    "CSR": kc.KernelSparseCoder(Gaussian(GAMMA), alpha=0.02, sparse_output=True),
    "soft": kc.KernelBagOfWords(Gaussian(GAMMA)),
    "LLC": kc.KernelLLC(Gaussian(GAMMA)),
    "exact LLC": kc.KernelLLC(Gaussian(GAMMA), n_neighbors=None),
    "LCC": kc.KernelLCC(Gaussian(GAMMA)),
    "omp": kc.KernelMatchingPursuit(Gaussian(GAMMA)),
    "ridge": kc.KernelCoder(
        Gaussian(GAMMA), prior=priors.Ridge(), constraint=constraints.Free(), alpha=0.1
    ),
    "weighted": kc.KernelCoder(
        Gaussian(GAMMA),
        prior=priors.WeightedL1(np.linspace(0.5, 2.0, 50)),
        constraint=constraints.Free(),
        alpha=0.02,
    ),
}
EVERY_CODER = pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())


@EVERY_CODER
def test_new_samples_are_scored_by_what_the_coder_leaves(coder, zeros):
    X, Q, strange = zeros
    detector = KernelOutlierDetector(coder).fit(X)
    plain = clone(coder).fit(X)
    for samples in (Q, strange):
        assert_allclose(
            detector.score_samples(samples), -plain.reconstruction_error(samples), atol=1e-9
        )


@EVERY_CODER
def test_training_samples_are_scored_without_themselves(coder, zeros):
    """By a coder fitted to the others alone, sample by sample."""
    X = zeros[0]
    detector = KernelOutlierDetector(coder, contamination=0.1).fit(X)
    expected = []
    for left in range(0, 50, 7):
        others = np.delete(np.arange(50), left)
        alone = clone(coder)
        if isinstance(getattr(coder, "prior", None), priors.WeightedL1):
            alone.set_params(prior=priors.WeightedL1(coder.prior.weights[others]))
        expected.append(-alone.fit(X[others]).reconstruction_error(X[left : left + 1])[0])
    scores = detector.score_samples(X)
    assert_allclose(scores[::7], expected, atol=1e-6)
    assert np.max(scores) < -1e-3  # with itself, a sample would be explained
    assert detector.offset_ == np.percentile(scores, 10)


def test_chosen_atoms_are_left_out_and_other_samples_are_not(zeros):
    X = zeros[0]
    coder = kc.KernelSparseCoder(Gaussian(GAMMA), atoms=12)
    detector = KernelOutlierDetector(coder).fit(X)
    plain = clone(coder).fit(X)
    atoms = plain.dictionary_.index
    others = np.setdiff1d(np.arange(50), atoms)
    scores = detector.score_samples(X)
    assert_allclose(scores[others], -plain.reconstruction_error(X[others]), atol=1e-9)
    assert np.all(scores[atoms] < -plain.reconstruction_error(X[atoms]) - 1e-3)


def test_a_second_copy_explains_a_sample(zeros):
    X = zeros[0]
    coder = kc.KernelSparseCoder(Gaussian(GAMMA), alpha=1e-4)
    alone = KernelOutlierDetector(coder).fit(X).score_samples(X[:1])
    twice = KernelOutlierDetector(coder).fit(np.vstack([X, X[:1]])).score_samples(X[:1])
    assert alone < -0.01 < -1e-6 < twice


def test_points_of_the_user_are_no_training_samples(zeros):
    X = zeros[0]
    detector = KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(GAMMA), atoms=X[:9], alpha=1e-4))
    assert detector.fit(X).score_samples(X[:9]).min() > -1e-6


def test_one_atom_explains_nothing_of_itself(zeros):
    X = zeros[0]
    detector = KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(GAMMA), atoms=1)).fit(X)
    own = detector.coder_.dictionary_.index
    assert_allclose(detector.score_samples(X[own]), -1.0)


def test_a_precomputed_kernel_gives_the_same(zeros):
    X, Q, strange = zeros
    inside = KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(GAMMA))).fit(X)
    outside = KernelOutlierDetector(kc.KernelSparseCoder("precomputed"))
    assert get_tags(outside).input_tags.pairwise
    outside.fit(rbf_kernel(X, gamma=GAMMA))
    for samples in (X, Q, strange):
        given = outside.score_samples(rbf_kernel(samples, X, gamma=GAMMA))
        assert_allclose(given, inside.score_samples(samples), atol=1e-6)


def test_covariances(rng):
    factors = rng.normal(size=(60, 3, 8))
    X = factors @ factors.transpose(0, 2, 1) / 8
    strange = X[:10] * np.array([1.0, 10.0, 0.1]) * np.array([1.0, 10.0, 0.1])[:, None]
    detector = KernelOutlierDetector(kc.KernelSparseCoder("log-euclidean")).fit(X[:40])
    scores = [detector.score_samples(part).mean() for part in (X[40:], strange)]
    assert scores[0] > scores[1]


# Thresholds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_contamination_is_the_share_of_training_samples_below(share, zeros):
    X = zeros[0]
    detector = KernelOutlierDetector(contamination=share)
    assert np.mean(detector.fit_predict(X) == -1) == pytest.approx(share, abs=0.021)
    assert_array_equal(detector.fit_predict(X), detector.fit(X).predict(X))


def test_new_normal_samples_are_rejected_as_often_as_training_samples():
    """Would samples explain themselves, nearly all new ones were below the threshold."""
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    rejected = []
    for label in range(10):
        own = X[y == label]
        detector = KernelOutlierDetector(contamination=0.1).fit(own[::2])
        rejected.append(np.mean(detector.predict(own[1::2]) == -1))
    assert 0.06 < np.mean(rejected) < 0.16


def test_auto_is_a_fence_below_the_quartiles(zeros):
    X = zeros[0]
    detector = KernelOutlierDetector().fit(X)
    low, high = np.percentile(detector.score_samples(X), [25, 75])
    assert detector.offset_ == pytest.approx(low - 1.5 * (high - low))
    assert_allclose(detector.decision_function(X), detector.score_samples(X) - detector.offset_)


def test_other_digits_are_strange(zeros):
    X, Q, strange = zeros
    detector = KernelOutlierDetector().fit(X)
    scores = np.concatenate([detector.score_samples(Q), detector.score_samples(strange)])
    assert roc_auc_score(np.arange(len(scores)) < len(Q), scores) > 0.99
    assert np.mean(detector.predict(strange) == -1) > 0.95
    assert np.mean(detector.predict(Q) == 1) > 0.9


def test_a_learned_dictionary_scores_by_its_atoms(zeros):
    X, Q, strange = zeros
    learning = kc.KernelDictionaryLearning(kc.KernelSparseCoder(alpha=0.02), n_atoms=10, max_iter=3)
    detector = KernelOutlierDetector(learning, contamination=0.2).fit(X)
    plain = clone(learning).fit(X)
    assert_allclose(detector.score_samples(X), -plain.reconstruction_error(X), atol=1e-9)
    assert detector.score_samples(Q).mean() > detector.score_samples(strange).mean()


# Warnings and refusals ------------------------------------------------------------------------


def test_a_sample_far_from_everything_is_strange_and_no_mistake(zeros):
    X = zeros[0]
    detector = KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(GAMMA))).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(detector.score_samples(X[:1] + 100.0), [-1.0])


def test_codes_that_did_not_converge_are_told(zeros):
    coder = kc.KernelSparseCoder(Gaussian(GAMMA), alpha=1e-4, groups=np.arange(50) % 5, max_iter=1)
    with pytest.warns(UserWarning, match=r"did not converge|not converged|reached"):
        KernelOutlierDetector(coder).fit(zeros[0])


def test_two_threads_score_as_one(zeros):
    X, Q, _ = zeros
    one = KernelOutlierDetector(kc.KernelSparseCoder(n_jobs=1)).fit(X)
    two = KernelOutlierDetector(kc.KernelSparseCoder(n_jobs=2)).fit(X)
    for samples in (X, Q):
        assert_array_equal(one.score_samples(samples), two.score_samples(samples))


@pytest.mark.parametrize("given", [0, 0.6, -0.1, "all", None, True, np.nan])
def test_contamination_that_makes_no_sense(given, zeros):
    with pytest.raises(ValueError, match=r'contamination must be "auto" or a number in \(0, 0.5\]'):
        KernelOutlierDetector(contamination=given).fit(zeros[0])


@pytest.mark.parametrize("given", ["sparse", kc.KernelSparseCoder, Gaussian()])
def test_what_is_no_coder(given, zeros):
    with pytest.raises(ValueError, match="coder must be a coder or a dictionary learning"):
        KernelOutlierDetector(given).fit(zeros[0])


def test_neighbours_are_all_others_where_there_are_no_more(zeros):
    X = zeros[0]
    given = kc.KernelLLC(Gaussian(GAMMA), n_neighbors=5, atoms=5, init="greedy")
    detector = KernelOutlierDetector(given).fit(X)
    own = detector.coder_.dictionary_.index
    others = kc.KernelLLC(Gaussian(GAMMA), n_neighbors=4, atoms=X[own[1:]]).fit(X)
    expected = -others.reconstruction_error(X[own[:1]])
    assert_allclose(detector.score_samples(X[own[:1]]), expected, atol=1e-9)
