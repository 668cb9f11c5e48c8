"""Learning without labels, for a classifier that comes later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...dictionary_learning.frames import Frame
from ...dictionary_learning.half_steps.learner import AtomLearner, Snapshot
from ...dictionary_learning.half_steps.point_learner import PointLearner
from ...dictionary_learning.loop import HalfStep, Outcome
from ..joint.learner import SupervisedLearner, Supervision
from ..rules import LogisticRule
from ..rules.multinomial import MultinomialRule
from .points import PointFrame


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
