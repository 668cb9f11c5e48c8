"""Which dictionary task-driven training keeps: samples left out decide, at any end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import supervised, task_driven
from kernelcoding.classification.task_driven import fitting, trials


@pytest.fixture(scope="module")
def data():
    X, y = digits(220, labels=True)
    return X[:120], y[:120], X[120:], y[120:]


def test_a_dictionary_that_training_would_not_help_is_kept(monkeypatch, data, capsys):
    X, y, Q, _ = data
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (-0.04, 0.1))
    model = task_driven(verbose=1).fit(X, y)
    assert "loss of samples left out by -0.04 +- 0.1: left" in capsys.readouterr().err
    assert model.training_kept_ == "unsupervised"
    assert "epoch" not in model.objective_steps_
    plain = kc.KernelDictionaryLearning(supervised().coder, n_atoms=12, max_iter=4, tol=0)
    assert_allclose(model.transform(Q), plain.fit(X, y).transform(Q), atol=1e-8)


@pytest.mark.parametrize(
    ("long", "short", "taken"),
    [
        ([1.0, 0.0, 0.5], [0.0, 0.0, 0.0], 0.03),  # the long ones help nobody, the short ones do
        ([0.5, 0.4, 0.6], [0.52, 0.39, 0.59], 0.1),  # the short ones are no better beyond doubt
        ([0.5, 0.4, 0.6], [0.1, 0.1, 0.1], 0.03),
        ([1.1, 1.0, 1.2], [1.0, 0.9, 1.1], None),
    ],
)
def test_samples_left_out_choose_the_length_of_steps(long, short, taken, monkeypatch, data):
    X, y, *_ = data
    lengths, losses = [], {0.1: np.array(long), 0.03: np.array(short)}

    def trial(model, learner, start, labels, judges, angle):
        before = np.array([1.0, 0.9, 1.1])
        return trials.Plan(0.0, 0.1, before), trials.Plan(angle, 0.1, losses[angle])

    teacher = fitting.teacher
    monkeypatch.setattr(trials, "_trial", trial)
    monkeypatch.setattr(trials, "left_out", lambda labels, rng: np.arange(3))
    monkeypatch.setattr(
        fitting, "teacher", lambda *given: lengths.append(given[-1]) or teacher(*given)
    )
    model = task_driven().fit(X, y)
    assert lengths == ([] if taken is None else [taken])
    assert model.training_kept_ == ("unsupervised" if taken is None else "task-driven")


def test_labels_by_chance_are_not_learned_by_heart(data):
    """Training fits them, samples left out say so."""
    X, _, *_ = data
    y = np.random.default_rng(0).integers(0, 3, len(X))
    assert task_driven(max_iter=20, n_atoms=40).fit(X, y).training_kept_ == "unsupervised"


def test_mean_and_error_of_weighted_values():
    rng = np.random.default_rng(3)
    values, weights = rng.normal(size=9), np.array([1, 2, 1, 1, 3, 1, 1, 1, 1.0])
    mean, error = trials.mean_and_error(values, weights)
    assert_allclose(mean, np.average(values, weights=weights))
    equal = trials.mean_and_error(values, np.ones(9))
    assert_allclose(equal[1], np.std(values) / 3.0)
    assert error > 0.0


# Stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ("atoms", "unsupervised"),
        ("trial atoms", "unsupervised"),
        ("trial", "unsupervised"),
        ("epoch", None),
    ],
)
@pytest.mark.parametrize("how", ["callback", "interrupted"])
def test_learning_can_be_stopped_anywhere(step, kept, how, data):
    X, y, Q, labels = data

    def callback(progress):
        if progress.step == step and progress.iteration == 2 - (step == "trial"):
            if how == "interrupted":
                raise KeyboardInterrupt
            return True
        return False

    model = task_driven(callback=callback)
    if how == "interrupted":
        with pytest.warns(UserWarning, match="the best dictionary so far is kept"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.status_ == how
    assert model.training_kept_ == (kept or "task-driven")
    assert model.score(Q, labels) > 0.6
