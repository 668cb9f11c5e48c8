"""Prepared stacks of vectors and the pair statistics computed from them."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..long_calls import product, row_by_row
from ..parallel import short_slices

__all__ = [
    "Points",
    "city_block",
    "inner_products",
    "mirror",
    "points_of",
    "require_same_width",
    "squared_distances",
]


class Points(NamedTuple):
    """Vectors with their squared norms."""

    points: NDArray  # (n, d)
    squared_norms: NDArray  # (n,)


def points_of(X: NDArray) -> Points:
    """Prepare vectors of shape (n, d)."""
    return Points(X, np.einsum("ij,ij->i", X, X))


def require_same_width(left: NDArray, right: NDArray) -> None:
    """Raise when two stacks hold samples of different shapes."""
    if left.shape[1:] != right.shape[1:]:
        raise ValueError(
            f"expected two stacks of samples of one shape, got {left.shape[1:]} and "
            f"{right.shape[1:]} per sample; describe both stacks by the same features."
        )


def inner_products(P: Points, Q: Points) -> NDArray:
    """Inner products of shape (n, m); exactly symmetric when Q is P."""
    require_same_width(P.points, Q.points)
    return product(P.points, Q.points.T)


def squared_distances(P: Points, Q: Points) -> NDArray:
    r"""Squared Euclidean distances :math:`\|x\|^2 - 2 x'z + \|z\|^2`, shape (n, m).

    One matrix product and one compiled pass in place. Exactly symmetric with a zero diagonal when
    Q is P.
    """
    from .._compiled.distances import finish_distances

    alone = P is Q
    require_same_width(P.points, Q.points)
    P, Q = _comparable(P, Q)
    distances = product(P.points, Q.points.T)
    for rows in short_slices(len(distances), len(Q.points)):
        finish_distances(distances[rows], P.squared_norms[rows], Q.squared_norms)
    if alone:
        np.fill_diagonal(distances, 0.0)
    return distances


def city_block(left: NDArray, right: NDArray) -> NDArray:
    """Sums of absolute differences, shape (n, m), in double precision."""
    found = np.empty((len(left), len(right)))
    return row_by_row(partial(cdist, metric="cityblock"), left, right, found)


def _comparable(P: Points, Q: Points) -> tuple[Points, Points]:
    """Protect the expansion of the square from float32's seven digits."""
    if P.points.dtype != Q.points.dtype:
        return points_of(P.points.astype(np.float64)), points_of(Q.points.astype(np.float64))
    if P.points.dtype != np.float32 or len(Q.points) == 0:
        return P, Q
    # Distances do not change when both sides are moved, cancellation does: take the origin amid Q.
    # It depends on Q alone, so a row of the result does not depend on the other rows.
    center = Q.points.mean(axis=0, dtype=np.float64).astype(np.float32)
    right = points_of(Q.points - center)
    return (right if P is Q else points_of(P.points - center)), right


def mirror(square: NDArray) -> NDArray:
    """Copy the upper triangle onto the lower one, in place."""
    for row in range(len(square) - 1):
        square[row + 1 :, row] = square[row, row + 1 :]
    return square
