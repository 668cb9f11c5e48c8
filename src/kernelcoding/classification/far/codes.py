"""Classifiers of codes that stay with the workers: a pass over them for each step.

The codes of one round are kept where they were computed, and dropped with it. Steps for all classes
at once, Newton's method and the quasi-Newton method of the multinomial rule ask for sums alone.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...blocks import Kept
from ...codes import Codes, times, transposed
from ..classifiers import LinearClassifier
from ..losses import multinomial, one_vs_rest
from ..losses.ridge import NOTHING, CodeSums
from ..rules import MaxMarginRule
from . import newton


@dataclass(frozen=True, slots=True)
class LabelledCodes:
    """Some codes, with what a classifier is told of them."""

    codes: Codes  # (n, N)
    targets: NDArray  # (n, S), small integers
    weight: NDArray  # (n,) of the loss of each


class FarCodes:
    """Codes of all samples, which are not here.

    Parameters
    ----------
    kept : Kept
        Parts that are :class:`LabelledCodes`.
    sums : CodeSums
        Of all codes and targets.
    """

    def __init__(self, kept: Kept, sums: CodeSums):
        self.kept = kept
        self.sums = sums

    def loss(self, rule: MaxMarginRule, classifier: LinearClassifier) -> float:
        """Of all samples, with their weights."""
        return self.kept.map_reduce(_loss_of, (rule, classifier), operator.add)

    def fitted(
        self,
        rule: MaxMarginRule,
        regularization: float,
        before: LinearClassifier | None,
    ) -> tuple[NDArray, NDArray]:
        """Weights and intercepts, as :func:`one_vs_rest.minimise` finds them; one step per pass.

        Parameters
        ----------
        rule : MaxMarginRule
            Its loss, and whether there is an intercept.
        regularization : float
        before : LinearClassifier or None
            One that is to be made better; None: the best is wanted.
        """
        n_atoms, n_classes = self.sums.mixed.shape
        start = one_vs_rest.nothing(n_atoms, n_classes)
        if before is not None:
            start = before.weights, before.bias

        def pull(weights: NDArray, bias: NDArray) -> tuple[NDArray, NDArray]:
            return self.kept.map_reduce(_pull_of, (rule, weights, bias), plus)

        found = one_vs_rest.descend(self.sums, pull, regularization, rule.fit_intercept, start)
        if before is not None:
            return found
        return newton.finished(self.kept, rule, regularization, *found)

    @property
    def scale(self) -> float:
        """What codes are multiplied by to have entries with a mean square of one."""
        count = self.sums.total * len(self.sums.codes)
        spread = float(np.sqrt(np.trace(self.sums.second) / count))
        return 1.0 / spread if spread > 0.0 else 1.0

    def multinomial(self, rho: float, intercept: bool) -> LinearClassifier:
        """The logistic classifier of all classes at once.

        Steps are scaled by the curvature that the loss has at scores of zero, so that few passes
        are enough.
        """
        scale, total = self.scale, self.sums.total
        n_atoms, n_classes = self.sums.mixed.shape

        def of_all(weights: NDArray, bias: NDArray) -> tuple[float, NDArray, NDArray]:
            state = (scale * weights, bias)
            loss, step, shift = self.kept.map_reduce(_slopes_of, state, plus)
            return loss / total, scale * step / total, shift / total

        weights, bias = multinomial.descend(
            of_all,
            np.zeros((n_atoms + 1, n_classes)),
            rho,
            intercept,
            exact=True,
            scaling=self._scaling(rho, scale, intercept),
        )
        penalty = 0.5 * rho * float(np.sum(weights**2))
        return LinearClassifier(scale * weights, bias, penalty)

    def _scaling(self, rho: float, scale: float, intercept: bool) -> NDArray:
        """C with ``C' H C = 1`` for the curvature H of one class, intercept last."""
        total, n_classes = self.sums.total, self.sums.mixed.shape[1]
        curvature = (n_classes - 1) / n_classes**2
        last = scale * self.sums.codes * intercept / total
        moments = np.block(
            [[scale**2 * self.sums.second / total, last[:, None]], [last[None, :], np.ones((1, 1))]]
        )
        matrix = curvature * moments
        matrix[np.diag_indices_from(matrix)] += np.append(np.full(len(last), rho), NOTHING)
        factor = linalg.cholesky(matrix, lower=True)
        return linalg.solve_triangular(factor, np.eye(len(factor)), lower=True).T


def plus(left: tuple, right: tuple) -> tuple:
    """Sums of what two answers hold, one by one."""
    return tuple(one + other for one, other in zip(left, right, strict=True))


def _loss_of(part: LabelledCodes, rule: MaxMarginRule, classifier: LinearClassifier) -> float:
    scores = times(part.codes, classifier.weights) + classifier.bias
    return float(part.weight @ rule.loss(scores, part.targets))


def _pull_of(
    part: LabelledCodes, rule: MaxMarginRule, weights: NDArray, bias: NDArray
) -> tuple[NDArray, NDArray]:
    """Sums of codes times surrogate targets, and of these."""
    targets = rule.surrogate_targets(times(part.codes, weights) + bias, part.targets)
    weighted = targets * part.weight[:, None]
    return times(transposed(part.codes), weighted), weighted.sum(axis=0)


def _slopes_of(
    part: LabelledCodes, weights: NDArray, bias: NDArray
) -> tuple[float, NDArray, NDArray]:
    """The multinomial loss, and its slopes."""
    members = part.targets > 0
    return multinomial.summed(part.codes, members, part.weight, False, weights, bias)
