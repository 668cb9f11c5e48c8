"""Classes without a part in the code: never elected, whatever the residuals of the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

import kernelcoding as kc
from kernelcoding.dictionary import point_gram
from kernelcoding.kernels import Gaussian

GAMMA = 0.01  # ten times that of the median: parts of codes that sum to one explain badly

CODERS = {
    "LLC": kc.KernelLLC(Gaussian(GAMMA), n_neighbors=5),
    "LLC, CSR": kc.KernelLLC(Gaussian(GAMMA), n_neighbors=5, sparse_output=True),
    "exact LLC": kc.KernelLLC(Gaussian(GAMMA), n_neighbors=None, alpha=1.0),
    "hard": kc.KernelBagOfWords(Gaussian(GAMMA), assignment="hard"),
    "simplex": kc.KernelCoder(Gaussian(GAMMA), alpha=1e-3),
}
EVERY_CODER = pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:420], y[300:420]


def best_of_those_with_a_part(coder, X, y, Q):
    """Slowly: classes that have a nonzero weight, and their residuals."""
    codes = np.asarray(coder.set_params(sparse_output=False).fit(X).transform(Q))
    K, k = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    winners, empty = [], 0
    for code, row in zip(codes, k, strict=True):
        every = {
            label: code[y == label] @ (K[np.ix_(y == label, y == label)] @ code[y == label])
            - 2.0 * code[y == label] @ row[y == label]
            for label in np.unique(y)
        }
        having = {label for label in every if np.abs(code[y == label]).sum() > 1e-9}
        empty += min(every, key=every.get) not in having
        winners.append(min(having, key=every.get))
    return np.array(winners), empty


@EVERY_CODER
def test_only_classes_with_a_part_in_the_code_are_elected(coder, digits):
    X, y, Q, z = digits
    expected, would_win = best_of_those_with_a_part(kc.ResidualClassifier(coder).coder, X, y, Q)
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    assert_array_equal(classifier.predict(Q), expected)
    if coder is CODERS["LLC"]:  # the case is the one that it is about
        assert would_win > 20
        assert np.mean(expected == z) > 0.8


@EVERY_CODER
def test_scores_and_probabilities_say_the_same(coder, digits):
    X, y, Q, _ = digits
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    labels, scores = classifier.predict(Q), classifier.decision_function(Q)
    assert np.isfinite(scores).all()
    assert_array_equal(classifier.classes_[scores.argmax(axis=1)], labels)
    shares = classifier.predict_proba(Q)
    assert_array_equal(classifier.classes_[shares.argmax(axis=1)], labels)
    assert_array_equal(shares.argsort(axis=1)[:, -1], scores.argmax(axis=1))


@EVERY_CODER
def test_a_sample_alone_is_judged_as_in_a_batch(coder, digits):
    X, y, Q, _ = digits
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    alone = np.vstack([classifier.decision_function(sample[None]) for sample in Q[:40]])
    assert_allclose(alone, classifier.decision_function(Q)[:40], rtol=1e-6, atol=1e-9)


def test_a_class_alone_wins_by_a_margin_however_badly_it_explains():
    X, y = np.array([[0.0], [10.0], [20.0]]), np.array([2, 1, 0])
    hard = kc.KernelBagOfWords(Gaussian(1.0), assignment="hard")
    classifier = kc.ResidualClassifier(hard).fit(X, y)
    scores = classifier.decision_function([[4.0], [12.0], [0.1]])
    # The atom alone leaves 1 - 2 k; the others follow twice as far behind nothing.
    own = 1.0 - 2.0 * np.exp([-16.0, -4.0, -0.01])
    assert_allclose(scores.max(axis=1), -own)
    assert_allclose(scores.min(axis=1), [-2.0 * own[0], -2.0 * own[1], 0.0])
    assert_array_equal(classifier.predict([[4.0], [12.0], [0.1]]), [2, 1, 2])
    two = kc.ResidualClassifier(hard).fit(X[:2], y[:2])
    assert_array_equal(two.predict([[4.0], [6.0]]), [2, 1])
    assert_array_equal(two.decision_function([[4.0], [6.0]]) > 0, [True, False])


def test_parts_that_explain_keep_their_residuals(digits):
    X, y, Q, _ = digits
    classifier = kc.ResidualClassifier(kc.KernelLLC("rbf", n_neighbors=5)).fit(X, y)
    rule, codes = classifier._residual_rule(), classifier.coder_.transform(Q)
    found = rule.residuals(Q, codes)
    empty = rule.masses(codes) == 0
    usual = found.min(axis=1) < 0
    assert empty.any()
    assert usual.any()
    assert_allclose(-classifier.decision_function(Q)[usual], found[usual], rtol=1e-12, atol=1e-14)
    assert_array_equal(found[empty], 0.0)


@pytest.mark.parametrize("name", ["LLC", "hard"])
def test_a_class_without_atoms_has_no_part_beyond_the_budget_either(name, digits, monkeypatch):
    X, y, Q, _ = digits
    chosen = np.flatnonzero(y[:200] != 3)
    coder = clone(CODERS[name]).set_params(atoms=X[chosen])
    make = kc.ResidualClassifier(coder, atom_labels=y[chosen])
    whole = clone(make).fit(X, y)
    monkeypatch.setattr(point_gram, "SMALL", 0)
    with kc.memory_budget(1e-6):
        parts = clone(make).fit(X, y)
        scores, labels = parts.decision_function(Q), parts.predict(Q)
    assert_allclose(scores, whole.decision_function(Q), atol=1e-10)
    assert_array_equal(labels, whole.predict(Q))
    assert 3 not in labels
