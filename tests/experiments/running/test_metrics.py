"""Metrics against walks down a ranking, and against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score

from kernelcoding.experiments.running.metrics import METRICS, Answers, eleven_points


def slow_eleven_points(truth, scores):
    """Walk down the ranking, as the development kit does (scores without ties)."""
    hits, curve = 0, []
    for rank, sample in enumerate(np.argsort(-scores), start=1):
        hits += truth[sample]
        curve.append((hits / truth.sum(), hits / rank))
    best = [max(p for r, p in curve if r >= level / 10 - 1e-9) for level in range(11)]
    return sum(best) / 11


@pytest.mark.parametrize("positives", [1, 3, 17])
def test_eleven_points_equal_a_walk_down_the_ranking(rng, positives):
    truth = np.arange(40) < positives
    for _ in range(5):
        scores = rng.normal(size=40)
        assert eleven_points(truth, scores) == pytest.approx(slow_eleven_points(truth, scores))


def test_difficult_samples_and_absent_classes_do_not_count(rng):
    target = rng.random((30, 4)) < 0.4
    target[:, 3] = False
    difficult = (rng.random((30, 4)) < 0.2) & ~target
    answers = Answers(None, rng.normal(size=(30, 4)))
    metric = METRICS["mAP"]
    per_class = metric.per_class(target, answers, difficult)
    expected = []
    for label in range(3):
        kept = ~difficult[:, label]
        score = average_precision_score(target[kept, label], answers.scores[kept, label])
        expected.append(100 * score)
    assert_allclose(per_class[:3], expected)
    assert np.isnan(per_class[3])
    assert metric.value(target, answers, difficult) == pytest.approx(np.mean(expected))
    assert metric.value(target, answers, None) != pytest.approx(np.mean(expected))


def test_one_label_per_sample_is_an_indicator_for_precision(rng):
    y = rng.integers(0, 3, 20)
    answers = Answers(None, rng.normal(size=(20, 3)))
    both = [METRICS["mAP"].value(target, answers, None) for target in (y, np.eye(3, dtype=int)[y])]
    assert both[0] == both[1]
    assert METRICS["accuracy"].value(y, Answers(np.where(y == 0, 1, y), None), None) == (
        100 * np.mean(y != 0)
    )
