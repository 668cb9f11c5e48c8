"""From an unsupervised dictionary to one that serves a classifier, or back to the first."""

from __future__ import annotations

from typing import NamedTuple

from ...dictionary_learning.half_steps.learner import Snapshot
from ...dictionary_learning.loop import Outcome
from ...selection import counting_rows
from ..labels import Labels
from ..losses.ridge import NOTHING
from .checks import TASK_DRIVEN
from .plain import PlainLearner
from .running import Trainee, run, teacher
from .trials import best_plan

UNSUPERVISED = "unsupervised"


class Trained(NamedTuple):
    """What training leaves behind."""

    best: Snapshot
    kept: str  # "task-driven", or "unsupervised" where training did not help


def train(model: Trainee, learner: PlainLearner, outcome: Outcome, labels: Labels) -> Trained:
    """Train the atoms of an outcome; figures of the model grow as by any run of the loop.

    Trials on four of five samples, one for each length of steps, say whether the loss of the others
    falls by more than half its standard error. They begin with a dictionary that has not seen these
    either. Labels of the others choose the weight of the classifier's penalty, the length, and
    which of the dictionaries is kept; the last training, on all samples, starts from the outcome.
    """
    control = Trained(learner.with_rule(outcome.best), UNSUPERVISED)
    if outcome.status in ("interrupted", "callback"):
        return control
    try:
        plan = best_plan(model, learner, labels)
        if plan is None:
            return control
        everyone = counting_rows(len(labels.members), learner.loss_weight, above=NOTHING)
        taught = teacher(model, learner, control.best.now, labels, everyone, plan.angle)
        taught.rho = plan.rho
        found = run(model, ("codes", taught.fit), [("epoch", taught.epoch)], taught.snapshot)
    except KeyboardInterrupt:  # there is a dictionary already
        model.status_ = "interrupted"
        outcome.interrupted(stacklevel=4, where="while atoms were trained for the classifier")
        return control
    return Trained(found.best, TASK_DRIVEN) if found.n_iter > 0 else control
