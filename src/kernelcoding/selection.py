"""Choosing the nearest: the smallest entries of each row of a matrix of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MANY = 64  # entries from which a partition beforehand pays


def smallest(scores: NDArray, n_smallest: int) -> NDArray:
    """Columns of the smallest scores of each row, by increasing score, the lowest index first.

    Parameters
    ----------
    scores : (n, N) array
        Distances, or anything that orders atoms as distances do.
    n_smallest : int
        How many columns to keep; more than N keeps N.

    Returns
    -------
    indices : (n, n_smallest) array of int
    """
    from ._compiled.selection import fill_smallest

    scores = np.require(scores, np.result_type(scores, np.float32), ["C_CONTIGUOUS", "WRITEABLE"])
    n_rows, n_columns = scores.shape
    indices = np.empty((n_rows, min(n_smallest, n_columns)), np.intp)
    if indices.shape[1] <= MANY:
        bounds = np.full(n_rows, np.inf, scores.dtype)
    else:  # many are wanted: knowing the last of them beforehand saves most insertions
        last = indices.shape[1] - 1
        bounds = np.partition(scores, last, axis=1)[:, last].copy()
    fill_smallest(scores, bounds, indices)
    return indices
