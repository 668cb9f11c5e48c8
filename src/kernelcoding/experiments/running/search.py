"""Settings by cross-validation on the training part; the test part is not handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import ParameterGrid

from ..definition import Folds, Method, Settings
from .classifiers import Encoded
from .estimator_inputs import TrainingInputs
from .fit_and_predict import answers_of, fit_to_the_end
from .metrics import Answers, Metric


@dataclass(frozen=True, slots=True)
class SearchTask:
    """The training part as a search sees it."""

    training: Callable[[float | None], TrainingInputs]  # at a width
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


def choose_settings(method: Method, task: SearchTask, size: int | None) -> Choice:
    """The settings with the best mean over the folds, the first of equals.

    Parameters
    ----------
    method : Method
    task : SearchTask
    size : int or None
        Atoms at the end; folds have as many in proportion to their samples.

    Returns
    -------
    choice : Choice
    """
    points = list(search_points(method))
    if len(points) == 1:
        return Choice(points[0], None)
    scores = np.zeros(len(points))
    for width in dict.fromkeys(point.get("width") for point in points):
        training = task.training(width)
        for fold in task.folds:
            for number, score in _fold_scores(method, task, size, width, training, fold):
                scores[number] += score / len(task.folds)
    best = int(scores.argmax())
    return Choice(points[best], float(scores[best]), _edges(method, points[best]))


def search_points(method: Method) -> Iterator[Settings]:
    """All points of the search space, those that share an encoder together."""
    for own in ParameterGrid(dict(method.space)):
        for head in ParameterGrid(dict(method.head_space)):
            yield {**own, **head}


def atoms_for(size: int | None, n_fitted: int, n_train: int) -> int:
    """Number of atoms for part of the training samples."""
    if size is None:
        return n_fitted
    return max(1, min(n_fitted, round(size * n_fitted / n_train)))


def _fold_scores(
    method: Method,
    task: SearchTask,
    size: int | None,
    width: float | None,
    training: TrainingInputs,
    fold: tuple[NDArray, NDArray],
) -> Iterator[tuple[int, float]]:
    """Number of each point at this width, and its score in this fold."""
    fitted, asked = fold
    n_atoms = atoms_for(size, len(fitted), len(task.target))
    X, y = training.fitted(fitted), task.target[fitted]
    Q = training.asked(asked, fitted)
    ignored = None if task.ignored is None else task.ignored[asked]
    number = 0
    for own in ParameterGrid(dict(method.space)):
        heads = list(ParameterGrid(dict(method.head_space)))
        if own.get("width") == width:
            model = fit_to_the_end(method.build(own, n_atoms), X, y)
            for offset, answers in _answers(method, own, heads, model, (X, y, Q), task):
                yield number + offset, task.metric.value(task.target[asked], answers, ignored)
        number += len(heads)


def _answers(
    method: Method,
    own: Settings,
    heads: list[Settings],
    model: BaseEstimator,
    arrays: tuple[NDArray, NDArray, NDArray],
    task: SearchTask,
) -> Iterator[tuple[int, Answers]]:
    """Answers of a fitted estimator, or of every head on its codes."""
    X, y, Q = arrays
    if method.head is None:
        yield 0, answers_of(model, Q, task.metric, task.n_classes)
        return
    codes, asked = model.transform(X), model.transform(Q)
    for offset, point in enumerate(heads):
        head = method.head({**own, **point}).fit(codes, y)
        yield offset, answers_of(head, asked, task.metric, task.n_classes)


def build_estimator(method: Method, settings: Settings, n_atoms: int) -> BaseEstimator:
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
