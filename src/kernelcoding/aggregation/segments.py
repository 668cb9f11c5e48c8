"""Pooling functions: what becomes of the codes of one cell.

Codes come in blocks, and a cell may get codes from several of them, so a pooling function is a
reduction of a block, a way to combine two partial answers, and the value of no codes at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..problem import Codes


class Pool(NamedTuple):
    """A pooling function."""

    reduce: Callable[[Codes, NDArray, NDArray], NDArray]  # codes, cell of each, cell sizes
    combine: np.ufunc
    neutral: float
    averages: bool = False


def cell_sums(codes: Codes, cells: NDArray, sizes: NDArray) -> NDArray:
    """Sums over the codes of each cell, (n_cells, n_atoms)."""
    n_rows = codes.shape[0]
    ones = np.ones(n_rows, dtype=codes.dtype)
    members = sparse.csr_array((ones, (cells, np.arange(n_rows))), shape=(len(sizes), n_rows))
    sums = members @ codes
    return sums.toarray() if sparse.issparse(sums) else sums


def cell_maxima(codes: Codes, cells: NDArray, sizes: NDArray) -> NDArray:
    """Largest entries over the codes of each cell, (n_cells, n_atoms)."""
    if sparse.issparse(codes):
        return _sparse_maxima(codes, cells, sizes)
    order = np.argsort(cells, kind="stable")
    starts = np.append(0, np.cumsum(sizes)[:-1])
    return np.maximum.reduceat(codes[order], starts, axis=0)


def _sparse_maxima(codes: sparse.csr_array, cells: NDArray, sizes: NDArray) -> NDArray:
    n_cells, n_atoms = len(sizes), codes.shape[1]
    entries = np.repeat(cells, np.diff(codes.indptr)) * n_atoms + codes.indices
    maxima = np.full(n_cells * n_atoms, -np.inf, dtype=codes.dtype)
    np.maximum.at(maxima, entries, codes.data)
    seen = np.bincount(entries, minlength=len(maxima)).reshape(n_cells, n_atoms)
    maxima = maxima.reshape(n_cells, n_atoms)
    # Where not every code of the cell has an entry, the others are zeros.
    return np.maximum(maxima, 0.0, out=maxima, where=seen < sizes[:, None])


def cell_magnitudes(codes: Codes, cells: NDArray, sizes: NDArray) -> NDArray:
    """Largest absolute entries over the codes of each cell, (n_cells, n_atoms)."""
    return cell_maxima(abs(codes), cells, sizes)


POOLS = {
    "max": Pool(cell_maxima, np.maximum, -np.inf),
    "absolute_max": Pool(cell_magnitudes, np.maximum, 0.0),
    "sum": Pool(cell_sums, np.add, 0.0),
    "average": Pool(cell_sums, np.add, 0.0, averages=True),
}


class Pooled:
    """Cells while blocks of codes come in; cells without any code end as zeros."""

    def __init__(self, how: str, n_cells: int, n_atoms: int, dtype: np.dtype) -> None:
        self.pool = POOLS[how]
        self.values = np.full((n_cells, n_atoms), self.pool.neutral, dtype=dtype)
        self.counts = np.zeros(n_cells, dtype=np.intp)

    def add(self, codes: Codes, cells: NDArray) -> None:
        """Take in codes, given the cell of each."""
        present, local, sizes = np.unique(cells, return_inverse=True, return_counts=True)
        partial = self.pool.reduce(codes, local, sizes)
        self.values[present] = self.pool.combine(self.values[present], partial)
        self.counts[present] += sizes

    def finished(self) -> NDArray:
        """The pooled codes, (n_cells, n_atoms)."""
        self.values[self.counts == 0] = 0.0
        if self.pool.averages:
            self.values /= np.maximum(self.counts, 1)[:, None].astype(self.values.dtype)
        return self.values
