"""Samples among which atoms or landmarks are chosen, known by their similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from ..gram import TILE, GramFacts
from ..kernels.base import Kernel, take
from ..stacks import Stack
from .point_gram import PointGram


class Candidates:
    """Samples, whose similarities are computed when asked for.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : stack of n samples
    index : array of shape (n,), default=None
        Which training samples they are; None: all, in order.
    sample_weight : array of shape (n,), default=None
        Their weights, positive.
    """

    sample_weight: NDArray | None

    def __init__(
        self,
        kernel: Kernel,
        X: Stack,
        index: NDArray | None = None,
        sample_weight: NDArray | None = None,
    ):
        self.kernel = kernel
        self.X = X
        self.index = np.arange(len(X)) if index is None else index
        self.sample_weight = sample_weight

    @property
    def shares(self) -> NDArray | None:
        """Chances of the samples by their weights; None: equal ones."""
        return None if self.sample_weight is None else self.sample_weight / self.sample_weight.sum()

    def _weight_of(self, rows: NDArray) -> NDArray | None:
        return None if self.sample_weight is None else self.sample_weight[rows]

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: NDArray) -> Candidates:
        """Some of them."""
        return Candidates(self.kernel, self.X[rows], self.index[rows], self._weight_of(rows))

    def columns(self) -> tuple[NDArray, Callable[[int], NDArray]]:
        """Self-similarities, and a function that gives the similarities of all samples to one."""
        prepared = self.kernel.prepare(self.X, self.index)

        def similarity_to(i: int) -> NDArray:
            one = self.kernel.prepare(self.X[i : i + 1], self.index[i : i + 1])
            return self.kernel.between(prepared, one)[:, 0].astype(np.float64)

        return self.kernel.diagonal_of(prepared), similarity_to

    def similarity_to(self, rows: NDArray) -> NDArray:
        """Similarities of all samples to some of them, (n, m)."""
        chosen = self.kernel.prepare(self.X[rows], self.index[rows])
        return self.kernel.between(self.kernel.prepare(self.X), chosen)

    def parts_similar_to(self, rows: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """The same for consecutive samples, as many as make a piece of moderate size, (p, m)."""
        chosen = self.kernel.prepare(self.X[rows], self.index[rows])
        prepared = self.kernel.prepare(self.X)
        for part in gen_batches(len(self), part_rows(len(rows))):
            yield part, self.kernel.between(take(prepared, part), chosen)

    def facts(self) -> GramFacts:
        """All similarities: whole, or the parts that are asked for."""
        return PointGram(self.kernel, self.kernel.prepare(self.X, self.index), len(self))


class KnownCandidates(Candidates):
    """The same, where all similarities are there already.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Similarities of the samples.
    sample_weight : array of shape (n,), default=None
    """

    def __init__(self, matrix: NDArray, sample_weight: NDArray | None = None):
        self.known = matrix
        self.sample_weight = sample_weight

    def __len__(self) -> int:
        return len(self.known)

    def take(self, rows: NDArray) -> Candidates:
        """Some of them."""
        return KnownCandidates(self.known[np.ix_(rows, rows)], self._weight_of(rows))

    def columns(self) -> tuple[NDArray, Callable[[int], NDArray]]:
        """Self-similarities, and a function that gives the similarities of all samples to one."""
        return np.diag(self.known), self.known.__getitem__

    def similarity_to(self, index: NDArray) -> NDArray:
        """Similarities of all samples to some of them, (n, m)."""
        return self.known[:, index]

    def parts_similar_to(self, index: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """The same for consecutive samples, as many as make a piece of moderate size, (p, m)."""
        for part in gen_batches(len(self), part_rows(len(index))):
            yield part, self.known[part, index]

    def facts(self) -> GramFacts:
        """All similarities."""
        return GramFacts(self.known)


def part_rows(n_columns: int) -> int:
    """Rows of a piece that has so many columns."""
    return max(1, TILE // max(n_columns, 1))
