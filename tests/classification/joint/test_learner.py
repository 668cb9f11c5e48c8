"""Codes, atoms and classifier in turn: one objective that falls, and the classifier at the end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

import kernelcoding as kc
from helpers.learning import digits, never_rises
from helpers.supervised import CLASSIFIERS, dense, rule, supervised
from kernelcoding import constraints, priors
from kernelcoding.classification.joint.learner import SupervisedLearner
from kernelcoding.classification.losses import logistic
from kernelcoding.classification.rules import BilinearRule, LinearRule, MaxMarginRule
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames
from kernelcoding.kernels import Gaussian, Polynomial
from reference.features import quadratic_features, squared_errors
from reference.supervised import hinge_loss, products, square_loss

GAMMA = 1.5
KERNEL = Gaussian(gamma=GAMMA)
N_ATOMS = 12
EVERY_CLASSIFIER = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def data():
    X, y = digits(220, labels=True)
    return X[:120], y[:120], X[120:], y[120:]


# The objective ---------------------------------------------------------------------------------

EXACT = {
    "kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02),
    "positive kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02, positive=True),
    "group kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02, groups=np.arange(N_ATOMS) % 4),
    "LCC": kc.KernelLCC(KERNEL, alpha=0.05),
    "simplex": kc.KernelCoder(KERNEL, alpha=0.02),
    "ridge": kc.KernelCoder(
        KERNEL, prior=priors.Ridge(), constraint=constraints.SumToOne(), alpha=0.05
    ),
    "exact LLC": kc.KernelLLC(KERNEL, n_neighbors=None),
    "hard words": kc.KernelBagOfWords(KERNEL, assignment="hard"),
}
EVERY_CODER = pytest.mark.parametrize("coder", EXACT.values(), ids=EXACT.keys())


@EVERY_CODER
@EVERY_CLASSIFIER
def test_the_objective_never_rises(coder, classifier, data):
    X, y = data[0][:50], data[1][:50]
    for given in ({}, {"eta": 1.0, "rho": 0.01}):
        model = supervised(coder, classifier=classifier, max_iter=3, **given).fit(X, y)
        history = model.objective_history_
        assert len(history) == 1 + 3 * model.n_iter_
        assert never_rises(history, 1e-9), np.diff(history).max()
        assert history[-1] < history[0]


@EVERY_CLASSIFIER
@pytest.mark.parametrize(
    ("of_rule", "parameters"),
    [
        ({"class_weight": "balanced"}, {}),
        ({}, {"n_landmarks": 40}),
        ({"class_weight": {0: 5.0, 3: 0.2}}, {"n_landmarks": 40}),
        ({"fit_intercept": False, "rho": 1e-3}, {}),
        ({}, {"init": "kernel-k-means", "eta": 20.0}),
        ({}, {"learn_kernel": False, "rho": 100.0}),
    ],
    ids=str,
)
def test_no_setting_makes_the_objective_rise(classifier, of_rule, parameters, data):
    X, y = data[0][:80], data[1][:80]
    model = supervised(classifier=rule(classifier, **of_rule), max_iter=5, **parameters).fit(X, y)
    assert never_rises(model.objective_history_, 1e-9)
    assert_allclose(np.diag(model.dictionary_.gram), 1.0)


@pytest.mark.parametrize("name", ["kSC", "LCC", "exact LLC"])
@EVERY_CLASSIFIER
def test_samples_that_are_not_kept_are_learned_in_blocks(name, classifier, data, monkeypatch):
    X, y, Q, _ = data
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(landmark_frames, "BLOCK", 40 * 50)
    given = {"n_landmarks": 40, "max_iter": 4, "rho": 0.01}
    model = supervised(EXACT[name], classifier=classifier, **given)
    X = np.vstack([X, X[:40]])  # twins among the atoms, sooner or later
    model.fit(X, np.append(y, y[:40]))
    assert never_rises(model.objective_history_, 1e-9)
    assert np.isfinite(model.decision_function(Q)).all()


def test_the_best_round_is_kept_where_the_objective_may_rise(data):
    X, y, _, _ = data
    for classifier in CLASSIFIERS:
        model = supervised(kc.KernelLLC(KERNEL), classifier=classifier, max_iter=8, eta=1.0)
        model.fit(X, y)
        ends = model.objective_history_[::3]
        assert ends.min() <= ends[0]


@EVERY_CLASSIFIER
def test_hard_words_are_one_atom_without_a_prior(classifier, data):
    X, y, Q, _ = data
    words = kc.KernelBagOfWords(KERNEL, assignment="hard")
    atoms = kc.KernelCoder(KERNEL, prior=priors.NoPrior(), constraint=constraints.OneAtom())
    one, other = (supervised(coder, classifier=classifier).fit(X, y) for coder in (words, atoms))
    for model in (one, other):
        assert never_rises(model.objective_history_, 1e-9)
        assert model.objective_history_[-1] < model.objective_history_[0]
    assert_allclose(other.objective_history_, one.objective_history_, rtol=1e-12)
    assert_array_equal(np.count_nonzero(dense(one.transform(Q)), axis=1), 1)
    assert_array_equal(other.predict(Q), one.predict(Q))
    assert_allclose(other.decision_function(Q), one.decision_function(Q), atol=1e-12)


@EVERY_CLASSIFIER
@pytest.mark.parametrize("class_weight", [None, "balanced", {"up": 3.0}], ids=str)
def test_the_last_objective_can_be_recomputed_from_explicit_features(
    classifier, class_weight, rng, monkeypatch
):
    X = 0.7 * rng.normal(size=(50, 3))
    y = np.where(X[:, 0] > 0.5, "right", np.where(X[:, 1] > 0, "up", "down"))
    seen, original = {}, SupervisedLearner.classify

    def classify(self):
        objective = original(self)
        seen["codes"] = dense(self.coded.codes)
        return objective

    monkeypatch.setattr(SupervisedLearner, "classify", classify)
    alpha, eta, rho = 0.1, 0.5, 0.01
    model = supervised(
        kc.KernelSparseCoder(Polynomial(degree=2), alpha=alpha),
        classifier=rule(classifier, class_weight=class_weight),
        eta=eta,
        rho=rho,
        n_atoms=6,
    ).fit(X, y)
    codes, found, features = seen["codes"], model.joint_classifier_, quadratic_features(X)
    errors = squared_errors(features, model.dictionary_.weights.T @ features, codes)
    labels = np.unique(y)
    targets = (y[:, None] == labels).astype(float)
    if classifier == "bilinear":
        centres = products(features, dense(found.centres))
        W = centres.T @ found.coefficients
        scores, penalty = products(features, codes) @ W + found.bias, rho / 6 * np.sum(W**2)
    else:
        scores, penalty = codes @ found.weights + found.bias, rho / 2 * np.sum(found.weights**2)
    loss = square_loss(scores, targets)
    if classifier == "max-margin":
        loss = hinge_loss(scores, 2.0 * targets - 1.0)
    if classifier == "logistic":
        loss = 4.0 * np.log1p(np.exp(-(2.0 * targets - 1.0) * scores)).sum(axis=1)
    of_class = {
        "None": np.ones(3),
        "balanced": 1.0 / targets.sum(axis=0),
        "{'up': 3.0}": np.where(labels == "up", 3.0, 1.0),
    }[str(class_weight)]
    weights = of_class[targets.argmax(axis=1)]
    weights = weights / weights.mean()  # one on average
    expected = np.mean(0.5 * errors + alpha * np.abs(codes).sum(axis=1) + eta * weights * loss)
    assert_allclose(model.objective_history_[-1], expected + penalty, rtol=1e-8)


def test_without_weight_the_dictionary_is_the_unsupervised_one(data):
    X, y, Q, _ = data
    eta, rho = 1e-13, 1e-15
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05)
    alone = kc.KernelDictionaryLearning(
        coder, N_ATOMS, max_iter=3, tol=0, random_state=0
    ).fit(X, y)  # fmt: skip
    for classifier in ("linear", "max-margin"):
        model = supervised(coder, classifier=classifier, eta=eta, rho=rho).fit(X, y)
        assert_allclose(model.dictionary_.weights, alone.dictionary_.weights, atol=1e-6)
        assert_allclose(model.transform(Q), alone.transform(Q), atol=1e-6)
        assert_allclose(model.objective_history_[-1], alone.objective_history_[-1], rtol=1e-8)


def test_without_weight_a_bilinear_dictionary_comes_near_the_unsupervised_one(data):
    # Its codes are made better in each round, not optimal: rounds make up for that.
    X, y, _, _ = data
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05)
    alone = kc.KernelDictionaryLearning(coder, N_ATOMS, max_iter=30, tol=0, random_state=0).fit(X)
    model = supervised(coder, classifier="bilinear", eta=1e-13, rho=1e-15, max_iter=30).fit(X, y)
    assert_allclose(model.objective_history_[-1], alone.objective_history_[-1], rtol=0.02)


# The last classifier ---------------------------------------------------------------------------


def one_hot(y):
    return (y[:, None] == np.unique(y)).astype(float)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_refitted_linear_scores_are_ridge_regression_on_plain_codes(fit_intercept, data):
    X, y, Q, _ = data
    eta, rho = 0.5, 1e-3
    fitted = LinearRule(rho, fit_intercept=fit_intercept)
    model = supervised(classifier=fitted, eta=eta).fit(X, y)
    peer = Ridge(alpha=rho * len(X) / eta, fit_intercept=fit_intercept)
    peer.fit(model.transform(X), one_hot(y))
    assert_allclose(model.decision_function(Q), peer.predict(model.transform(Q)), atol=1e-7)
    assert model.rho_ == rho
    assert model.eta_ == eta


def test_refitted_bilinear_scores_are_kernel_ridge_regression(data):
    X, y, Q, _ = data
    eta, rho = 0.5, 1e-2
    model = supervised(classifier=BilinearRule(rho, fit_intercept=False), eta=eta).fit(X, y)
    codes, new = model.transform(X), model.transform(Q)
    peer = KernelRidge(alpha=rho * len(X) / (eta * 10), kernel="precomputed")
    peer.fit(rbf_kernel(X, gamma=GAMMA) * (codes @ codes.T), one_hot(y))
    expected = peer.predict(rbf_kernel(Q, X, gamma=GAMMA) * (new @ codes.T))
    assert_allclose(model.decision_function(Q), expected, atol=1e-7)


def test_refitted_margins_are_those_of_linear_svc(data):
    X, y, Q, _ = data
    eta, rho = 0.5, 1e-3
    model = supervised(classifier=MaxMarginRule(rho, fit_intercept=False), eta=eta).fit(X, y)
    peer = LinearSVC(
        C=eta / (2 * rho * len(X)), loss="squared_hinge", fit_intercept=False, dual=False,
        tol=1e-10,
    ).fit(model.transform(X), y)  # fmt: skip
    expected = peer.decision_function(model.transform(Q))
    assert_allclose(model.decision_function(Q), expected, atol=1e-5)


@EVERY_CLASSIFIER
def test_without_refit_the_joint_classifier_decides(classifier, data):
    X, y, Q, _ = data
    kept = supervised(classifier=rule(classifier, refit=False)).fit(X, y)
    refitted = supervised(classifier=classifier).fit(X, y)
    assert kept.classifier_ is kept.joint_classifier_
    assert refitted.classifier_ is not refitted.joint_classifier_
    similarity, codes = rbf_kernel(Q, X, gamma=GAMMA), kept.transform(Q)
    assert_allclose(
        kept.decision_function(Q), kept.joint_classifier_.scores(codes, similarity), atol=1e-9
    )
    assert_allclose(
        refitted.joint_classifier_.scores(codes, similarity), kept.decision_function(Q), atol=1e-9
    )
    assert not np.allclose(refitted.decision_function(Q), kept.decision_function(Q), atol=1e-6)


@EVERY_CLASSIFIER
def test_more_weight_lowers_the_loss_of_training_codes(classifier, data):
    X, y, _, _ = data
    rules = {"max-margin": (hinge_loss, 2.0 * one_hot(y) - 1.0)}
    loss, targets = rules.get(classifier, (square_loss, one_hot(y)))
    losses = []
    for eta in (1e-6, 3.0):
        model = supervised(classifier=classifier, eta=eta, rho=eta * 1e-3, max_iter=8).fit(X, y)
        scores = model.decision_function(X)
        if classifier == "logistic":  # the loop asks about one class against the rest
            signs, ones = 2.0 * one_hot(y) - 1.0, np.ones(len(X))
            weights, bias = logistic.fit(model.transform(X), signs, ones, 1e-3 * len(X), True)
            scores = model.transform(X) @ weights + bias
        losses.append(loss(scores, targets).mean())
    assert losses[1] < losses[0]


@EVERY_CLASSIFIER
def test_digits_are_told_apart_untuned(classifier):
    """And not worse than by the same classifier of codes that were learned without labels."""
    X, y = digits(700, labels=True)
    scores = []
    for eta in ("auto", 1e-9):
        model = supervised(classifier=classifier, n_atoms=40, eta=eta).fit(X[:400], y[:400])
        scores.append(model.score(X[400:], y[400:]))
    assert scores[0] > 0.8
    assert scores[0] > scores[1] - 0.02


@EVERY_CLASSIFIER
def test_the_scale_of_the_kernel_changes_no_decision(classifier, data):
    """Eta and rho have no unit: a kernel times c with alpha times c is the same problem."""
    X, y, Q, _ = data
    one = supervised(kc.KernelSparseCoder(Polynomial(degree=2), alpha=0.1), classifier=classifier)
    two = supervised(
        kc.KernelSparseCoder(100.0 * Polynomial(degree=2), alpha=1.0), classifier=classifier
    )
    assert_array_equal(one.fit(X, y).predict(Q), two.fit(X, y).predict(Q))
    assert_allclose(two.eta_, 100.0 * one.eta_)
