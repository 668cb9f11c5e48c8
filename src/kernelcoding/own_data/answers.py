"""What a fitted model says of samples: labels, scores, probabilities, and whether it knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .rejection import Rejection, certainty


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers about samples, one row each; what a model cannot say is None.

    Attributes
    ----------
    labels : array of shape (n,) or (n, n_classes)
    classes : array or None
    scores : array or None
    probabilities : array of shape (n, n_classes) or None
    certainty : array of shape (n,) or None
        How sure the model is: of codes their concentration, else the largest probability.
    known : array of bool or None
        Whether a sample is like those the model learned from.
    """

    labels: NDArray
    classes: NDArray | None = None
    scores: NDArray | None = None
    probabilities: NDArray | None = None
    certainty: NDArray | None = None
    known: NDArray | None = None


def answers_of(model: BaseEstimator, X: Any, about: Mapping[str, Any]) -> Answers:
    """All that a model says.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : samples as the model takes them
    about : mapping
        What its file says about it, with the threshold of rejection.
    """
    before, last = None, model
    if isinstance(model, Pipeline):
        before, last = model[:-1], model.steps[-1][1]
    if before is not None and len(before.steps):
        X = before.transform(X)
    labels = np.asarray(last.predict(X))
    scores = last.decision_function(X) if hasattr(last, "decision_function") else None
    if labels.ndim != 1:
        return Answers(labels, scores=scores)
    classes = getattr(last, "classes_", None)
    probabilities = last.predict_proba(X) if hasattr(last, "predict_proba") else None
    rejection = Rejection.read(about.get("rejection"))
    sure = known = None
    if rejection is not None:
        sure = certainty(last, X)
        known = None if sure is None else sure >= rejection.threshold
    return Answers(labels, classes, scores, probabilities, sure, known)
