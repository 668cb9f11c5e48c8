"""What is minimised: a prior, its weight, and a constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .constraints import Constraint
from .penalty import Penalty
from .priors import CustomPrior, Prior
from .problem import Codes, CodingProblem


@dataclass(frozen=True, slots=True)
class Formulation:
    r"""The general coding problem of the paper, in scikit-learn's scale.

    .. math:: \min_{y \in C} \tfrac12\|\phi(x) - \Phi(D) y\|^2 + \alpha\, r(y; x, D)
    """

    prior: Prior | CustomPrior
    constraint: Constraint
    alpha: float = 1.0

    @property
    def kind(self) -> str:
        """The prior's row in the solver table."""
        return self.prior.kind if isinstance(self.prior, Prior) else "custom"

    def penalty(self, problem: CodingProblem) -> Penalty:
        """The weighted prior as numbers; built-in priors only."""
        if not isinstance(self.prior, Prior):
            raise TypeError(f"{self.prior!r} has no built-in form, only value and prox.")
        return self.prior.bind(problem) * self.alpha

    def prior_value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Weighted prior of each row, (n,)."""
        if isinstance(self.prior, Prior):
            return self.penalty(problem).value(codes)
        dense = codes if isinstance(codes, np.ndarray) else codes.toarray()
        return self.alpha * np.asarray(self.prior.value(dense))

    def prox(self, points: NDArray, scale: float) -> NDArray:
        r"""Proximal map of prior and constraint together, for a free or sum-to-one constraint.

        "Prox, then project" is not the map of a sum. With :math:`\mathbf 1^\top y = 1` it is the
        prior's own map at :math:`v - \mu\mathbf 1`, whose sum falls as :math:`\mu` grows: the
        right multiplier is found by bisection, row by row.
        """
        step = scale * self.alpha
        if not self.constraint.sum_to_one:
            return self.prior.prox(points, step)
        return _prox_with_sum_one(self.prior, points, step)

    def objective(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Value of what is minimised at each row's code, (n,)."""
        return 0.5 * problem.squared_error(codes) + self.prior_value(problem, codes)


def _prox_with_sum_one(prior, points: NDArray, step: float) -> NDArray:
    low = (points.sum(axis=1) - 1.0) / points.shape[1]  # right when the prior is zero
    high = low.copy()
    width = np.ones(len(points))
    for _ in range(60):  # bracket: shrinkage towards zero can move the root either way
        too_small = prior.prox(points - low[:, None], step).sum(axis=1) < 1.0
        too_large = prior.prox(points - high[:, None], step).sum(axis=1) > 1.0
        if not (too_small.any() or too_large.any()):
            break
        low = np.where(too_small, low - width, low)
        high = np.where(too_large, high + width, high)
        width *= 2.0
    middle = 0.5 * (low + high)
    while np.any((low < middle) & (middle < high)):  # until no number lies between
        above = prior.prox(points - middle[:, None], step).sum(axis=1) > 1.0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        middle = 0.5 * (low + high)
    return prior.prox(points - middle[:, None], step)
