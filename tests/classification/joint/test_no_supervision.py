"""eta="auto" can answer that labels are of no use to a dictionary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier

import kernelcoding as kc
from kernelcoding.classification.joint import learner as learner_room
from kernelcoding.classification.joint import trial as supervision_trial
from kernelcoding.kernels import Gaussian

CLASSIFIERS = pytest.mark.parametrize("classifier", ["linear", "max-margin", "logistic"])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:240] / 16.0, y[:240], X[240:400] / 16.0, y[240:400]


def learned(classifier="linear", **changes):
    settings = {"n_atoms": 15, "max_iter": 3, "tol": 0.0, "classifier": classifier}
    return kc.SupervisedKernelCoding(
        **{"coder": kc.KernelSparseCoder(alpha=0.02), **settings, **changes}
    )


@CLASSIFIERS
def test_labels_that_cannot_be_predicted_are_not_learned_by_heart(classifier, digits):
    X = digits[0]
    noise = np.random.default_rng(0).integers(0, 4, len(X))
    model = learned(classifier).fit(X, noise)
    assert model.eta_ == 0.0
    assert model.training_kept_ == "unsupervised"
    # The dictionary is the one that is learned without labels, from the same first atoms.
    plain = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(alpha=0.02), n_atoms=15, max_iter=3, tol=0.0
    ).fit(X, noise)
    assert_allclose(model.dictionary_.gram, plain.dictionary_.gram, atol=1e-4)


def test_labels_that_can_be_predicted_are_used(digits):
    X, y, *_ = digits
    model = learned().fit(X, y)
    assert model.eta_ > 0.0
    assert model.training_kept_ == "joint"


def test_the_trial_decides_where_codes_follow_labels(digits, monkeypatch):
    X, y, Q, labels = digits
    asked = []

    def never(learner, eta, rho):
        asked.append((eta, rho))
        return False

    monkeypatch.setattr(learner_room, "helps", never)
    monkeypatch.setattr(learner_room.SupervisedLearner, "_following", lambda *_: 3.0)
    model = learned().fit(X, y)
    assert len(asked) == 1
    assert model.eta_ == 0.0
    assert model.training_kept_ == "unsupervised"
    assert model.score(Q, labels) > 0.8  # the classifier is fitted all the same
    codes = model.transform(X), model.transform(Q)
    peer = RidgeClassifier(alpha=1e-3).fit(codes[0], y)
    assert model.score(Q, labels) > peer.score(codes[1], labels) - 0.05
    monkeypatch.setattr(learner_room, "helps", lambda *_: True)
    assert learned().fit(X, y).training_kept_ == "joint"


def test_a_number_is_not_on_trial(digits, monkeypatch):
    X, y, *_ = digits
    monkeypatch.setattr(learner_room, "helps", lambda *_: pytest.fail("asked"))
    monkeypatch.setattr(learner_room.SupervisedLearner, "_following", lambda *_: 3.0)
    model = learned(eta=0.5).fit(X, y)
    assert model.eta_ == 0.5
    assert model.training_kept_ == "joint"


@pytest.mark.parametrize(
    ("classifier", "weight", "expected"),
    [("linear", 10.0, True), ("max-margin", 1e3, False), ("logistic", 1e3, False)],
)
def test_samples_left_out_are_the_judges(classifier, weight, expected, digits, monkeypatch):
    """Twelve atoms gain from labels; those that labels alone have shaped are of no use."""
    X, y, *_ = digits
    verdicts = []

    def spy(learner, eta, rho):
        verdicts.append(supervision_trial.helps(learner, weight * learner.wanted.unit, rho))
        return True

    monkeypatch.setattr(learner_room, "helps", spy)
    monkeypatch.setattr(learner_room.SupervisedLearner, "_following", lambda *_: 3.0)
    learned(classifier, n_atoms=12, max_iter=1).fit(X, y)
    assert verdicts == [expected]


@pytest.mark.parametrize("classifier", ["linear", "bilinear"])
def test_the_control_learns_without_labels(classifier, digits, monkeypatch):
    """Its atoms are those of dictionary learning, in which the judges have no weight."""
    X, y, *_ = digits
    first, grams, original = [], [], supervision_trial._losses

    def spy_on_start(learner, eta, rho):
        first.append(learner.now.vectors)
        return supervision_trial.helps(learner, eta, rho)

    def spy(trial, now, judges):
        grams.append(trial.frame.gram(now.vectors))
        return original(trial, now, judges)

    monkeypatch.setattr(learner_room, "helps", spy_on_start)
    monkeypatch.setattr(supervision_trial, "_losses", spy)
    monkeypatch.setattr(learner_room.SupervisedLearner, "_following", lambda *_: 3.0)
    coder = kc.KernelSparseCoder(Gaussian(0.05), alpha=0.02)
    learned(classifier, max_iter=1, coder=coder).fit(X, y)

    def same_start(self, *_):
        self._forget()
        return first[0], np.arange(15)

    weight = np.ones(len(X))
    weight[supervision_trial.left_out(supervision_trial.Labels.of(y))] = 0.0
    monkeypatch.setattr(kc.KernelDictionaryLearning, "_start", same_start)
    plain = kc.KernelDictionaryLearning(coder, n_atoms=15, max_iter=2, tol=0.0).fit(
        X, sample_weight=weight
    )
    with_labels, without = grams
    assert_allclose(without, plain.dictionary_.gram, atol=1e-6)
    assert np.abs(with_labels - without).max() > 1e-3


def test_judges_are_one_of_four_of_every_class():
    y = np.repeat(["a", "b", "c"], [40, 20, 8])
    labels = supervision_trial.Labels.of(y)
    judges = supervision_trial.left_out(labels)
    assert [np.count_nonzero(y[judges] == name) for name in "abc"] == [10, 5, 2]


def price_of(classifier):
    """Of all coefficients, and of a unit of squared norm where that is known."""
    return classifier.penalty, getattr(classifier, "rate", 0.0)


@pytest.mark.parametrize("classifier", kc.classification.rules.RULES)
@pytest.mark.parametrize("changes", [{}, {"rho": 0.01}, {"eta": 0.1}])
def test_the_first_classifier_is_the_best_one_at_the_weights_that_were_chosen(
    classifier, changes, digits, monkeypatch
):
    """That of the choice is the same, unless the penalty was given."""
    X, y, *_ = digits
    first, original = [], learner_room.SupervisedLearner.classify

    def spy(self):
        is_first = self.classifier is None
        objective = original(self)
        if is_first:
            data = self.training_codes(self.now.codes, self.now.vectors)
            best = self.rule.fit(data, self.rho)
            similarity = self.frame.kernel_matrix
            scores = [c.scores(self.now.codes, similarity) for c in (self.classifier, best)]
            first.append((scores, [price_of(c) for c in (self.classifier, best)]))
            mean = np.mean(self.losses_of(best, self.now.codes)) + best.penalty
            first.append((objective, self._coded.objective + mean))
        return objective

    monkeypatch.setattr(learner_room.SupervisedLearner, "classify", spy)
    monkeypatch.setattr(learner_room, "helps", lambda *_: True)
    learned(classifier, max_iter=1, **changes).fit(X, y)
    (scores, prices), objectives = first[:2]
    assert_allclose(*scores, atol=1e-4)
    assert_allclose(*prices, rtol=1e-3)
    assert_allclose(*objectives, rtol=1e-5)
