"""Samples among which atoms or landmarks are chosen, known by their similarities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import Kernel


class Candidates:
    """Samples, whose similarities are computed when asked for.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array of shape (n, ...)
        Samples; with a precomputed kernel, their similarities among themselves, (n, n).
    """

    def __init__(self, kernel: Kernel, X: NDArray):
        self.kernel = kernel
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: NDArray) -> Candidates:
        """Some of them."""
        if self.kernel.uses_index:
            return Candidates(self.kernel, self.X[np.ix_(rows, rows)])
        return Candidates(self.kernel, self.X[rows])

    def columns(self) -> tuple[NDArray, Callable[[int], NDArray]]:
        """Self-similarities, and a function that gives the similarities of all samples to one."""
        index_of_all = np.arange(len(self.X))
        prepared = self.kernel.prepare(self.X, index_of_all)

        def similarity_to(i: int) -> NDArray:
            one = self.kernel.prepare(self.X[i : i + 1], index_of_all[i : i + 1])
            return self.kernel.between(prepared, one)[:, 0].astype(np.float64)

        return self.kernel.diagonal_of(prepared), similarity_to

    def similarity_to(self, index: NDArray) -> NDArray:
        """Similarities of all samples to some of them, (n, m)."""
        chosen = self.kernel.prepare(self.X[index], index)
        return self.kernel.between(self.kernel.prepare(self.X), chosen)

    def matrix(self) -> NDArray:
        """All similarities, (n, n)."""
        return self.kernel(self.X).astype(np.float64, copy=False)


class KnownCandidates(Candidates):
    """The same, where all similarities are there already.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Similarities of the samples.
    """

    def __init__(self, matrix: NDArray):
        self.known = matrix

    def __len__(self) -> int:
        return len(self.known)

    def take(self, rows: NDArray) -> Candidates:
        """Some of them."""
        return KnownCandidates(self.known[np.ix_(rows, rows)])

    def columns(self) -> tuple[NDArray, Callable[[int], NDArray]]:
        """Self-similarities, and a function that gives the similarities of all samples to one."""
        return np.diag(self.known), self.known.__getitem__

    def similarity_to(self, index: NDArray) -> NDArray:
        """Similarities of all samples to some of them, (n, m)."""
        return self.known[:, index]

    def matrix(self) -> NDArray:
        """All similarities, (n, n)."""
        return self.known
