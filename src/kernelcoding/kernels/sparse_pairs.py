"""Pair statistics of vectors that are known by their nonzeros.

Sums over the columns that both vectors have cost as much as there are such pairs of numbers, and
nothing is made dense but the answer. All sums are in double precision. A term that counts where
either vector is not zero follows from one where both are not: with x, z >= 0,
:math:`(x - z)^2 / (x + z) = x + z - 4 x z / (x + z)`, and likewise for other distances.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._compiled.arguments import read_only
from ..parallel import short_slices
from ..sparse_vectors import SparseVectors

__all__ = [
    "any_sparse",
    "sparse_chi_squared",
    "sparse_city_block",
    "sparse_inner_products",
    "sparse_intersections",
    "sparse_row_sums",
    "sparse_squared_distances",
]

Vectors: TypeAlias = NDArray | SparseVectors

# A distance below this share of its two sums is computed from differences: above, cancellation
# leaves all but four of a double's sixteen digits.
NEAR = 1e-4


def any_sparse(left: Vectors, right: Vectors) -> bool:
    """Whether one of two stacks is known by its nonzeros."""
    return isinstance(left, SparseVectors) or isinstance(right, SparseVectors)


def sparse_inner_products(left: Vectors, right: Vectors) -> NDArray:
    """Inner products of shape (n, m); exactly symmetric when right is left."""
    from .._compiled.sparse_rows import PRODUCTS

    return _common(PRODUCTS, *_alike(left, right)).astype(_precision(left, right), copy=False)


def sparse_intersections(left: Vectors, right: Vectors) -> NDArray:
    """Sums of the smaller of two numbers that are not negative, (n, m)."""
    from .._compiled.sparse_rows import MINIMA

    return _common(MINIMA, *_alike(left, right)).astype(_precision(left, right), copy=False)


def sparse_squared_distances(left: Vectors, right: Vectors) -> NDArray:
    """Squared Euclidean distances, (n, m), zero for equal rows."""
    from .._compiled.sparse_rows import PRODUCTS, SQUARES

    return _distances((PRODUCTS, SQUARES, 2.0), left, right, power=2)


def sparse_city_block(left: Vectors, right: Vectors) -> NDArray:
    """Sums of absolute differences, (n, m), zero for equal rows."""
    from .._compiled.sparse_rows import DIFFERENCES, MINIMA

    return _distances((MINIMA, DIFFERENCES, 2.0), left, right)


def sparse_chi_squared(left: Vectors, right: Vectors) -> NDArray:
    """Chi-squared distances of histograms, (n, m), zero for equal rows."""
    from .._compiled.sparse_rows import CHI_SQUARES, HARMONICS

    return _distances((HARMONICS, CHI_SQUARES, 4.0), left, right)


def sparse_row_sums(rows: SparseVectors, power: int = 1) -> NDArray:
    """Sums of absolute numbers, or of their squares (power 2), (n,), in double precision."""
    from .._compiled.sparse_rows import add_row_sums

    sums = np.zeros(len(rows))
    starts, _, values = _arguments(*rows.rows)
    for some in short_slices(len(sums), 1 + rows.size // max(1, len(rows))):
        add_row_sums(power, starts[some.start : some.stop + 1], values, sums[some])
    return sums


def _precision(left: Vectors, right: Vectors) -> np.dtype:
    return np.result_type(left.dtype, right.dtype)


def _alike(left: Vectors, right: Vectors) -> tuple[SparseVectors, SparseVectors]:
    """Both sparse and of one precision; one object where they were."""
    dtype = _precision(left, right)
    first = _as_sparse(left).astype(dtype, copy=False)
    return first, first if right is left else _as_sparse(right).astype(dtype, copy=False)


def _arguments(starts: NDArray, places: NDArray, values: NDArray) -> tuple[NDArray, ...]:
    """Rows or columns for compiled code: of one type, in double precision, which sums are in."""
    arrays = starts, places, values.astype(np.float64, copy=False)
    return tuple(read_only(array) for array in arrays)


def _as_sparse(rows: Vectors) -> SparseVectors:
    return rows if isinstance(rows, SparseVectors) else SparseVectors(sparse.csr_array(rows))


def _common(kind: int, left: SparseVectors, right: SparseVectors) -> NDArray:
    """Sums over the columns that both rows have, (n, m)."""
    from .._compiled.sparse_rows import add_common

    # One side is known by columns: the one that is already, or atoms, which meet many samples.
    turned = not right.knows_columns and (left.knows_columns or len(right) == 1 < len(left))
    if turned:
        left, right = right, left
    found = np.zeros((len(left), len(right)))
    starts, columns, values = _arguments(*left.rows)
    index = _arguments(*right.by_column)
    lengths = np.diff(index[0])[columns].sum(dtype=np.float64)
    for rows in short_slices(len(left), int(lengths // max(1, len(left))) + 1):
        some = starts[rows.start : rows.stop + 1]
        add_common(kind, some, columns, values, *index, found[rows])
    return np.ascontiguousarray(found.T) if turned else found


def _distances(
    kinds: tuple[int, int, float], left: Vectors, right: Vectors, power: int = 1
) -> NDArray:
    """Distances from sums over common columns.

    Parameters
    ----------
    kinds : tuple
        The sum over common columns, the distance, and the factor between.
    left, right : stacks of n and m vectors
    power : {1, 2}
        A vector's distance to zero is the sum of its absolute numbers, or of their squares.
    """
    from .._compiled.sparse_rows import finish_sparse_distances

    dtype = _precision(left, right)
    common, distance, factor = kinds
    first, second = _alike(left, right)
    found = _common(common, first, second)
    sums = sparse_row_sums(first, power), sparse_row_sums(second, power)
    starts, *rest = _arguments(*first.rows)
    others = _arguments(*second.rows)
    merging = (first.size // max(1, len(first))) + (second.size // max(1, len(second))) + 1
    for rows in short_slices(len(first), len(second) * merging):
        own: Any = (starts[rows.start : rows.stop + 1], *rest)
        finish_sparse_distances(
            distance, found[rows], factor, sums[0][rows], sums[1], own, others, NEAR
        )
    return found.astype(dtype, copy=False)
