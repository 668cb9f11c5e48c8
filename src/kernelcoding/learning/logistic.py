r"""Logistic regression, one class against the rest, at four times the usual loss.

.. math:: \min_{w, b} \tfrac\lambda2\|w\|^2 + 4\sum_i v_i \log(1 + e^{-t_i(w^\top y_i + b)})

Four times the loss has a curvature of at most one, like half a squared error: it is bounded by the
squared distance to goals, which is all that codes need to know of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from . import margin, ridge

LEAST = 1e-8  # curvature of samples far on their side


def loss(scores: NDArray, signs: NDArray) -> NDArray:
    """Of each sample, summed over classes, (n,)."""
    return 4.0 * np.sum(np.logaddexp(0.0, -signs * scores), axis=1)


def goals(scores: NDArray, signs: NDArray) -> NDArray:
    """Where half a squared error of the slope of the loss has its minimum."""
    return scores + 4.0 * signs * expit(-signs * scores)


def _one_against_rest(codes, signs, importance, strength, intercept, weights, bias):
    def aim(scores):
        missing = expit(-signs * scores)
        curvature = np.maximum(missing * (1.0 - missing), LEAST)
        wanted = scores + signs * missing / curvature
        found, biases = ridge.fit(
            codes, wanted[:, None], 4.0 * importance * curvature, strength, intercept
        )
        return found[:, 0], float(biases[0])

    def value(scores, weights):
        missed = loss(scores[:, None], signs[:, None])
        return 0.5 * strength * float(weights @ weights) + float(importance @ missed)

    return margin.newton(codes, weights, bias, aim, value)


fit = partial(margin.minimise, goals, _one_against_rest)
