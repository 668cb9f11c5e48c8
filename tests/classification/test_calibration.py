"""Probabilities of supervised models, on samples they have not seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import CLASSIFIERS, supervised

EVERY_CLASSIFIER = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def many():
    X, y = digits(900, labels=True)
    rng = np.random.default_rng(0)
    X = np.clip(X + 0.12 * rng.normal(size=X.shape), 0.0, None)  # errors are to be made
    return X[:400], y[:400], X[400:], y[400:]


@EVERY_CLASSIFIER
def test_probabilities_are_calibrated(classifier, many):
    X, y, Q, labels = many
    model = supervised(classifier=classifier, n_atoms=30, max_iter=2).fit(X, y)
    probabilities = model.predict_proba(Q)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(Q))
    naive = softmax(model.decision_function(Q), axis=1)
    gain = 1.01 if classifier == "logistic" else 0.8  # whose scores are logarithms of odds
    assert log_loss(labels, probabilities) < gain * log_loss(labels, naive)
    confidence = probabilities.max(axis=1)
    right = model.predict(Q) == labels
    assert right.mean() < 0.99
    bins = np.digitize(confidence, np.quantile(confidence, [0.2, 0.4, 0.6, 0.8]))
    gaps = [abs(right[bins == b].mean() - confidence[bins == b].mean()) for b in range(5)]
    assert np.mean(gaps) < 0.12  # a hundred samples per bin tell no more
    assert abs(right.mean() - confidence.mean()) < 0.06


def test_labels_of_noise_give_no_confidence(rng):
    X, y = rng.normal(size=(150, 4)), rng.integers(3, size=150)
    for classifier in CLASSIFIERS:
        model = supervised(kc.KernelSparseCoder(alpha=0.02), classifier=classifier).fit(X, y)
        probabilities = model.predict_proba(rng.normal(size=(60, 4)))
        assert probabilities.max(axis=1).mean() < 0.6, classifier
