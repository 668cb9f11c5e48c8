"""Classifiers that only experiments need, and the answers that are asked of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.experiments.running.classifiers import (
    Collaborative,
    Encoded,
    NearestCode,
    SampledAtoms,
)
from kernelcoding.experiments.running.fit_and_predict import answers_of
from kernelcoding.experiments.running.metrics import METRICS


def test_scores_of_classes_nobody_was_fitted_to_are_lowest(rng):
    X, y = rng.normal(size=(30, 3)), rng.choice([0, 2, 3], 30)
    answers = answers_of(NearestCode().fit(X, y), X, METRICS["mAP"], 5)
    assert answers.scores.shape == (30, 5)
    assert (answers.scores[:, [1, 4]] < answers.scores[:, [0, 2, 3]].min()).all()
    assert_array_equal(answers.scores.argmax(axis=1), y)
    two = answers_of(NearestCode().fit(X, y == 2), X, METRICS["mAP"], 2)
    assert_array_equal(two.scores.argmax(axis=1), y == 2)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_nearest_code_is_the_nearest_neighbour(rng, metric):
    X, Q, y = rng.normal(size=(40, 5)), rng.normal(size=(25, 5)), rng.integers(0, 4, 40)
    ours = NearestCode(metric).fit(X, y)
    peer = KNeighborsClassifier(1, metric=metric).fit(X, y)
    assert_array_equal(ours.predict(Q), peer.predict(Q))
    scores = ours.decision_function(Q)
    assert_array_equal(scores > 0, ours.predict(Q)[:, None] == np.arange(4))
    labels = rng.random((40, 4)) < 0.3
    several = NearestCode(metric).fit(X, labels)
    nearest = peer.kneighbors(Q, return_distance=False)[:, 0]
    assert_array_equal(several.predict(Q), labels[nearest])
    assert_array_equal(several.decision_function(Q) > 0, labels[nearest])


def test_sampled_atoms_are_a_balanced_few(digits):
    X, y = digits[0], np.arange(80) % 4
    model = SampledAtoms(ResidualClassifier(KernelSparseCoder("linear")), n_atoms=22).fit(X, y)
    assert sorted(np.bincount(y[model.sampled_])) == [5, 5, 6, 6]
    direct = ResidualClassifier(KernelSparseCoder("linear"))
    direct.fit(X[model.sampled_], y[model.sampled_])
    assert_array_equal(model.predict(digits[1]), direct.predict(digits[1]))
    assert_allclose(model.decision_function(digits[1]), direct.decision_function(digits[1]))


def test_encoded_is_encoder_then_head(digits):
    X, Q = digits
    y = np.arange(80) % 4
    coder = KernelSparseCoder(atoms=20, random_state=0)
    model = Encoded(coder, NearestCode()).fit(X, y)
    codes = coder.fit(X)
    expected = NearestCode().fit(codes.transform(X), y).predict(codes.transform(Q))
    assert_array_equal(model.predict(Q), expected)


def test_collaborative_codes_are_ridge_regressions(digits):
    """Against ridge regression of scikit-learn on the samples, and residuals written out."""
    X, Q = digits
    y = np.arange(80) % 4
    model = Collaborative(alpha=0.1).fit(X @ X.T, y)
    unit = (X**2).sum(axis=1).mean()
    scores = model.decision_function(Q @ X.T)
    for query, row in zip(Q, scores, strict=True):
        code = Ridge(alpha=0.1 * unit, fit_intercept=False).fit(X.T, query).coef_
        for label in range(4):
            own = code[y == label]
            error = ((query - own @ X[y == label]) ** 2).sum() + unit - query @ query
            assert_allclose(row[label], -error / (own @ own), rtol=1e-6)
    assert_array_equal(model.predict(Q @ X.T), scores.argmax(axis=1))
    of_samples = Collaborative(0.1, "linear").fit(X, y)
    assert_allclose(of_samples.decision_function(Q), scores)
