r"""Linear classifiers of largest margin, one class against the rest, squared hinge loss.

.. math:: \min_{w, b} \tfrac\lambda2\|w\|^2
          + \tfrac12\sum_i v_i \max(0, 1 - t_i(w^\top y_i + b))^2

The loss is quadratic as long as the same samples are within the margin: Newton's method solves the
ridge problem of these, as often as they change (Chapelle, 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..codes import Codes, dense, times, transposed
from . import ridge

STEPS = 100
HALVINGS = 30
FLAT = 1e-10  # relative decrease that ends the search
ROUGH = 15  # steps for all classes at once


def minimise(
    goals: Callable[[NDArray, NDArray], NDArray],
    one_against_rest: Callable[..., tuple[NDArray, float]],
    codes: Codes,
    signs: NDArray,
    importance: NDArray,
    strength: float,
    intercept: bool,
    start: tuple[NDArray, NDArray] | None = None,
    exact: bool = True,
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,) for targets of one and minus one, (n, S).

    First a few steps for all classes at once, which lower the objective; then, where it is to be
    exact, one class after the other.

    Parameters
    ----------
    goals : callable
        As in :func:`descend`.
    one_against_rest : callable
        The minimum for one class, from weights and bias.
    codes : array of shape (n, N)
    signs : array of shape (n, S)
    importance : array of shape (n,)
    strength : float
        Of the penalty.
    intercept : bool
    start : weights and intercepts, default=None
    exact : bool, default=True
    """
    weights, bias = descend(codes, signs, importance, strength, intercept, start, goals)
    if not exact:
        return weights, bias
    rows = dense(codes)
    for s in range(signs.shape[1]):
        weights[:, s], bias[s] = one_against_rest(
            rows, signs[:, s], importance, strength, intercept, weights[:, s], float(bias[s])
        )
    return weights, bias


def goals(scores: NDArray, signs: NDArray) -> NDArray:
    """The margin, or where the scores are beyond it already.

    ``max(0, 1 - t f)^2`` is at most ``(g - f)^2`` for such a goal g, and equal at the present
    scores: what comes nearer to the goals lowers the loss.
    """
    return signs * np.maximum(signs * scores, 1.0)


def descend(
    codes: Codes,
    signs: NDArray,
    importance: NDArray,
    strength: float,
    intercept: bool,
    start: tuple[NDArray, NDArray] | None,
    goals: Callable[[NDArray, NDArray], NDArray],
) -> tuple[NDArray, NDArray]:
    """Steps for all classes with one factor: regression on goals lowers the loss they bound.

    Parameters
    ----------
    codes, signs, importance, strength, intercept, start
        As in :func:`minimise`.
    goals : callable
        Of scores and signs: half the squared distance to them, up to a constant, is at least the
        loss, and equal at these scores.
    """
    second, _, mean, _ = ridge.moments(codes, signs, importance, intercept)
    least = 1e-13 * float(np.trace(second))  # a factor must exist
    second[np.diag_indices_from(second)] += max(strength, least)
    factor = linalg.cho_factor(second, check_finite=False)
    scores = np.zeros_like(signs) if start is None else times(codes, start[0]) + start[1]
    total, columns = importance.sum(), transposed(codes)
    for _ in range(ROUGH):
        weighted = goals(scores, signs) * importance[:, None]
        mean_goal = weighted.sum(axis=0) / total if intercept else np.zeros(signs.shape[1])
        mixed = times(columns, weighted) - total * np.outer(mean, mean_goal)
        weights = linalg.cho_solve(factor, mixed, check_finite=False)
        bias = mean_goal - mean @ weights
        scores = times(codes, weights) + bias
    return weights, bias


def _one_against_rest(codes, signs, importance, strength, intercept, weights, bias):
    def aim(scores):
        inside = np.flatnonzero(signs * scores < 1.0)
        if inside.size == 0:
            # Nobody is within the margin: shrinking the weights is all that is left.
            return np.zeros_like(weights), None
        return _ridge_of(codes[inside], signs[inside], importance[inside], strength, intercept)

    def value(scores, weights):
        return _value(scores, signs, importance, strength, weights)

    return newton(codes, weights, bias, aim, value)


def newton(
    codes: NDArray,
    weights: NDArray,
    bias: float,
    aim: Callable[[NDArray], tuple[NDArray, float | None]],
    value: Callable[[NDArray, NDArray], float],
) -> tuple[NDArray, float]:
    """Newton's method for one class, with steps halved until they lower the objective.

    Parameters
    ----------
    codes : array of shape (n, N)
    weights, bias
        The start.
    aim : callable
        Of scores: weights and bias where the quadratic that the objective looks like there is
        least; a bias of None stays as it is.
    value : callable
        Of scores and weights: the objective.
    """
    scores = codes @ weights + bias
    least = value(scores, weights)
    for _ in range(STEPS):
        there, there_bias = aim(scores)
        shift = 0.0 if there_bias is None else there_bias - bias
        step, change = 1.0, codes @ (there - weights) + shift
        for _ in range(HALVINGS):
            trial = weights + step * (there - weights)
            found = value(scores + step * change, trial)
            if found < least:
                break
            step *= 0.5
        else:
            break
        weights, bias, scores = trial, bias + step * shift, scores + step * change
        gained, least = least - found, found
        if gained <= FLAT * least:
            break
    return weights, bias


def _value(scores, signs, importance, strength, weights) -> float:
    slack = np.maximum(1.0 - signs * scores, 0.0)
    return 0.5 * strength * float(weights @ weights) + 0.5 * float(importance @ slack**2)


def _ridge_of(codes, signs, importance, strength, intercept) -> tuple[NDArray, float]:
    """The ridge problem of few samples, in as many unknowns as there are samples or atoms."""
    if len(codes) >= codes.shape[1]:
        weights, biases = ridge.fit(codes, signs[:, None], importance, strength, intercept)
        return weights[:, 0], float(biases[0])
    matrix = codes @ codes.T
    strength = max(strength, 1e-14 * float(np.trace(matrix)))  # or no factor would exist
    matrix[np.diag_indices_from(matrix)] += strength / importance
    factor = linalg.cho_factor(matrix, check_finite=False)
    solved = linalg.cho_solve(factor, signs, check_finite=False)
    bias: float = 0.0
    if intercept:
        ones = linalg.cho_solve(factor, np.ones(len(codes)), check_finite=False)
        bias = float(solved.sum() / ones.sum())
        solved = solved - bias * ones
    return codes.T @ solved, bias


fit = partial(minimise, goals, _one_against_rest)
