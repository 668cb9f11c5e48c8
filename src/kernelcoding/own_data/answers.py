"""What a fitted model says of samples: labels, scores, probabilities, and whether it knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..model_search import Watch
from ..model_search.folds import taken
from .parts import prepared_by, split_off_last
from .rejection import Rejection, certainty

Result = TypeVar("Result")
N_STEPS = 50  # of a bar
FEWEST = 16  # samples that are worth a step


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


def answers_of(
    model: BaseEstimator, X: Any, about: Mapping[str, Any], watch: Watch | None = None
) -> Answers:
    """All that a model says.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : samples as the model takes them
    about : mapping
        What its file says about it, with the threshold of rejection.
    watch : callable, default=None
        Told how many steps are done and how many there are.
    """
    before, last = split_off_last(model)

    def answer(samples: Any) -> Answers:
        return last_answers(last, prepared_by(before, samples), about)

    return _joined(by_parts(X, answer, watch))


def by_parts(X: Any, function: Callable[[Any], Result], watch: Watch | None) -> list[Result]:
    """A function of samples, a part of them after the other; of all at once if nobody watches.

    Parameters
    ----------
    X : array, data frame or list
        Samples.
    function : callable
        Of some of them.
    watch : callable or None
        Told how many steps are done and how many there are.
    """
    if watch is None:
        return [function(X)]
    size = max(FEWEST, -(-len(X) // N_STEPS))
    starts = range(0, len(X), size)
    found = []
    for step, start in enumerate(starts):
        watch("samples", step, len(starts))
        rows = slice(start, start + size)
        found.append(function(X[rows] if isinstance(X, list) else taken(X, rows)))
    watch("samples", len(starts), len(starts))
    return found


def last_answers(last: BaseEstimator, X: Any, about: Mapping[str, Any]) -> Answers:
    """All that the last step of a model says of samples as it takes them."""
    labels = np.asarray(last.predict(X))
    scores = last.decision_function(X) if hasattr(last, "decision_function") else None
    if labels.ndim != 1:
        return Answers(labels, scores=scores)
    classes = getattr(last, "classes_", None)
    probabilities = last.predict_proba(X) if hasattr(last, "predict_proba") else None
    sure = certainty(last, X, probabilities)
    rejection = Rejection.read(about.get("rejection"))
    known = None if rejection is None or sure is None else sure >= rejection.threshold
    return Answers(labels, classes, scores, probabilities, sure, known)


def _joined(parts: list[Answers]) -> Answers:
    first = parts[0]
    if len(parts) == 1:
        return first
    whole = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Answers)
        if getattr(first, field.name) is not None and field.name != "classes"
    }
    return Answers(**whole, classes=first.classes)
