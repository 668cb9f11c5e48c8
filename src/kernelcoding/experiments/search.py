"""Settings by cross-validation on the training part, which is all that is handed in here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from .asking import ask, fit
from .definition import Folds, Method, Settings
from .material import Training
from .metrics import Metric
from .models import Encoded


@dataclass(frozen=True, slots=True)
class Lesson:
    """The training part as a search sees it."""

    training: Callable[[float | None], Training]  # at a width
    target: NDArray
    ignored: NDArray | None
    n_classes: int
    folds: Folds
    metric: Metric


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, how well it did in cross-validation, and what lies at an edge."""

    settings: Settings
    score: float | None  # percent; None: there was nothing to choose
    at_edge: tuple[str, ...] = ()


def choose(method: Method, lesson: Lesson, size: int | None) -> Choice:
    """The settings with the best mean over the folds, the first of equals.

    Parameters
    ----------
    method : Method
    lesson : Lesson
    size : int or None
        Atoms at the end; folds have as many in proportion to their samples.

    Returns
    -------
    choice : Choice
    """
    points = list(points_of(method))
    if len(points) == 1:
        return Choice(points[0], None)
    scores = np.zeros(len(points))
    for width in dict.fromkeys(point.get("width") for point in points):
        training = lesson.training(width)
        for fold in lesson.folds:
            for number, score in _fold_scores(method, lesson, size, width, training, fold):
                scores[number] += score / len(lesson.folds)
    best = int(scores.argmax())
    return Choice(points[best], float(scores[best]), _edges(method, points[best]))


def points_of(method: Method) -> Iterator[dict[str, Any]]:
    """All points of the search space, those that share an encoder together."""
    for own in ParameterGrid(dict(method.space)):
        for head in ParameterGrid(dict(method.head_space)):
            yield {**own, **head}


def atoms_for(size: int | None, n_fitted: int, n_train: int) -> int:
    """Number of atoms for part of the training samples."""
    if size is None:
        return n_fitted
    return max(1, min(n_fitted, round(size * n_fitted / n_train)))


def _fold_scores(method, lesson, size, width, training, fold) -> Iterator[tuple[int, float]]:
    """Number of each point at this width, and its score in this fold."""
    fitted, asked = fold
    n_atoms = atoms_for(size, len(fitted), len(lesson.target))
    X, y = training.fitted(fitted), lesson.target[fitted]
    Q = training.asked(asked, fitted)
    ignored = None if lesson.ignored is None else lesson.ignored[asked]
    number = 0
    for own in ParameterGrid(dict(method.space)):
        heads = list(ParameterGrid(dict(method.head_space)))
        if own.get("width") == width:
            model = fit(method.build(own, n_atoms), X, y)
            for offset, answers in _answers(method, own, heads, model, (X, y, Q), lesson):
                yield number + offset, lesson.metric.value(lesson.target[asked], answers, ignored)
        number += len(heads)


def _answers(method, own, heads, model, arrays, lesson):
    """Answers of a fitted estimator, or of every head on its codes."""
    X, y, Q = arrays
    if method.head is None:
        yield 0, ask(model, Q, lesson.metric, lesson.n_classes)
        return
    codes, asked = model.transform(X), model.transform(Q)
    for offset, point in enumerate(heads):
        head = method.head({**own, **point}).fit(codes, y)
        yield offset, ask(head, asked, lesson.metric, lesson.n_classes)


def build(method: Method, settings: Settings, n_atoms: int) -> Any:
    """The whole estimator for some settings.

    Parameters
    ----------
    method : Method
    settings : mapping
        A point of the search space.
    n_atoms : int

    Returns
    -------
    estimator
    """
    estimator = method.build(settings, n_atoms)
    return estimator if method.head is None else Encoded(estimator, method.head(settings))


def _edges(method: Method, point: Settings) -> tuple[str, ...]:
    """Numbers at the end of their list: a better value may lie beyond."""
    return tuple(
        name
        for name, values in {**method.space, **method.head_space}.items()
        if len(values) > 2
        and all(isinstance(value, (int, float)) for value in values)
        and point[name] in (min(values), max(values))
    )
