"""Which samples a model should not be believed about, judged on samples it was not fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from ..classification import ResidualClassifier
from ..model_search import Task
from ..model_search.folds import drawn, one_split

REJECTED = 0.05  # part of the samples left out that the threshold turns away
MOST_ROWS = 2000
CONCENTRATION, PROBABILITY = "concentration", "probability"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Samples that score less than a threshold are not known.

    Attributes
    ----------
    score : str
        "concentration" of codes on one class, or the largest "probability".
    threshold : float
        One in twenty samples left out scores less.
    """

    score: str
    threshold: float

    def as_json(self) -> dict[str, str | float]:
        """Words and numbers."""
        return {"score": self.score, "threshold": self.threshold, "rejected": REJECTED}

    @classmethod
    def read(cls, about: Any) -> Rejection | None:
        """What a model file says; None where it says nothing that makes sense."""
        if not isinstance(about, dict):
            return None
        score, threshold = about.get("score"), about.get("threshold")
        if score not in (CONCENTRATION, PROBABILITY) or not isinstance(threshold, (int, float)):
            return None
        return cls(str(score), float(threshold))


def certainty(
    model: BaseEstimator, X: ArrayLike, probabilities: NDArray | None = None
) -> NDArray | None:
    """How sure a model is of samples: the larger, the surer; None if it cannot say.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like
        Samples as it takes them.
    probabilities : array, default=None
        Its probabilities for them, where they are known already.
    """
    if isinstance(model, ResidualClassifier):
        return model.concentration(X)
    if probabilities is None and hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
    return None if probabilities is None else probabilities.max(axis=1)


def rejection_of(task: Task, build: Callable[[int], BaseEstimator]) -> Rejection | None:
    """The threshold that turns one in twenty samples away, on a part left out.

    Parameters
    ----------
    task : Task
    build : callable
        The number of training samples to an estimator.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            part = one_split(drawn(task, MOST_ROWS))
            model = build(len(part.y)).fit(part.X, part.y)
            scores = certainty(model, part.queries)
        except ValueError:
            return None
    if scores is None or not len(scores):
        return None
    score = CONCENTRATION if isinstance(model, ResidualClassifier) else PROBABILITY
    return Rejection(score, float(f"{np.quantile(scores, REJECTED):.6g}"))
