r"""Ridge regression with an unpenalised intercept, and the strength that predicts best.

.. math:: \min_{W, b} \sum_i v_i \|l_i - W^\top y_i - b\|^2 + \lambda \|W\|^2
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..codes import dense
from ..problem import Codes
from .coding import squared
from .updates import times_inverse

# Strengths that are tried, relative to the mean curvature, and samples they are judged on.
STRENGTHS = np.logspace(-7, 1, 17)
JUDGED = 4000


def moments(
    codes: Codes, targets: NDArray, importance: NDArray, intercept: bool
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Second moments of codes, of codes and targets, and the weighted means that were taken off."""
    root = np.sqrt(importance)[:, None]
    second = squared(codes.multiply(root).tocsr() if sparse.issparse(codes) else codes * root)
    mixed = np.asarray(codes.T @ (targets * importance[:, None]))
    if not intercept:
        return second, mixed, np.zeros(codes.shape[1]), np.zeros(targets.shape[1])
    total = importance.sum()
    mean = np.asarray(codes.T @ importance) / total
    mean_target = importance @ targets / total
    second = second - total * np.outer(mean, mean)
    return second, mixed - total * np.outer(mean, mean_target), mean, mean_target


def fit(
    codes: Codes, targets: NDArray, importance: NDArray, strength: float, intercept: bool
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,)."""
    second, mixed, mean, mean_target = moments(codes, targets, importance, intercept)
    second[np.diag_indices_from(second)] += strength
    weights = solve_definite(second, mixed)
    return weights, mean_target - mean @ weights


def solve_definite(matrix: NDArray, right: NDArray) -> NDArray:
    """A solution of a system with a positive semi-definite matrix."""
    used = np.diag(matrix) > 0.0
    solved = np.zeros_like(right)
    solved[used] = times_inverse(right[used].T, matrix[np.ix_(used, used)]).T
    return solved


def best_strength(
    codes: Codes, targets: NDArray, importance: NDArray, intercept: bool, rng: Any
) -> float:
    """The strength with the smallest squared error when each sample is left out in turn."""
    if codes.shape[0] > JUDGED:
        some = np.sort(rng.choice(codes.shape[0], JUDGED, replace=False))
        return best_strength(codes[some], targets[some], importance[some], intercept, rng)
    spectrum = Spectrum(codes, targets, importance, intercept)
    strengths = STRENGTHS * spectrum.unit
    errors = []
    for strength in strengths:
        missed = targets - spectrum.left_out(strength)
        errors.append(float(importance @ (missed**2).sum(axis=1)))
    return float(strengths[int(np.argmin(errors))])


def left_out(
    codes: Codes, targets: NDArray, importance: NDArray, strength: float, intercept: bool
) -> NDArray:
    """What each sample is predicted by the others, (n, S)."""
    return Spectrum(codes, targets, importance, intercept).left_out(strength)


class Spectrum:
    """Regression in the eigenvectors of the second moments: any strength at the cost of a product.

    Parameters
    ----------
    codes, targets, importance, intercept
        As in :func:`fit`.
    """

    def __init__(self, codes: Codes, targets: NDArray, importance: NDArray, intercept: bool):
        second, mixed, mean, self.mean_target = moments(codes, targets, importance, intercept)
        values, vectors = linalg.eigh(second, driver="evd", check_finite=False)
        self.values = np.maximum(values, 0.0)
        self.turned = (dense(codes) - mean) @ vectors
        self.right = vectors.T @ mixed
        self.targets, self.importance = targets, importance
        self.own = importance / importance.sum() if intercept else np.zeros(len(importance))
        self.unit = float(self.values.mean()) or 1.0

    def left_out(self, strength: float) -> NDArray:
        """Predictions without the sample itself, from its leverage."""
        filtered = 1.0 / (self.values + strength)
        fitted = self.mean_target + self.turned @ (filtered[:, None] * self.right)
        leverage = self.own + self.importance * (self.turned**2 @ filtered)
        missed = (self.targets - fitted) / np.maximum(1.0 - leverage, 1e-6)[:, None]
        return self.targets - missed
