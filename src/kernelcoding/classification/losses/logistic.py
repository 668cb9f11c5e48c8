r"""Logistic regression, one class against the rest, at four times the usual loss.

.. math:: \min_{w, b} \tfrac\lambda2\|w\|^2 + 4\sum_i v_i \log(1 + e^{-t_i(w^\top y_i + b)})

Four times the loss has a curvature of at most one, like half a squared error: it is bounded by the
squared distance to targets, which is all that codes need to know of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from . import one_vs_rest, ridge

LEAST = 1e-8  # curvature of samples far on their side


def loss(scores: NDArray, signs: NDArray) -> NDArray:
    """Of each sample, summed over classes, (n,)."""
    return 4.0 * np.sum(np.logaddexp(0.0, -signs * scores), axis=1)


def surrogate_targets(scores: NDArray, signs: NDArray) -> NDArray:
    """Where half a squared error of the slope of the loss has its minimum."""
    return scores + 4.0 * signs * expit(-signs * scores)


def quadratic(scores: NDArray, signs: NDArray) -> tuple[NDArray, NDArray]:
    """Curvature of the loss at scores, and where the parabola it looks like has its minimum."""
    missing = expit(-signs * scores)
    curvature = np.maximum(missing * (1.0 - missing), LEAST)
    return 4.0 * curvature, scores + signs * missing / curvature


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
        curvature, wanted = quadratic(scores, signs)
        found, biases = ridge.fit(
            codes, wanted[:, None], sample_weight * curvature, regularization, intercept
        )
        return found[:, 0], float(biases[0])

    def value(scores: NDArray, weights: NDArray) -> float:
        missed = loss(scores[:, None], signs[:, None])
        return 0.5 * regularization * float(weights @ weights) + float(sample_weight @ missed)

    return one_vs_rest.newton(codes, weights, bias, aim, value)


fit = partial(one_vs_rest.minimise, surrogate_targets, _one_against_rest)
