"""Prepared stacks of vectors and the pair statistics computed from them."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._compiled.arguments import read_only
from ..long_calls import product, row_by_row
from ..parallel import short_slices
from ..sparse_vectors import SparseVectors
from ..stacks import Stack
from .sparse_pairs import (
    any_sparse,
    sparse_city_block,
    sparse_inner_products,
    sparse_row_sums,
    sparse_squared_distances,
)

__all__ = [
    "Points",
    "city_block",
    "inner_products",
    "mirror",
    "points_of",
    "require_same_width",
    "squared_distances",
]

# A squared distance below this share of its two squared norms is computed from differences: above,
# the expansion of the square keeps all but four of a double's sixteen digits, and all but two of a
# single's seven.
NEAR, NEAR_SINGLE = 1e-4, 1e-2
# Stacks are moved when the squared norm of their mean is more than this multiple of their variance;
# below, the offset costs a double one digit. A single has none to spare.
FAR, FAR_SINGLE = 16.0, 0.0
ORIGIN_ROWS = 64  # rows whose mean is the origin: anywhere amid the points will do


class Points(NamedTuple):
    """Vectors with their squared norms."""

    points: Stack  # (n, d) a dense array or sparse vectors
    squared_norms: NDArray  # (n,)


def points_of(X: NDArray | SparseVectors) -> Points:
    """Prepare vectors of shape (n, d)."""
    if isinstance(X, SparseVectors):
        return Points(X, sparse_row_sums(X, power=2).astype(X.dtype, copy=False))
    return Points(X, np.einsum("ij,ij->i", X, X))


def require_same_width(left: NDArray | SparseVectors, right: NDArray | SparseVectors) -> None:
    """Raise when two stacks hold samples of different shapes."""
    if left.shape[1:] != right.shape[1:]:
        raise ValueError(
            f"expected two stacks of samples of one shape, got {left.shape[1:]} and "
            f"{right.shape[1:]} per sample; describe both stacks by the same features."
        )


def _require_whole(P: Points) -> None:
    """Compiled code trusts these shapes; a model from a file need not keep its promises."""
    if P.squared_norms.shape != P.points.shape[:1]:
        raise ValueError(
            f"expected one squared norm for each of {len(P.points)} points, got "
            f"{P.squared_norms.shape}; prepare the points again."
        )


def inner_products(P: Points, Q: Points) -> NDArray:
    """Inner products of shape (n, m); exactly symmetric when Q is P."""
    require_same_width(P.points, Q.points)
    if any_sparse(P.points, Q.points):
        return sparse_inner_products(P.points, Q.points)
    return product(P.points, Q.points.T)


def squared_distances(P: Points, Q: Points) -> NDArray:
    r"""Squared Euclidean distances, shape (n, m), to nearly all digits whatever the origin.

    One matrix product, :math:`\|x\|^2 - 2 x'z + \|z\|^2`, and one compiled pass in place. Both
    stacks are moved first where Q lies far from the origin, and pairs whose distance is small
    against their norms are computed from their differences: the expansion of the square has no
    digits left for them. Exactly symmetric with a zero diagonal when Q is P.

    A row does not depend on the other rows of P, except through the rounding of the product.
    Vectors that are known by their nonzeros stay where they are, and far from the origin more of
    their distances are computed from differences.
    """
    from .._compiled.distances import finish_distances

    alone = P is Q
    require_same_width(P.points, Q.points)
    if any_sparse(P.points, Q.points):
        return sparse_squared_distances(P.points, Q.points)
    _require_whole(P)
    _require_whole(Q)
    if P.points.dtype != Q.points.dtype:
        P, Q = (points_of(stack.points.astype(np.float64)) for stack in (P, Q))
    near, far = (NEAR, FAR) if P.points.dtype == np.float64 else (NEAR_SINGLE, FAR_SINGLE)
    left, right = _moved(P, Q, far)
    distances = product(left.points, right.points.T)
    # Symmetry needs the whole matrix at once; else short calls let an interrupt through.
    slices = [slice(None)] if alone else short_slices(len(distances), len(Q.points))
    # Data frames are stored by columns: one order in memory is one compiled function, and one sum.
    ours, theirs = (read_only(np.ascontiguousarray(stack.points)) for stack in (P, Q))
    for rows in slices:
        norms = left.squared_norms[rows], right.squared_norms
        finish_distances(distances[rows], *norms, ours[rows], theirs, near, alone)
    return distances


def city_block(left: NDArray | SparseVectors, right: NDArray | SparseVectors) -> NDArray:
    """Sums of absolute differences, shape (n, m), in double precision."""
    if isinstance(left, SparseVectors) or isinstance(right, SparseVectors):
        return sparse_city_block(left, right)
    found = np.empty((len(left), len(right)))
    return row_by_row(partial(cdist, metric="cityblock"), left, right, found)


def _moved(P: Points, Q: Points, far: float) -> tuple[Points, Points]:
    """Both stacks about an origin amid Q, where Q lies far from zero against its spread.

    Distances do not change when both sides are moved, cancellation does. The origin depends on Q
    alone, the atoms: a sample's distances must not depend on the samples beside it.
    """
    if len(Q.points) < 2:  # without a spread nothing is far
        return P, Q
    some = Q.points[:: -(-len(Q.points) // ORIGIN_ROWS)]
    origin = some.mean(axis=0, dtype=np.float64)
    spread = np.square(some - origin).sum() / len(some)
    if not origin @ origin > far * spread:
        return P, Q
    origin = origin.astype(Q.points.dtype, copy=False)
    right = points_of(Q.points - origin)
    return (right if P is Q else points_of(P.points - origin)), right


def mirror(square: NDArray) -> NDArray:
    """Copy the upper triangle onto the lower one, in place."""
    for row in range(len(square) - 1):
        square[row + 1 :, row] = square[row, row + 1 :]
    return square
