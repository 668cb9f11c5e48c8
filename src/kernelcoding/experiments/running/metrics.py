"""The metrics, in percent: accuracy, and mean average precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier says about n samples."""

    predictions: NDArray | None  # as the targets
    scores: NDArray | None  # (n, S), larger is more likely


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in percent from targets, answers, and what does not count."""

    name: str  # in records
    wants: str  # "predictions" or "scores"
    value: Callable[[NDArray, Answers, NDArray | None], float]
    per_class: Callable[[NDArray, Answers, NDArray | None], NDArray] | None = None


def accuracy(target: NDArray, answers: Answers, ignored: NDArray | None) -> float:
    """Percent of samples whose class is right."""
    return 100.0 * float(np.mean(answers.predictions == target))


def class_precisions(
    precision: Callable[[NDArray, NDArray], float],
    target: NDArray,
    answers: Answers,
    ignored: NDArray | None,
) -> NDArray:
    """Average precision of each class in percent; NaN where no sample has the class."""
    assert answers.scores is not None
    there = indicators(target, answers.scores.shape[1])
    counts = np.ones_like(there) if ignored is None else ~ignored
    precisions = np.full(there.shape[1], np.nan)
    for label, (truth, rows) in enumerate(zip(there.T, counts.T, strict=True)):
        if truth[rows].any():
            precisions[label] = 100.0 * precision(truth[rows], answers.scores[rows, label])
    return precisions


def eleven_points(truth: NDArray, scores: NDArray) -> float:
    """Average precision of VOC2007: mean of the best precision at recalls of 0, 0.1, ..., 1.

    Parameters
    ----------
    truth : (n,) bool
    scores : (n,) array

    Returns
    -------
    float
    """
    precision, recall, _ = precision_recall_curve(truth, scores)
    # The curve's last point, precision 1 at recall 0, is no ranking of samples.
    precision, recall = precision[:-1], recall[:-1]
    levels = np.linspace(0.0, 1.0, 11)
    return float(np.mean([precision[recall >= level - 1e-12].max() for level in levels]))


def indicators(target: NDArray, n_classes: int) -> NDArray:
    """Targets of either kind as (n, S) booleans."""
    if target.ndim == 2:
        return target.astype(bool)
    return target[:, None] == np.arange(n_classes)


def _mean_precision(name: str, precision: Callable[[NDArray, NDArray], float]) -> Metric:
    per_class = partial(class_precisions, precision)
    return Metric(
        name,
        "scores",
        lambda target, answers, ignored: float(np.nanmean(per_class(target, answers, ignored))),
        per_class,
    )


METRICS = {
    "accuracy": Metric("accuracy", "predictions", accuracy),
    "mAP": _mean_precision("mAP", average_precision_score),
    "mAP, eleven points": _mean_precision("mAP", eleven_points),
}
