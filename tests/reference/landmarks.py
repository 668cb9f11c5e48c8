"""Nyström approximation and pivoted Cholesky on whole kernel matrices, written out."""

import numpy as np


def residual(gram, chosen):
    """What projecting on the chosen samples leaves of the kernel matrix."""
    cross = gram[:, chosen]
    return gram - cross @ np.linalg.pinv(gram[np.ix_(chosen, chosen)], rcond=1e-13) @ cross.T


def greedy(gram, n_chosen):
    """The sample with the largest residual, again and again, each time from the start."""
    chosen, traces = [], []
    for _ in range(n_chosen):
        left = np.diag(residual(gram, chosen) if chosen else gram).copy()
        left[chosen] = -np.inf
        chosen.append(int(left.argmax()))
        traces.append(np.trace(residual(gram, chosen)))
    return np.array(chosen), np.array(traces)
