r"""Linear classifiers of one class against the rest, for losses that squares bound.

.. math:: \min_{W, b} \tfrac\lambda2\|W\|^2 + \sum_i v_i\,\ell(t_i, W^\top y_i + b)

A loss says where scores should move: half the squared distance to these surrogate targets is, up
to a constant, at least the loss, and equal at the present scores. Regression on them lowers the
loss for all classes at once; Newton's method then finishes one class after the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...codes import Codes, dense, times, transposed
from . import ridge

STEPS = 100
HALVINGS = 30
FLAT = 1e-10  # relative decrease that ends the search
ROUGH = 15  # steps for all classes at once


def minimise(
    surrogate_targets: Callable[[NDArray, NDArray], NDArray],
    one_against_rest: Callable[..., tuple[NDArray, float]],
    codes: Codes,
    signs: NDArray,
    sample_weight: NDArray,
    regularization: float,
    intercept: bool,
    start: tuple[NDArray, NDArray] | None = None,
    exact: bool = True,
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,) for targets of one and minus one, (n, S).

    First a few steps for all classes at once, which lower the objective; then, where it is to be
    exact, one class after the other.

    Parameters
    ----------
    surrogate_targets : callable
        As in :func:`descend_together`.
    one_against_rest : callable
        The minimum for one class, from weights and bias.
    codes : array of shape (n, N)
    signs : array of shape (n, S)
    sample_weight : array of shape (n,)
    regularization : float
        Of the penalty.
    intercept : bool
    start : weights and intercepts, default=None
    exact : bool, default=True
    """
    weights, bias = descend_together(
        codes, signs, sample_weight, regularization, intercept, start, surrogate_targets
    )
    if not exact:
        return weights, bias
    rows = dense(codes)
    for s in range(signs.shape[1]):
        weights[:, s], bias[s] = one_against_rest(
            rows,
            signs[:, s],
            sample_weight,
            regularization,
            intercept,
            weights[:, s],
            float(bias[s]),
        )
    return weights, bias


def descend_together(
    codes: Codes,
    signs: NDArray,
    sample_weight: NDArray,
    regularization: float,
    intercept: bool,
    start: tuple[NDArray, NDArray] | None,
    surrogate_targets: Callable[[NDArray, NDArray], NDArray],
) -> tuple[NDArray, NDArray]:
    """Steps for all classes with one factor: regression on targets lowers the loss they bound.

    Parameters
    ----------
    codes, signs, sample_weight, regularization, intercept, start
        As in :func:`minimise`.
    surrogate_targets : callable
        Of scores and signs: half the squared distance to them, up to a constant, is at least the
        loss, and equal at these scores.
    """
    columns = transposed(codes)

    def pull(weights: NDArray, bias: NDArray) -> tuple[NDArray, NDArray]:
        targets = surrogate_targets(times(codes, weights) + bias, signs)
        weighted = targets * sample_weight[:, None]
        return times(columns, weighted), weighted.sum(axis=0)

    first = nothing(codes.shape[1], signs.shape[1]) if start is None else start
    sums = ridge.CodeSums.of(codes, signs, sample_weight)
    return descend(sums, pull, regularization, intercept, first)


def nothing(n_atoms: int, n_classes: int) -> tuple[NDArray, NDArray]:
    """Weights and intercepts of no classifier."""
    return np.zeros((n_atoms, n_classes)), np.zeros(n_classes)


def descend(
    sums: ridge.CodeSums,
    pull: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    regularization: float,
    intercept: bool,
    start: tuple[NDArray, NDArray],
) -> tuple[NDArray, NDArray]:
    """The same, of codes that are known by their sums.

    Parameters
    ----------
    sums : CodeSums
    pull : callable
        Of weights and bias: sums of codes times surrogate targets, (N, S), and of these, (S,), with
        the weights of samples.
    regularization, intercept, start
        As in :func:`minimise`.
    """
    second, _, mean, _ = sums.moments(intercept)
    second = second.copy()
    least = 1e-13 * float(np.trace(second))  # a factor must exist
    second[np.diag_indices_from(second)] += max(regularization, least)
    factor = linalg.cho_factor(second, check_finite=False)
    weights, bias = start
    for _ in range(ROUGH):
        drawn, targets = pull(weights, bias)
        mean_target = targets / sums.total if intercept else np.zeros(len(targets))
        mixed = drawn - sums.total * np.outer(mean, mean_target)
        weights = linalg.cho_solve(factor, mixed, check_finite=False)
        bias = mean_target - mean @ weights
    return weights, bias


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
