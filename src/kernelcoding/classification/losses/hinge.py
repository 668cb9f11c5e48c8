r"""Linear classifiers of largest margin, one class against the rest, squared hinge loss.

.. math:: \min_{w, b} \tfrac\lambda2\|w\|^2
          + \tfrac12\sum_i v_i \max(0, 1 - t_i(w^\top y_i + b))^2

The loss is quadratic as long as the same samples are within the margin: Newton's method solves the
ridge problem of these, as often as they change (Chapelle, 2007).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from . import one_vs_rest, ridge


def loss(scores: NDArray, signs: NDArray) -> NDArray:
    """Half the squares of what is missing to the margin, summed over classes, (n,)."""
    return 0.5 * np.sum(np.maximum(1.0 - signs * scores, 0.0) ** 2, axis=1)


def surrogate_targets(scores: NDArray, signs: NDArray) -> NDArray:
    """The margin, or where the scores are beyond it already.

    ``max(0, 1 - t f)^2`` is at most ``(g - f)^2`` for such a target g, and equal at the present
    scores: what comes nearer to the targets lowers the loss.
    """
    return signs * np.maximum(signs * scores, 1.0)


def quadratic(scores: NDArray, signs: NDArray) -> tuple[NDArray, NDArray]:
    """Curvature of the loss at scores, and where the parabola that it is there has its minimum."""
    return (signs * scores < 1.0).astype(np.float64), signs


def _one_against_rest(
    codes: NDArray,
    signs: NDArray,
    sample_weight: NDArray,
    regularization: float,
    intercept: bool,
    weights: NDArray,
    bias: float,
) -> tuple[NDArray, float]:
    """The minimum for one class, from weights and bias."""

    def aim(scores: NDArray) -> tuple[NDArray, float | None]:
        inside = np.flatnonzero(signs * scores < 1.0)
        if inside.size == 0:
            # No sample is within the margin: shrinking the weights is all that is left.
            return np.zeros_like(weights), None
        return _ridge_of(
            codes[inside], signs[inside], sample_weight[inside], regularization, intercept
        )

    def value(scores: NDArray, weights: NDArray) -> float:
        return _objective(scores, signs, sample_weight, regularization, weights)

    return one_vs_rest.newton(codes, weights, bias, aim, value)


def _objective(
    scores: NDArray,
    signs: NDArray,
    sample_weight: NDArray,
    regularization: float,
    weights: NDArray,
) -> float:
    slack = np.maximum(1.0 - signs * scores, 0.0)
    return 0.5 * regularization * float(weights @ weights) + 0.5 * float(sample_weight @ slack**2)


def _ridge_of(
    codes: NDArray,
    signs: NDArray,
    sample_weight: NDArray,
    regularization: float,
    intercept: bool,
) -> tuple[NDArray, float]:
    """The ridge problem of few samples, in as many unknowns as there are samples or atoms."""
    if len(codes) >= codes.shape[1]:
        weights, biases = ridge.fit(codes, signs[:, None], sample_weight, regularization, intercept)
        return weights[:, 0], float(biases[0])
    matrix = codes @ codes.T
    regularization = max(
        regularization, 1e-14 * float(np.trace(matrix))
    )  # or no factor would exist
    matrix[np.diag_indices_from(matrix)] += regularization / sample_weight
    factor = linalg.cho_factor(matrix, check_finite=False)
    solved = linalg.cho_solve(factor, signs, check_finite=False)
    bias: float = 0.0
    if intercept:
        ones = linalg.cho_solve(factor, np.ones(len(codes)), check_finite=False)
        bias = float(solved.sum() / ones.sum())
        solved = solved - bias * ones
    return codes.T @ solved, bias


fit = partial(one_vs_rest.minimise, surrogate_targets, _one_against_rest)
