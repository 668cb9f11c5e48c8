"""Runs of epochs: who trains, and where the figures go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...blocks import Blocks
from ...dictionary_learning.half_steps.learner import Snapshot
from ...dictionary_learning.loop import Alternation, HalfStep, Outcome, Progress
from ...dictionary_learning.state import Candidate
from ..labels import Labels
from .augmentation import Augment, Augmentation
from .plain import PlainLearner
from .training import Lesson, TaskDriven


class Trainee(Protocol):
    """What training asks of an estimator, and what it leaves there."""

    max_iter: int
    tol: float
    init: str
    augment: Augment | None
    callback: Callable[[Progress], object] | None
    verbose: int
    objective_history_: NDArray
    objective_steps_: NDArray
    n_iter_: int
    status_: str


def teacher(
    model: Trainee,
    learner: PlainLearner,
    start: Candidate,
    labels: Labels,
    rows: NDArray,
    angle: float,
) -> TaskDriven:
    """Who trains first atoms on some samples, with steps of a length."""
    others = None
    if model.augment is not None:
        samples = learner.frame.stack
        assert not isinstance(samples, Blocks)
        others = Augmentation(model.augment, samples, learner.rng)
    lesson = Lesson(labels, learner.loss_weight, rows, others)
    return TaskDriven(learner, start, lesson, model.max_iter, angle, learner.rng)


def run(
    model: Trainee,
    first: HalfStep,
    steps: Sequence[HalfStep],
    snapshot: Callable[[], Snapshot],
    tol: float = -np.inf,
    enough: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Rounds of half-steps; their figures are added to those of the rounds before.

    Parameters
    ----------
    model : Trainee
    first, steps, snapshot, tol
        As in :class:`~kernelcoding.dictionary_learning.loop.Alternation`.
    enough : callable
        Asked after every half-step; a true answer ends the rounds as if they were the last.
    """
    stopped = False

    def callback(progress: Progress) -> bool:
        nonlocal stopped
        stopped |= model.callback is not None and bool(model.callback(progress))
        return stopped or enough()

    outcome = Alternation(model.max_iter, tol, callback, model.verbose).run(first, steps, snapshot)
    if outcome.status == "callback" and not stopped:
        outcome.status = "max_iter"
    model.objective_history_ = np.append(model.objective_history_, outcome.history)
    model.objective_steps_ = np.append(model.objective_steps_, outcome.steps)
    model.n_iter_ += outcome.n_iter
    model.status_ = outcome.status
    return outcome
