"""From an unsupervised dictionary to one that serves a classifier, or back to the first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...dictionary_learning.frames import Frame, LandmarkFrame
from ...dictionary_learning.learner import AtomLearner, Snapshot
from ...dictionary_learning.loop import Alternation, HalfStep, Outcome, Progress
from ...dictionary_learning.point_learner import PointLearner
from ..labels import Labels
from ..learner import SupervisedLearner, Supervision
from ..rules import LogisticRule
from .atom_steps import ANGLES
from .augmentation import Augment, Augmentation
from .checks import TASK_DRIVEN
from .multinomial import MultinomialRule, left_out
from .points import PointFrame
from .training import Lesson, TaskDriven

# Standard errors that the loss of samples left out must fall by. With noisy labels it hardly
# changes while codes get worse.
LEAST = 0.5
UNSUPERVISED = "unsupervised"


class PlainLearner(SupervisedLearner):
    """Atoms learned without labels, for a classifier that comes later."""

    code = AtomLearner.code

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning, without a classifier."""
        return super(SupervisedLearner, self).steps

    def with_rule(self, best: Snapshot) -> Snapshot:
        """The same atoms with the rule's classifier of their codes."""
        self.eta = 1.0  # no error is weighed against the loss
        if isinstance(self.rule, LogisticRule):
            self.rule = MultinomialRule.like(self.rule, self.wanted.labels)
        data = self.training_codes(best.now.codes, best.now.vectors)
        self.rho = self.rule.choose_rho(data) if self.rho is None else self.rho
        found = self.rule.fit(data, self.rho)
        return best._replace(now=replace(best.now, classifier=found))


def of_points(
    learner: PointLearner,
    outcome: Outcome,
    supervision: Callable[[Frame], Supervision],
    rng: np.random.RandomState,
) -> tuple[PlainLearner, Outcome]:
    """Points learned without labels, as training takes them: columns of a frame."""
    frame, points = PointFrame.of(learner), np.asfortranarray(outcome.best.now.vectors.T)
    plain = PlainLearner(
        frame, points, learner.formulation, learner.options, supervision(frame), rng
    )
    best = outcome.best._replace(now=outcome.best.now.with_atoms(points))
    return plain, replace(outcome, best=best)


class Trained(NamedTuple):
    """What training leaves behind."""

    best: Snapshot
    kept: str  # "task-driven", or "unsupervised" where training did not help


class Trainee(Protocol):
    """What training asks of an estimator, and what it leaves there."""

    max_iter: int
    augment: Augment | None
    callback: Callable[[Progress], object] | None
    verbose: int
    objective_history_: NDArray
    objective_steps_: NDArray
    n_iter_: int
    status_: str


def train(model: Trainee, learner: PlainLearner, outcome: Outcome, labels: Labels) -> Trained:
    """Train the atoms of an outcome; figures of the model grow as by any run of the loop.

    Trials on four of five samples, one for each length of steps, say whether the loss of the others
    falls by more than half its standard error. Their labels choose the weight of the classifier's
    penalty, the length, and which of the dictionaries is kept; the last training, on all samples,
    starts anew.
    """
    control = Trained(learner.with_rule(outcome.best), UNSUPERVISED)
    if outcome.status in ("interrupted", "callback"):
        return control
    try:
        plan = _plan(model, learner, control.best, labels)
        if plan is None:
            return control
        everyone = np.arange(len(labels.members))
        taught = _teacher(model, learner, control.best, labels, everyone, plan.angle)
        taught.rho = plan.rho
        found = _run(model, ("codes", taught.fit), ("epoch", taught.epoch), taught)
    except KeyboardInterrupt:  # there is a dictionary already
        model.status_ = "interrupted"
        outcome.interrupted(stacklevel=4, where="while atoms were trained for the classifier")
        return control
    return Trained(found.best, TASK_DRIVEN) if found.n_iter > 0 else control


class Plan(NamedTuple):
    """What a trial has left: how to train, and what that did to samples left out."""

    angle: float  # of the largest steps; 0: no training
    rho: float  # penalty of the classifier
    losses: NDArray  # of the samples left out


def _plan(model: Trainee, learner: PlainLearner, control: Snapshot, labels: Labels) -> Plan | None:
    """The best of the trials, where training helps samples that it does not see.

    Steps of a length must beat what was best before them, no training at first, beyond doubt.
    """
    judges = left_out(labels, learner.rng)
    best: Plan | None = None
    for angle in ANGLES:
        found = _trial(model, learner, control, labels, judges, angle)
        if found is None:
            return None
        before, after = found
        best = before if best is None else best
        rise, error = mean_and_error(after.losses - best.losses, learner.loss_weight[judges])
        helps = rise < -LEAST * error
        if model.verbose > 0:
            sys.stderr.write(
                f"steps of {angle:g} radian change the loss of samples left out by {rise:.3g} +- "
                f"{error:.2g}: {'taken' if helps else 'left'}\n"
            )
        best = after if helps else best
    return best if best is not None and best.angle > 0.0 else None


def _trial(
    model: Trainee,
    learner: PlainLearner,
    control: Snapshot,
    labels: Labels,
    judges: NDArray,
    angle: float,
) -> tuple[Plan, Plan] | None:
    """Samples left out before training and after it; None where it was stopped."""
    others = np.setdiff1d(np.arange(len(labels.members)), judges)
    taught = _teacher(model, learner, control, labels, others, angle)
    before: list[Plan] = []

    def begin() -> float:
        loss = taught.choose_rho(judges)
        before.append(Plan(0.0, taught.rho, taught.losses(judges)))
        return loss

    def epoch() -> float:
        taught.epoch()
        return taught.mean_loss(judges)

    found = _run(model, ("trial", begin), ("trial", epoch), taught)
    if found.status != "max_iter":
        return None
    return before[0], Plan(angle, taught.rho, taught.losses(judges))


def mean_and_error(values: NDArray, weights: NDArray) -> tuple[float, float]:
    """Weighted mean, and its standard error."""
    shares = weights / weights.sum()
    mean = float(shares @ values)
    return mean, float(np.sqrt(shares**2 @ (values - mean) ** 2))


def _teacher(
    model: Trainee,
    learner: PlainLearner,
    start: Snapshot,
    labels: Labels,
    rows: NDArray,
    angle: float,
) -> TaskDriven:
    others = None
    if model.augment is not None:
        assert isinstance(learner.frame, (LandmarkFrame, PointFrame))
        others = Augmentation(model.augment, learner.frame.X, learner.rng)
    lesson = Lesson(labels, learner.loss_weight, rows, others)
    return TaskDriven(learner, start.now, lesson, model.max_iter, angle, learner.rng)


def _run(
    model: Trainee,
    first: HalfStep,
    step: HalfStep,
    taught: TaskDriven,
) -> Outcome:
    """Epochs; their figures are added to those of the rounds before."""
    outcome = Alternation(model.max_iter, -np.inf, model.callback, model.verbose).run(
        first, [step], taught.snapshot
    )
    model.objective_history_ = np.append(model.objective_history_, outcome.history)
    model.objective_steps_ = np.append(model.objective_steps_, outcome.steps)
    model.n_iter_ += outcome.n_iter
    model.status_ = outcome.status
    return outcome
