"""The smallest entries of each row, in one pass."""

from __future__ import annotations

import numpy as np

from .jit import compiled, part

BLOCK = 64  # candidates looked at in one vector comparison


@part
def _insert(value, index, values, indices, count):
    """Keep ``values`` sorted; an equal value goes behind, so that the lower index stays first."""
    position = min(count, values.size - 1)
    while position > 0 and values[position - 1] > value:
        values[position] = values[position - 1]
        indices[position] = indices[position - 1]
        position -= 1
    values[position] = value
    indices[position] = index


@compiled
def fill_smallest(scores, bounds, indices):
    """Fill ``indices[i]`` with the columns of the smallest ``scores[i]``.

    In increasing order, the lowest index first among equals. One pass compares blocks of them with
    the worst of the best so far, and few blocks contain a better one. At least as many scores
    as are wanted must not exceed ``bounds[i]``; infinity is always right.
    """
    n_columns, n_kept = scores.shape[1], indices.shape[1]
    values = np.empty(n_kept, scores.dtype)
    for i in range(scores.shape[0]):
        row, best, worst = scores[i], indices[i], bounds[i]
        # A typed zero: for a literal one ``_insert`` would be compiled a second time.
        count: int | np.int64 = np.int64(0)
        for start in range(0, n_columns, BLOCK):
            stop = min(start + BLOCK, n_columns)
            hits = 0  # a sum of integers: the compiler may turn it into vector comparisons
            for j in range(start, stop):
                hits += row[j] <= worst
            if hits > 0:
                for j in range(start, stop):
                    score = row[j]
                    if score <= worst and (count < n_kept or score < values[n_kept - 1]):
                        _insert(score, j, values, best, count)
                        count = min(count + 1, n_kept)
                        if count == n_kept:
                            worst = values[n_kept - 1]
