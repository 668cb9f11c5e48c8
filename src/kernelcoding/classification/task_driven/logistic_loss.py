r"""Logistic regression of all classes at once: the loss that task-driven training lowers.

.. math:: \frac1n\sum_i v_i\,\ell(l_i, W^\top y_i + b) + \tfrac\rho2\|W\|^2

with :math:`\ell = -\log p(l_i)` of softmax probabilities or, for several labels per sample, of a
sigmoid for each class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax

STEPS = 200


def losses(scores: NDArray, members: NDArray, multilabel: bool) -> NDArray:
    """Of each sample, (n,)."""
    if multilabel:
        return -np.sum(log_expit(np.where(members, scores, -scores)), axis=1)
    return -np.sum(log_softmax(scores, axis=1), axis=1, where=members)


def slopes(scores: NDArray, members: NDArray, multilabel: bool) -> NDArray:
    """Derivatives of :func:`losses` in scores, (n, S)."""
    found = expit(scores) if multilabel else np.exp(log_softmax(scores, axis=1))
    return found - members


def fit(
    codes: NDArray,
    members: NDArray,
    sample_weight: NDArray,
    rho: float,
    multilabel: bool,
    start: tuple[NDArray, NDArray] | None = None,
    intercept: bool = True,
) -> tuple[NDArray, NDArray]:
    """Weights (N, S) and intercepts (S,) of dense codes."""
    shape = codes.shape[1] + 1, members.shape[1]
    share = sample_weight[:, None] / sample_weight.sum()

    def value(flat: NDArray) -> tuple[float, NDArray]:
        weights = flat.reshape(shape)
        scores = codes @ weights[:-1] + weights[-1]
        pull = share * slopes(scores, members, multilabel)
        total = float(share[:, 0] @ losses(scores, members, multilabel))
        total += 0.5 * rho * float(np.sum(weights[:-1] ** 2))
        step = np.vstack([codes.T @ pull + rho * weights[:-1], intercept * pull.sum(axis=0)])
        return total, step.ravel()

    first = np.zeros(shape) if start is None else np.vstack(start)
    found = minimize(
        value, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "gtol": 1e-6}
    ).x.reshape(shape)
    return found[:-1], found[-1]
