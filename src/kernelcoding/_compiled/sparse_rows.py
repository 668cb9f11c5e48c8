"""Pairs of sparse rows: sums over the columns that both have, and over those that either has."""

from __future__ import annotations

import numpy as np

from .jit import compiled, part

PRODUCTS, MINIMA, HARMONICS = 0, 1, 2  # x z;  min(|x|, |z|) of one sign;  x z / (x + z)
SQUARES, DIFFERENCES, CHI_SQUARES = 0, 1, 2  # (x - z)^2;  |x - z|;  (x - z)^2 / (x + z)


@compiled
def add_common(kind, indptr, indices, data, starts, places, values, out):
    """Add to ``out[i, k]`` a sum over the columns that row i and row k both have.

    Terms are added by ascending column whichever side is known by columns, so that both ways give
    the same bits.

    Parameters
    ----------
    kind : int
        PRODUCTS, MINIMA or HARMONICS.
    indptr, indices, data : arrays
        Some rows i of a CSR array (``indptr`` may be a part of a longer one).
    starts, places, values : arrays
        The other rows, by columns.
    out : array of shape (n, m)
        In double precision.
    """
    for i in range(out.shape[0]):
        row = out[i]
        for p in range(indptr[i], indptr[i + 1]):
            x = float(data[p])
            column = slice(starts[indices[p]], starts[indices[p] + 1])
            # Unsigned: nobody looks whether a place is counted from the end.
            where, others = places[column], values[column]
            if kind == PRODUCTS:
                for q in range(where.size):
                    row[np.uint64(where[q])] += x * others[q]
            elif kind == MINIMA:
                for q in range(where.size):
                    z = float(others[q])
                    if (x > 0.0) == (z > 0.0):
                        row[np.uint64(where[q])] += min(abs(x), abs(z))
            else:
                for q in range(where.size):
                    z = float(others[q])
                    row[np.uint64(where[q])] += x * z / (x + z)


@part
def term(kind, x, z):
    """What one column adds to a distance."""
    difference = x - z
    if kind == DIFFERENCES:
        return abs(difference)
    if kind == CHI_SQUARES:
        return difference * difference / (x + z)
    return difference * difference


@part
def merged_distance(kind, left_columns, left, right_columns, right):
    """The distance of two rows, from their differences in every column that either has."""
    total, p, q = 0.0, 0, 0
    while p < left.size or q < right.size:
        if q == right.size or (p < left.size and left_columns[p] < right_columns[q]):
            total += term(kind, float(left[p]), 0.0)
            p += 1
        elif p == left.size or right_columns[q] < left_columns[p]:
            total += term(kind, 0.0, float(right[q]))
            q += 1
        else:
            total += term(kind, float(left[p]), float(right[q]))
            p += 1
            q += 1
    return total


@compiled
def finish_sparse_distances(kind, common, factor, left_sums, right_sums, left, right, near):
    """Replace sums over common columns by distances, none negative.

    Parameters
    ----------
    kind : int
        SQUARES, DIFFERENCES or CHI_SQUARES.
    common : array of shape (n, m)
        Changed in place to ``left_sums[i] + right_sums[k] - factor * common[i, k]``.
    factor : float
    left_sums, right_sums : arrays of shape (n,) and (m,)
        What the distances of the rows to zero are.
    left, right : tuples of arrays
        The rows: ``indptr`` (of some rows), ``indices`` and ``data``.
    near : float
        A distance that is not above this share of the two sums has lost its digits to
        cancellation (or is NaN): it is computed anew from differences.
    """
    starts, columns, values = left
    other_starts, other_columns, other_values = right
    for i in range(common.shape[0]):
        own = slice(starts[i], starts[i + 1])
        for k in range(common.shape[1]):
            sums = left_sums[i] + right_sums[k]
            distance = sums - factor * common[i, k]
            if not distance > near * sums:
                other = slice(other_starts[k], other_starts[k + 1])
                distance = merged_distance(
                    kind, columns[own], values[own], other_columns[other], other_values[other]
                )
            common[i, k] = distance


@compiled
def add_row_sums(power, indptr, data, out):
    """Add to ``out[i]`` the sum of |x| (or of squares: power 2) of row i, from the left.

    The order is that of :func:`add_common`, so that a row's similarity to itself has the same bits
    here and there.
    """
    for i in range(out.size):
        for p in range(indptr[i], indptr[i + 1]):
            x = float(data[p])
            out[i] += x * x if power == 2 else abs(x)
