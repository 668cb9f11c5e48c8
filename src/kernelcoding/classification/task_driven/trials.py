"""Whether training helps samples that neither it nor its first atoms have seen."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dictionary_learning.state import Candidate
from ...selection import counting_rows
from ..labels import Labels
from ..losses.ridge import NOTHING
from ..rules.multinomial import left_out
from .atom_steps import ANGLES
from .plain import PlainLearner
from .running import Trainee, run, teacher
from .unseen import learned_without

# Standard errors that the loss of samples left out must fall by. With noisy labels it hardly
# changes while codes get worse.
LEAST = 0.5
# Standard errors above the loss before training that end a trial: few come back from there.
HOPELESS = 2.0


class Plan(NamedTuple):
    """What a trial has left: how to train, and what that did to samples left out."""

    angle: float  # of the largest steps; 0: no training
    rho: float  # penalty of the classifier
    losses: NDArray  # of the samples left out


def best_plan(model: Trainee, learner: PlainLearner, labels: Labels) -> Plan | None:
    """The best of the trials, where training helps samples that it does not see.

    Steps of a length must beat what was best before them, no training at first, beyond doubt.
    """
    rows = counting_rows(len(labels.members), learner.loss_weight, above=NOTHING)
    judges = rows[left_out(labels.take(rows), learner.rng)]
    start = learned_without(model, learner, labels, judges)
    if start is None:
        return None
    weight = learner.loss_weight[judges]
    best: Plan | None = None
    for angle in ANGLES:
        found = _trial(model, learner, start, labels, judges, angle)
        if found is None:
            return None
        before, after = found
        best = before if best is None else best
        rise, error = mean_and_error(after.losses - best.losses, weight)
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
    start: Candidate,
    labels: Labels,
    judges: NDArray,
    angle: float,
) -> tuple[Plan, Plan] | None:
    """Samples left out before training and after it; None where it was stopped.

    It ends early where their loss has risen far.
    """
    rows = counting_rows(len(labels.members), learner.loss_weight, above=NOTHING)
    others = np.setdiff1d(rows, judges)
    taught = teacher(model, learner, start, labels, others, angle)
    weight = learner.loss_weight[judges]
    before: list[Plan] = []

    def begin() -> float:
        loss = taught.choose_rho(judges)
        before.append(Plan(0.0, taught.rho, taught.losses(judges)))
        return loss

    def epoch() -> float:
        taught.epoch()
        return taught.mean_loss(judges)

    def is_hopeless() -> bool:
        rise, error = mean_and_error(taught.losses(judges) - before[0].losses, weight)
        return rise > HOPELESS * error

    steps = ("trial", begin), [("trial", epoch)]
    found = run(model, *steps, taught.snapshot, enough=is_hopeless)
    if found.status != "max_iter":
        return None
    return before[0], Plan(angle, taught.rho, taught.losses(judges))


def mean_and_error(values: NDArray, weights: NDArray) -> tuple[float, float]:
    """Weighted mean, and its standard error."""
    shares = weights / weights.sum()
    mean = float(shares @ values)
    return mean, float(np.sqrt(shares**2 @ (values - mean) ** 2))
