"""Trials of task-driven training: their judges are samples that no atom comes from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss
from sklearn.utils import check_random_state

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import dense, supervised, task_driven
from kernelcoding.classification.labels import Labels
from kernelcoding.classification.rules.multinomial import left_out
from kernelcoding.classification.task_driven import trials
from kernelcoding.classification.task_driven.atom_steps import ANGLES
from kernelcoding.kernels import Gaussian


@pytest.fixture(scope="module")
def data():
    """All digits in any order: those to come are like those there are."""
    X, y = digits(1797, labels=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def begun(monkeypatch, X, y, **parameters):
    """What trials begin with: vectors and codes; and who judges."""
    found = []

    def trial(model, learner, start, labels, judges, angle):
        found.append((start, judges))

    monkeypatch.setattr(trials, "_trial", trial)
    assert task_driven(**parameters).fit(X, y).training_kept_ == "unsupervised"
    ((start, judges),) = found
    return start, judges


@pytest.mark.parametrize("update", ["auto", "points"])
def test_trials_begin_with_a_dictionary_of_the_other_samples_alone(monkeypatch, update, data):
    """That of a learner who is given no others, with the same random numbers."""
    X, y = (part[:120] for part in data)
    start, judges = begun(monkeypatch, X, y, update=update)
    rng = check_random_state(0)
    assert_array_equal(left_out(Labels.of(y), rng), judges)
    others = np.setdiff1d(np.arange(len(X)), judges)
    alone = kc.KernelDictionaryLearning(
        supervised().coder, n_atoms=12, max_iter=4, tol=0, update=update, random_state=rng
    ).fit(X[others], y[others])
    if update == "points":
        assert_allclose(start.vectors.T, alone.dictionary_.points, atol=1e-6)
    else:
        weights = start.vectors[: len(X)]
        assert not weights[judges].any()
        assert_allclose(weights[others], dense(alone.dictionary_.weights), atol=1e-6)
    assert_allclose(dense(start.codes), alone.transform(X), atol=1e-5)


@pytest.mark.parametrize("update", ["auto", "points"])
def test_what_judges_are_changes_nothing_before_them(monkeypatch, update, data):
    X, y = (part[:120] for part in data)
    parameters = {} if update == "points" else {"n_landmarks": 30, "landmarks": X[90:]}
    start, judges = begun(monkeypatch, X, y, update=update, **parameters)
    changed = X.copy()
    changed[judges] = data[0][200 : 200 + len(judges)]
    again, _ = begun(monkeypatch, changed, y, update=update, **parameters)
    assert_allclose(again.vectors, start.vectors, atol=1e-10)


def test_judges_lose_what_samples_to_come_lose(data):
    """Were their own samples among the atoms, they would lose four times as much."""
    X, y = data
    coder = kc.KernelSparseCoder(Gaussian(gamma=5.0), alpha=0.02)
    model = task_driven(
        coder, n_atoms=140, classifier="logistic", callback=lambda p: p.step == "trial"
    ).fit(X[:240], y[:240])
    (judged,) = model.objective_history_[model.objective_steps_ == "trial"]
    scores = model.decision_function(X[240:])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    to_come = log_loss(y[240:], shares / shares.sum(axis=1, keepdims=True))
    assert 0.5 * to_come < judged < 1.5 * to_come


@pytest.mark.parametrize(("rise", "n_looks"), [(2.1, 1), (1.9, 5)])
def test_a_trial_ends_where_the_loss_has_risen_far(rise, n_looks, monkeypatch, data):
    X, y = (part[:120] for part in data)
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (rise, 1.0))
    model = task_driven().fit(X, y)
    assert model.training_kept_ == "unsupervised"
    assert np.sum(model.objective_steps_ == "trial") == n_looks * len(ANGLES)
    assert model.status_ == "max_iter"


def test_a_dictionary_of_nearly_all_samples_is_not_trained(data):
    """Four of five samples are too few for as many atoms, so there is nothing to judge."""
    X, y = (part[:60] for part in data)
    model = task_driven(n_atoms=50).fit(X, y)
    assert model.training_kept_ == "unsupervised"
    assert "trial" not in model.objective_steps_
    assert task_driven(n_atoms=48).fit(X, y).objective_steps_[-1] in ("trial", "epoch")
