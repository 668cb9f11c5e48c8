"""Answers about samples, all at once or part by part for whoever watches."""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from kernelcoding.own_data.answers import N_STEPS, Answers, answers_of, by_parts
from kernelcoding.own_data.evaluation import evaluated

pandas = pytest.importorskip("pandas")
X, Y = load_iris(return_X_y=True)
ABOUT = {"rejection": {"score": "concentration", "threshold": 0.6}}


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), kc.ResidualClassifier()).fit(X[::3], Y[::3])


def test_parts_say_what_all_at_once_say(model):
    seen = []
    whole = answers_of(model, X, ABOUT)
    parts = answers_of(model, X, ABOUT, lambda *step: seen.append(step))
    for field in fields(Answers):
        expected, found = getattr(whole, field.name), getattr(parts, field.name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=field.name)
    np.testing.assert_array_equal(whole.labels, model.predict(X))
    np.testing.assert_array_equal(whole.known, whole.certainty >= 0.6)
    assert 0 < whole.known.sum() < 150
    assert [step for _, step, _ in seen] == list(range(len(seen)))
    assert seen[-1][1] == seen[-1][2] == 10  # of sixteen samples, the last of six


def test_steps_are_few_however_many_samples_there_are():
    seen = []
    parts = by_parts(np.arange(5000), np.sum, lambda *step: seen.append(step))
    assert len(parts) == len(seen) - 1 == N_STEPS
    assert sum(parts) == np.arange(5000).sum()
    frame = pandas.DataFrame({"a": np.arange(40)})
    sizes = by_parts(frame, len, lambda *step: None)
    assert sizes == by_parts(list(range(40)), len, lambda *step: None) == [16, 16, 8]
    assert by_parts(frame, len, None) == [40]


def test_an_evaluation_prepares_samples_once(model, monkeypatch):
    calls, transform = [], StandardScaler.transform

    def counted(self, X, copy=None):
        calls.append(len(X))
        return transform(self, X, copy)

    alone = evaluated(model, X, Y, ABOUT, "d", "t")
    monkeypatch.setattr(StandardScaler, "transform", counted)
    watched = evaluated(model, X, Y, ABOUT, "d", "t", lambda *step: None)
    assert sum(calls) == 150
    assert watched.accuracy == alone.accuracy
    assert watched.confusion == alone.confusion
