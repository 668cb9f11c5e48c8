r"""Logistic regression of all classes at once: the loss that task-driven training lowers.

.. math:: \frac1n\sum_i v_i\,\ell(l_i, W^\top y_i + b) + \tfrac\rho2\|W\|^2

with :math:`\ell = -\log p(l_i)` of softmax probabilities or, for several labels per sample, of a
sigmoid for each class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

STEPS = 200
ROUGH = {"maxiter": STEPS, "gtol": 1e-6}
EXACT = {"maxiter": 20 * STEPS, "maxfun": 40 * STEPS, "gtol": 1e-10, "ftol": 1e-15}


def losses(scores: NDArray, members: NDArray, multilabel: bool) -> NDArray:
    """Of each sample, (n,)."""
    return losses_and_slopes(scores, members, multilabel)[0]


def slopes(scores: NDArray, members: NDArray, multilabel: bool) -> NDArray:
    """Derivatives of :func:`losses` in scores, (n, S)."""
    return losses_and_slopes(scores, members, multilabel)[1]


def losses_and_slopes(
    scores: NDArray, members: NDArray, multilabel: bool
) -> tuple[NDArray, NDArray]:
    """Both at once: exponentials are what they cost."""
    if multilabel:
        own = np.where(members, scores, -scores)
        return -np.sum(log_expit(own), axis=1), expit(scores) - members
    below = scores - np.max(scores, axis=1, keepdims=True)
    shares = np.exp(below)
    total = np.sum(shares, axis=1, keepdims=True)
    shares /= total
    shares -= members
    return np.log(total[:, 0]) - np.einsum("ij,ij->i", below, members), shares


def fit(
    codes: NDArray,
    members: NDArray,
    sample_weight: NDArray,
    rho: float,
    multilabel: bool,
    start: tuple[NDArray, NDArray] | None = None,
    intercept: bool = True,
    exact: bool = False,
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,) of dense codes."""
    shape = codes.shape[1] + 1, members.shape[1]
    share = sample_weight[:, None] / sample_weight.sum()

    def value(flat: NDArray) -> tuple[float, NDArray]:
        weights = flat.reshape(shape)
        scores = codes @ weights[:-1] + weights[-1]
        found, pull = losses_and_slopes(scores, members, multilabel)
        pull *= share
        total = float(share[:, 0] @ found)
        total += 0.5 * rho * float(np.sum(weights[:-1] ** 2))
        step = np.vstack([codes.T @ pull + rho * weights[:-1], intercept * pull.sum(axis=0)])
        return total, step.ravel()

    first = np.zeros(shape) if start is None else np.vstack(start)
    options = EXACT if exact else ROUGH
    answer = minimize(value, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    found = answer.x.reshape(shape)
    return found[:-1], found[-1]
