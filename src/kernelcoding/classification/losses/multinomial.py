r"""Logistic regression of all classes at once: the loss that task-driven training lowers.

.. math:: \frac1n\sum_i v_i\,\ell(l_i, W^\top y_i + b) + \tfrac\rho2\|W\|^2

with :math:`\ell = -\log p(l_i)` of softmax probabilities or, for several labels per sample, of a
sigmoid for each class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from ...codes import Codes, times, transposed

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
    share = sample_weight / sample_weight.sum()

    def of_all(weights: NDArray, bias: NDArray) -> tuple[float, NDArray, NDArray]:
        return summed(codes, members, share, multilabel, weights, bias)

    shape = codes.shape[1] + 1, members.shape[1]
    first = np.zeros(shape) if start is None else np.vstack(start)
    return descend(of_all, first, rho, intercept, exact)


def summed(
    codes: Codes,
    members: NDArray,
    share: NDArray,
    multilabel: bool,
    weights: NDArray,
    bias: NDArray,
) -> tuple[float, NDArray, NDArray]:
    """The loss of some samples, and its slopes in weights, (N, S), and intercepts, (S,)."""
    found, pull = losses_and_slopes(times(codes, weights) + bias, members, multilabel)
    pull *= share[:, None]
    return float(share @ found), times(transposed(codes), pull), pull.sum(axis=0)


def descend(
    of_all: Callable[[NDArray, NDArray], tuple[float, NDArray, NDArray]],
    first: NDArray,
    rho: float,
    intercept: bool,
    exact: bool,
    scaling: NDArray | None = None,
) -> tuple[NDArray, NDArray]:
    """A quasi-Newton method.

    Parameters
    ----------
    of_all : callable
        Of weights and intercepts: the mean loss and its slopes.
    first : array of shape (N + 1, S)
        Weights over intercepts.
    rho : float
    intercept : bool
    exact : bool
    scaling : array of shape (N + 1, N + 1), default=None
        What steps are multiplied by, so that the curvature is about one; None: nothing.
    """

    def value(flat: NDArray) -> tuple[float, NDArray]:
        weights = told(flat)
        total, step, shift = of_all(weights[:-1], weights[-1])
        total += 0.5 * rho * float(np.sum(weights[:-1] ** 2))
        slope = np.vstack([step + rho * weights[:-1], intercept * shift])
        return total, (slope if scaling is None else scaling.T @ slope).ravel()

    def told(flat: NDArray) -> NDArray:
        moved = flat.reshape(first.shape)
        return moved if scaling is None else first + scaling @ moved

    options = EXACT if exact else ROUGH
    begin = first if scaling is None else np.zeros_like(first)
    answer = minimize(value, begin.ravel(), jac=True, method="L-BFGS-B", options=options)
    found = told(answer.x)
    return found[:-1], found[-1]
