"""Choosing the nearest, which are the smallest of some scores, and samples that count."""

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


def counting_rows(n_samples: int, sample_weight: NDArray | None, above: float = 0.0) -> NDArray:
    """Samples that count, in order: all, or those of some weight."""
    return np.arange(n_samples) if sample_weight is None else np.flatnonzero(sample_weight > above)


def drawn_rows(rows: NDArray, most: int, rng: np.random.RandomState) -> NDArray:
    """These rows, or so many of them at random, in order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
