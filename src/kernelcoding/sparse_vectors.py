"""Vectors known by their nonzeros, as one stack of samples."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

__all__ = ["SparseVectors", "side_by_side"]


class SparseVectors:
    """Rows of a CSR array, with what every stack of samples has: a length, and ``X[rows]``.

    Each row holds its columns in ascending order, each once, and no zeros, whatever was given. It
    is never changed, and never becomes a dense array unless asked by :meth:`toarray`.

    Parameters
    ----------
    matrix : sparse array or matrix of shape (n, d)
        In any format.
    """

    ndim = 2

    def __init__(self, matrix: Any) -> None:
        self.matrix: sparse.csr_array = _canonical(matrix)

    @classmethod
    def _made(cls, matrix: sparse.csr_array) -> SparseVectors:
        """Of rows that are known to be in order."""
        made = object.__new__(cls)
        made.matrix = matrix
        return made

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, and of features."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the numbers."""
        return self.matrix.dtype

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return int(self.matrix.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(part.nbytes for part in self.rows)

    @property
    def rows(self) -> tuple[NDArray, NDArray, NDArray]:
        """Where rows begin, columns and numbers, as compiled code takes them."""
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    @cached_property
    def by_column(self) -> tuple[NDArray, NDArray, NDArray]:
        """The same by columns: where columns begin, rows in ascending order, and numbers."""
        columns = self.matrix.tocsc()
        return columns.indptr, columns.indices, columns.data

    @property
    def knows_columns(self) -> bool:
        """Whether :attr:`by_column` costs nothing any more."""
        return "by_column" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix}

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def __getitem__(self, rows: slice | NDArray | list) -> SparseVectors:
        """Some of the vectors, by slice, index or mask."""
        return self._made(sparse.csr_array(self.matrix[rows]))

    def columns(self, chosen: slice | NDArray | list) -> SparseVectors:
        """Some of the features."""
        return SparseVectors(self.matrix[:, chosen])

    def astype(self, dtype: DTypeLike, copy: bool = True) -> SparseVectors:
        """Numbers of another precision."""
        if not copy and self.dtype == dtype:
            return self
        return SparseVectors(self.matrix.astype(dtype))  # small numbers may have become zero

    def copy(self) -> SparseVectors:
        """The same in arrays of its own."""
        return self._made(self.matrix.copy())

    def tocsr(self) -> sparse.csr_array:
        """As SciPy knows them."""
        return self.matrix

    def toarray(self) -> NDArray:
        """As a dense array."""
        return self.matrix.toarray()

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray:
        raise TypeError("sparse samples are no dense array: call .toarray() if they fit in memory")

    def __repr__(self) -> str:
        return f"SparseVectors({self.shape}, {self.size} nonzeros, {self.dtype})"


def side_by_side(stacks: list[Any]) -> SparseVectors:
    """Features of several stacks, dense or sparse, beside each other."""
    blocks = [stack.matrix if isinstance(stack, SparseVectors) else stack for stack in stacks]
    return SparseVectors(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))


def _canonical(matrix: Any) -> sparse.csr_array:
    """Rows in order, without zeros and copies, with short indices where these are enough."""
    rows = sparse.csr_array(matrix)
    if not rows.has_canonical_format or not np.all(rows.data):
        # Turned twice, rows come out in order: linear in their numbers, where sorting is not.
        rows = rows.copy() if rows.has_sorted_indices else rows.tocsc().tocsr()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    most = max(rows.nnz, *rows.shape)
    kind = np.int32 if most <= np.iinfo(np.int32).max else np.int64
    if rows.indices.dtype == kind == rows.indptr.dtype:
        return rows
    index = rows.indices.astype(kind), rows.indptr.astype(kind)
    short = sparse.csr_array((rows.data, *index), shape=rows.shape)
    short.has_canonical_format = True
    return short
