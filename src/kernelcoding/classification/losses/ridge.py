r"""Ridge regression with an unpenalised intercept, and the regularization that predicts best.

.. math:: \min_{W, b} \sum_i v_i \|l_i - W^\top y_i - b\|^2 + \lambda \|W\|^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, dense, is_csr, second_moment
from ...dictionary_learning.updates.quadratic import squares_over, times_inverse
from ...long_calls import eigh
from ...selection import counting_rows, drawn_rows

# Regularizations that are tried, relative to the mean curvature, and samples they are judged on.
REGULARIZATIONS = np.logspace(-7, 1, 17)
NOTHING = 1e-12  # weight of a sample that is left out
JUDGED = 4000


# Second moments of codes, of codes and targets, and the weighted means that were taken off.
Moments = tuple[NDArray, NDArray, NDArray, NDArray]


@dataclass(frozen=True, slots=True)
class CodeSums:
    """All that the regression asks of codes and targets, with weights V: sums over samples."""

    second: NDArray  # (N, N) Y'VY
    mixed: NDArray  # (N, S) Y'VT
    codes: NDArray  # (N,) Y'v
    targets: NDArray  # (S,) T'v
    squares: float  # of targets
    total: float  # of weights

    @classmethod
    def of(cls, codes: Codes, targets: NDArray, sample_weight: NDArray) -> CodeSums:
        """Over some samples."""
        root = np.sqrt(sample_weight)[:, None]
        return cls(
            second_moment(codes.multiply(root).tocsr() if is_csr(codes) else codes * root),
            np.asarray(codes.T @ (targets * sample_weight[:, None])),
            np.asarray(codes.T @ sample_weight),
            sample_weight @ targets,
            float(sample_weight @ np.sum(targets**2, axis=1)),
            float(sample_weight.sum()),
        )

    def plus(self, other: CodeSums) -> CodeSums:
        """Over both sets of samples."""
        return CodeSums(
            self.second + other.second,
            self.mixed + other.mixed,
            self.codes + other.codes,
            self.targets + other.targets,
            self.squares + other.squares,
            self.total + other.total,
        )

    def moments(self, intercept: bool) -> Moments:
        """Around the means, where there is an intercept."""
        if not intercept:
            nothing = np.zeros(len(self.codes)), np.zeros(len(self.targets))
            return self.second, self.mixed, *nothing
        mean, mean_target = self.codes / self.total, self.targets / self.total
        second = self.second - self.total * np.outer(mean, mean)
        return second, self.mixed - self.total * np.outer(mean, mean_target), mean, mean_target

    def solve(self, regularization: float, intercept: bool) -> tuple[NDArray, NDArray]:
        """Weights (N, S) and intercepts (S,)."""
        second, mixed, mean, mean_target = self.moments(intercept)
        weights = solve_definite(second + regularization * np.eye(len(second)), mixed)
        return weights, mean_target - mean @ weights

    def squared_error(self, weights: NDArray, bias: NDArray) -> float:
        """Of scores ``y W + b``, summed; never negative."""
        beyond = self.squares - 2.0 * self.targets @ bias + self.total * bias @ bias
        mixed = self.mixed - np.outer(self.codes, bias)
        found = beyond + np.sum(weights * (self.second @ weights - 2.0 * mixed))
        return max(float(found), 0.0)


def moments(codes: Codes, targets: NDArray, sample_weight: NDArray, intercept: bool) -> Moments:
    """Second moments of codes, of codes and targets, and the weighted means that were taken off."""
    return CodeSums.of(codes, targets, sample_weight).moments(intercept)


def fit(
    codes: Codes, targets: NDArray, sample_weight: NDArray, regularization: float, intercept: bool
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,)."""
    return CodeSums.of(codes, targets, sample_weight).solve(regularization, intercept)


def solve_definite(matrix: NDArray, right: NDArray) -> NDArray:
    """A solution of a system with a positive semi-definite matrix."""
    used = np.diag(matrix) > 0.0
    solved = np.zeros_like(right)
    solved[used] = times_inverse(right[used].T, matrix[np.ix_(used, used)]).T
    return solved


def inverse_squares(matrix: NDArray, rows: NDArray) -> NDArray:
    """``x' pinv(M) x`` of each row x, for a positive semi-definite matrix M."""
    used = np.diag(matrix) > 0.0
    return squares_over(rows[:, used], matrix[np.ix_(used, used)])


def best_regularization(
    codes: Codes,
    targets: NDArray,
    sample_weight: NDArray,
    intercept: bool,
    rng: np.random.RandomState,
) -> float:
    """The regularization with the smallest squared error when each sample is left out in turn."""
    if codes.shape[0] > JUDGED:
        some = drawn_rows(counting_rows(codes.shape[0], sample_weight, above=NOTHING), JUDGED, rng)
        return best_regularization(codes[some], targets[some], sample_weight[some], intercept, rng)
    path = RidgePath(codes, targets, sample_weight, intercept)
    regularizations = REGULARIZATIONS * path.unit
    errors = []
    for regularization in regularizations:
        missed = targets - path.left_out(regularization)
        errors.append(float(sample_weight @ (missed**2).sum(axis=1)))
    return float(regularizations[int(np.argmin(errors))])


def left_out(
    codes: Codes, targets: NDArray, sample_weight: NDArray, regularization: float, intercept: bool
) -> NDArray:
    """What each sample is predicted by the others, (n, S)."""
    return RidgePath(codes, targets, sample_weight, intercept).left_out(regularization)


class RidgePath:
    """Regression in the eigenvectors of the second moments: any regularization costs a product.

    Parameters
    ----------
    codes, targets, sample_weight, intercept
        As in :func:`fit`.
    """

    def __init__(self, codes: Codes, targets: NDArray, sample_weight: NDArray, intercept: bool):
        second, mixed, mean, self.mean_target = moments(codes, targets, sample_weight, intercept)
        values, vectors = eigh(second, driver="evd")
        self.values = np.maximum(values, 0.0)
        self.turned = (dense(codes) - mean) @ vectors
        self.right = vectors.T @ mixed
        self.targets, self.sample_weight = targets, sample_weight
        self.own = (
            sample_weight / sample_weight.sum() if intercept else np.zeros(len(sample_weight))
        )
        self.unit = float(self.values.mean()) or 1.0

    def left_out(self, regularization: float) -> NDArray:
        """Predictions without the sample itself, from its leverage."""
        filtered = 1.0 / (self.values + regularization)
        fitted = self.mean_target + self.turned @ (filtered[:, None] * self.right)
        leverage = self.own + self.sample_weight * (self.turned**2 @ filtered)
        missed = (self.targets - fitted) / np.maximum(1.0 - leverage, 1e-6)[:, None]
        return self.targets - missed
