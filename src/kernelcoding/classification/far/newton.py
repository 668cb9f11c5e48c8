"""Newton's method for classes against the rest, of codes that stay with the workers.

The steps are those of :func:`one_vs_rest.newton`. Several classes take theirs in the same pass,
which brings along what the next step needs; another one is needed only where a step was too long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...blocks import Kept
from ...codes import times
from ..losses.one_vs_rest import FLAT, HALVINGS, STEPS
from ..losses.ridge import CodeSums
from ..rules import MaxMarginRule

if TYPE_CHECKING:
    from .codes import LabelledCodes

ANSWER = 2**25  # bytes of sums that one pass brings: so many classes go together


@dataclass(frozen=True, slots=True)
class Parabolas:
    """What some samples add to the loss of each class, and to the parabola it looks like there."""

    losses: NDArray  # (B,)
    sums: tuple[CodeSums, ...]

    def plus(self, other: Parabolas) -> Parabolas:
        """What both add."""
        sums = (one.plus(two) for one, two in zip(self.sums, other.sums, strict=True))
        return Parabolas(self.losses + other.losses, tuple(sums))


def finished(
    kept: Kept, rule: MaxMarginRule, regularization: float, weights: NDArray, bias: NDArray
) -> tuple[NDArray, NDArray]:
    """Weights and intercepts at the minimum, from where they are.

    Parameters
    ----------
    kept : Kept
        Parts that are ``LabelledCodes``.
    rule : MaxMarginRule
        Its losses, and whether there is an intercept.
    regularization : float
    weights : array of shape (N, S)
    bias : array of shape (S,)
    """
    n_atoms, n_classes = weights.shape
    together = max(1, ANSWER // (8 * n_atoms**2))
    weights, bias = weights.copy(), bias.copy()
    for first in range(0, n_classes, together):
        some = np.arange(first, min(first + together, n_classes))
        search = Search(kept, rule, regularization, some, weights[:, some], bias[some])
        weights[:, some], bias[some] = search.run()
    return weights, bias


class Search:
    """Newton's method for a few classes.

    Parameters
    ----------
    kept, rule, regularization
        As in :func:`finished`.
    classes : array of int
    weights : array of shape (N, B)
    bias : array of shape (B,)
    """

    def __init__(
        self,
        kept: Kept,
        rule: MaxMarginRule,
        regularization: float,
        classes: NDArray,
        weights: NDArray,
        bias: NDArray,
    ):
        self.kept, self.rule, self.regularization = kept, rule, regularization
        self.classes = classes
        self.weights, self.bias = weights, bias
        self.least = np.full(len(classes), np.inf)

    def run(self) -> tuple[NDArray, NDArray]:
        """Weights and intercepts at the minimum."""
        on = np.arange(len(self.classes))  # that still move
        losses, sums = self._visited(on, self.weights, self.bias)
        self.least = losses
        for _ in range(STEPS):
            there, there_bias = self._minima(on, sums)
            found, sums = self._visited(on, there, there_bias)
            too_far = np.flatnonzero(~(found < self.least[on]))
            if too_far.size:
                self._shorten(on, too_far, there, there_bias, found)
                again = self._visited(on[too_far], there[:, too_far], there_bias[too_far])[1]
                for place, one in zip(too_far, again, strict=True):
                    sums[place] = one
            gained = self.least[on] - found
            better = gained > 0.0
            self.weights[:, on[better]], self.bias[on[better]] = (
                there[:, better],
                there_bias[better],
            )
            self.least[on[better]] = found[better]
            moves = better & (gained > FLAT * self.least[on])
            on, sums = on[moves], [one for one, go in zip(sums, moves, strict=True) if go]
            if not on.size:
                break
        return self.weights, self.bias

    def _minima(self, on: NDArray, sums: list[CodeSums]) -> tuple[NDArray, NDArray]:
        """Where the parabolas have their minima."""
        there, bias = self.weights[:, on].copy(), self.bias[on].copy()
        for place, one in enumerate(sums):
            if one.total <= 0.0:  # no sample is within the margin: weights shrink
                there[:, place] = 0.0
                continue
            found, biases = one.solve(self.regularization, self.rule.fit_intercept)
            there[:, place], bias[place] = found[:, 0], biases[0]
        return there, bias

    def _visited(
        self, on: NDArray, weights: NDArray, bias: NDArray
    ) -> tuple[NDArray, list[CodeSums]]:
        """Objectives at weights and intercepts, and the parabolas there."""
        state = (self.rule, self.classes[on], weights, bias)
        found = self.kept.map_reduce(_parabolas_of, state, Parabolas.plus)
        return found.losses + self._penalty(weights), list(found.sums)

    def _penalty(self, weights: NDArray) -> NDArray:
        return 0.5 * self.regularization * np.einsum("ij,ij->j", weights, weights)

    def _shorten(
        self, on: NDArray, places: NDArray, there: NDArray, bias: NDArray, found: NDArray
    ) -> None:
        """Halve steps until they lower the objective; all lengths are tried in one pass."""
        some = on[places]
        start, start_bias = self.weights[:, some], self.bias[some]
        step, shift = there[:, places] - start, bias[places] - start_bias
        lengths = 0.5 ** np.arange(1, HALVINGS)
        state = (self.rule, self.classes[some], (start, start_bias), (step, shift), lengths)
        losses = self.kept.map_reduce(_losses_along, state, np.add)
        for place, column in enumerate(places):
            trials = start[:, [place]] + step[:, [place]] * lengths
            values = losses[:, place] + self._penalty(trials)
            lower = np.flatnonzero(values < self.least[some[place]])
            length, value = (lengths[lower[0]], values[lower[0]]) if lower.size else (0.0, np.inf)
            there[:, column] = start[:, place] + length * step[:, place]
            bias[column] = start_bias[place] + length * shift[place]
            found[column] = value


def _parabolas_of(
    part: LabelledCodes, rule: MaxMarginRule, classes: NDArray, weights: NDArray, bias: NDArray
) -> Parabolas:
    scores, targets = times(part.codes, weights) + bias, part.targets[:, classes]
    curvatures, minima = rule.quadratic(scores, targets.astype(np.float64))
    losses, sums = np.empty(len(classes)), []
    for place in range(len(classes)):
        one = slice(place, place + 1)
        losses[place] = part.weight @ rule.loss(scores[:, one], targets[:, one])
        counted = part.weight * curvatures[:, place]
        rows = np.flatnonzero(counted > 0.0)
        sums.append(CodeSums.of(part.codes[rows], minima[rows, one], counted[rows]))
    return Parabolas(losses, tuple(sums))


def _losses_along(
    part: LabelledCodes,
    rule: MaxMarginRule,
    classes: NDArray,
    start: tuple[NDArray, NDArray],
    step: tuple[NDArray, NDArray],
    lengths: NDArray,
) -> NDArray:
    """Losses of classes, (m, B), at several points of the way."""
    here = times(part.codes, start[0]) + start[1]
    change, targets = times(part.codes, step[0]) + step[1], part.targets[:, classes]
    losses = np.empty((len(lengths), len(classes)))
    for row, length in enumerate(lengths):
        scores = here + length * change
        for place in range(len(classes)):
            one = slice(place, place + 1)
            losses[row, place] = part.weight @ rule.loss(scores[:, one], targets[:, one])
    return losses
