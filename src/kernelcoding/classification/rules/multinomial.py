"""Scores that are linear in a code, with the logistic loss of all classes at once.

No name stands for this rule: it takes the place of the logistic one where codes look at no labels,
for the last classifier and in task-driven training.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...codes import dense
from ...selection import counting_rows
from ..classifiers import Classifier, LinearClassifier
from ..labels import Labels
from ..losses import multinomial
from ..losses.ridge import NOTHING
from .base import Rule, TrainingCodes
from .linear import LogisticRule

RHOS = np.logspace(0, -4, 9)
LEFT_OUT = 5  # one of so many samples judges


class MultinomialRule(LogisticRule):
    r"""Logistic loss of all classes at once, :math:`\tfrac\rho2\|W\|^2` for codes of scale one.

    Parameters
    ----------
    rho, fit_intercept, class_weight, refit
        As in :class:`~kernelcoding.classification.rules.base.Rule`.
    """

    left_out = Rule.left_out
    labels: Labels
    _chosen: float | None = None

    @classmethod
    def like(cls, rule: LogisticRule, labels: Labels) -> MultinomialRule:
        """With the parameters of a rule of one class against the rest."""
        found = cls(rule.rho, rule.fit_intercept, rule.class_weight, rule.refit)
        found.labels = labels
        return found

    @staticmethod
    def of_joint(rho: float, eta: float, scale: float) -> float:
        """A penalty of the joint objective, where the loss counts ``4 eta`` times, in this one.

        Parameters
        ----------
        rho, eta : float
            Of the joint objective.
        scale : float
            What codes are multiplied by here.
        """
        return rho * scale**2 / (4.0 * eta)

    def choose_rho(self, data: TrainingCodes) -> float:
        """By the loss of samples left out, once: atoms that have seen their labels cannot say."""
        if self._chosen is None:
            rows = counting_rows(len(data.targets), data.sample_weight, above=NOTHING)
            judges = rows[left_out(self.labels.take(rows), data.rng)]
            weight = data.sample_weight.copy()
            weight[judges] *= NOTHING
            others, losses = replace(data, sample_weight=weight), []
            for rho in RHOS:
                scores = self.fit(others, float(rho), exact=False).scores(data.codes[judges])
                members, several = self.labels.members[judges], self.labels.multilabel
                found = multinomial.losses(scores, members, several)
                losses.append(float(data.sample_weight[judges] @ found))
            self._chosen = float(RHOS[int(np.argmin(losses))])
        return self._chosen

    def fit(
        self,
        data: TrainingCodes,
        rho: float,
        before: Classifier | None = None,
        exact: bool = True,
    ) -> LinearClassifier:
        """A quasi-Newton method, from nothing."""
        codes = dense(data.codes)
        scale = scale_of(codes, data.sample_weight)
        weights, bias = multinomial.fit(
            scale * codes,
            self.labels.members,
            data.sample_weight,
            rho,
            self.labels.multilabel,
            intercept=data.intercept,
            exact=exact,
        )
        penalty = 0.5 * rho * float(np.sum(weights**2))
        return LinearClassifier(scale * weights, bias, penalty)


def last_rule(rule: Rule, labels: Labels) -> Rule:
    """The rule of the last classifier, which no code looks at any more.

    One class against the rest is a weak question where atoms are fewer than a few per class.
    """
    if type(rule) is LogisticRule and not labels.multilabel:
        return MultinomialRule.like(rule, labels)
    return rule


def scale_of(codes: NDArray, sample_weight: NDArray | None = None) -> float:
    """What codes are multiplied by to have entries with a mean square of one."""
    squares = np.mean(codes**2, axis=1)
    spread = float(np.sqrt(np.average(squares, weights=sample_weight)))
    return 1.0 / spread if spread > 0.0 else 1.0


def left_out(labels: Labels, rng: np.random.RandomState) -> NDArray:
    """One of five samples, spread over classes."""
    order = rng.permutation(len(labels.members))
    if labels.numbers is not None:
        order = order[np.argsort(labels.numbers[order], kind="stable")]
    return np.sort(order[min(LEFT_OUT // 2, len(order) - 1) :: LEFT_OUT])
