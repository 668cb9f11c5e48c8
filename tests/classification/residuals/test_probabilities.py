"""Probabilities of the residual rule: in the order of scores, calibrated without cheating."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.classification.residuals import calibration as residual_calibration

SPARSE = kc.KernelSparseCoder(alpha=0.02)
KINDS = {
    "all samples": SPARSE,
    "some samples": kc.KernelSparseCoder(alpha=0.02, atoms=150),
    "groups": kc.KernelSparseCoder(alpha=0.05, groups="y"),  # few: quick
    "LLC": kc.KernelLLC(n_neighbors=20),
    "learned": kc.KernelDictionaryLearning(SPARSE, n_atoms=80, max_iter=3),
    "landmarks": kc.KernelDictionaryLearning(SPARSE, n_atoms=80, n_landmarks=200, max_iter=3),
    "per class": kc.KernelDictionaryLearning(SPARSE, n_atoms=80, per_class=True, max_iter=3),
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    return X[:500], y[:500], X[500:900], y[500:900]


@pytest.mark.parametrize("coder", KINDS.values(), ids=KINDS.keys())
def test_probabilities_follow_scores_and_beat_baselines(coder, digits):
    X, y, Q, labels = digits
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    shares, scores = classifier.predict_proba(Q), classifier.decision_function(Q)
    assert shares.shape == (400, 10)
    assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert shares.min() >= 0.0
    assert_array_equal(np.argsort(shares, axis=1)[:, -3:], np.argsort(scores, axis=1)[:, -3:])
    found = log_loss(labels, shares)
    assert found < 0.2 * np.log(10)  # of equal shares
    votes = KNeighborsClassifier(5).fit(X, y).predict_proba(Q)
    assert found < log_loss(labels, votes)
    # No other temperature would be much better on these samples, which it has not seen.
    assert found < best_log_loss(scores, labels) + 0.04


def best_log_loss(scores, labels):
    """The smallest log loss that any temperature could have."""

    def loss(log_factor):
        raised = np.exp(log_factor) * scores
        logs = raised - np.logaddexp.reduce(raised, axis=1, keepdims=True)
        return -np.mean(logs[np.arange(len(labels)), labels])

    return minimize_scalar(loss, bounds=(-5, 10), method="bounded").fun


def test_samples_do_not_explain_themselves(digits):
    X, y, Q, labels = digits
    exact = kc.KernelSparseCoder(kc.kernels.Gaussian(1.0), alpha=0.02, tol=1e-12)
    classifier = kc.ResidualClassifier(exact).fit(X, y)
    honest = log_loss(labels, classifier.predict_proba(Q))
    calibration = classifier._calibration
    rule, coding = classifier._rule, classifier.coder_._coding()
    left_out = calibration.residuals_left_out(rule, coding)
    # By hand: the first fold, coded with the atoms of all other samples.
    rows = np.arange(len(left_out)) % residual_calibration.N_FOLDS == 0
    kept = np.setdiff1d(np.arange(500), calibration.carriers[rows])
    others = kc.ResidualClassifier(exact).fit(X[kept], y[kept])
    expected = -others.decision_function(calibration.samples[rows])
    assert_allclose(left_out[rows], expected, atol=1e-6)
    # With themselves among the atoms, every label looks certain.
    cheating = kc.ResidualClassifier(SPARSE).fit(X, y)
    cheating._calibration.carriers[:] = -1
    assert log_loss(labels, cheating.predict_proba(Q)) > honest + 0.02


def test_own_weights_are_left_out_of_learned_codes(digits):
    X, y, _, _ = digits
    classifier = kc.ResidualClassifier(KINDS["learned"]).fit(X, y)
    calibration, rule = classifier._calibration, classifier._rule
    found = calibration.residuals_left_out(rule, classifier.coder_._coding())
    kernel, dictionary = classifier.coder_.kernel_, classifier.coder_.dictionary_
    beta = classifier.coder_.transform(calibration.samples) @ dictionary.weights.T
    for i in range(0, 200, 40):
        beta[i, calibration.carriers[i]] = 0.0
        k = kernel(calibration.samples[i : i + 1], X)[0]
        for s in range(10):
            part = np.where(y == s, beta[i], 0.0)
            assert found[i, s] == pytest.approx(part @ kernel(X, X) @ part - 2 * part @ k, abs=1e-9)


def test_two_classes_one_class_and_few_samples(digits):
    X, y, Q, _ = digits
    binary = np.where(y < 5, "low", "high")
    classifier = kc.ResidualClassifier(SPARSE).fit(X, binary)
    shares = classifier.predict_proba(Q)
    assert shares.shape == (400, 2)
    assert_array_equal(shares[:, 1] > 0.5, classifier.decision_function(Q) > 0)
    one = kc.ResidualClassifier(SPARSE).fit(X[:20], np.zeros(20))
    assert_array_equal(one.predict_proba(Q), np.ones((400, 1)))
    few = kc.ResidualClassifier(SPARSE).fit(X[:2], [0, 1])
    assert_allclose(few.predict_proba(Q).sum(axis=1), 1.0)


def test_copies_of_training_samples_given_as_points_do_not_count(digits):
    X, y, Q, labels = digits
    coder = kc.KernelSparseCoder(alpha=0.02, atoms=X[:250])
    classifier = kc.ResidualClassifier(coder, atom_labels=y[:250]).fit(X, y)
    found, scores = log_loss(labels, classifier.predict_proba(Q)), classifier.decision_function(Q)
    assert found < best_log_loss(scores, labels) + 0.06
    residuals = classifier._calibration.residuals_left_out(
        classifier._rule, classifier.coder_._coding()
    )
    copies = (classifier._calibration.samples[:, None] == X[None, :250]).all(axis=2).any(axis=1)
    assert 0 < copies.sum() < 200
    assert_array_equal(np.isnan(residuals).any(axis=1), copies)


def test_the_temperature_is_found_once_and_kept(digits, tmp_path, monkeypatch):
    X, y, Q, _ = digits
    classifier = kc.ResidualClassifier(SPARSE).fit(X, y)
    first = classifier.predict_proba(Q[:5])
    kc.save(classifier, tmp_path / "model.kc")
    thawed = kc.load(tmp_path / "model.kc")
    monkeypatch.setattr(residual_calibration, "temperature", None)  # would fail if asked again
    assert_array_equal(classifier.predict_proba(Q[:5]), first)
    assert_array_equal(thawed.predict_proba(Q[:5]), first)


def test_models_of_older_files_find_a_temperature(digits):
    X, y, Q, _ = digits
    classifier = kc.ResidualClassifier(SPARSE).fit(X, y)
    expected = classifier.predict_proba(Q[:9])
    for name in ("_rule", "_calibration", "atom_labels", "landmark_labels"):
        delattr(classifier, name)  # what files had not yet
    assert_allclose(classifier.predict_proba(Q[:9]), expected, rtol=1e-10)
    assert classifier.get_params(deep=False) == {
        "coder": SPARSE,
        "atom_labels": None,
        "landmark_labels": None,
    }
