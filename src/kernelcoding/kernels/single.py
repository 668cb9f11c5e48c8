r"""Kernel values in single precision, with a bound on what that does to them.

For looking at very many pairs of which few matter: a third of the time of double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..long_calls import product
from ..parallel import short_slices
from .base import Kernel, Prepared
from .pairs import Points
from .radial import SquaredDistanceKernel

__all__ = ["SingleRows", "SingleValues"]

UNIT = float(np.finfo(np.float32).eps) / 2  # largest relative error of one operation
EXPONENTIAL = 16  # units that an exponential is allowed to be wrong by; ours is wrong by five
USELESS = 0.01  # values less certain than this tell nothing


class SingleRows(NamedTuple):
    """Samples as the left side of products, and the largest error of their values."""

    vectors: NDArray  # (n, d + 2)
    errors: NDArray  # (n,)


class SingleValues:
    r"""Values :math:`\exp(-\gamma\|x - d\|^2)` of samples x and the atoms d.

    The exponent is one inner product of d + 2 numbers,
    :math:`2\gamma\,x'd - \gamma\|x\|^2 - \gamma\|d\|^2`, about an origin amid the atoms. In
    whatever order d + 2 products are added, the sum is wrong by at most d + 5 units of rounding
    times the sum of their sizes, which is :math:`\gamma(\|x\| + \|d\|)^2` at most: for the
    largest atom, that is what :class:`SingleRows` holds as a change of the value.

    Parameters
    ----------
    gamma : float
    points : array of shape (N, d)
        The atoms.
    """

    def __init__(self, gamma: float, points: NDArray):
        self._gamma = gamma
        self._origin = points.mean(axis=0, dtype=np.float64)
        self._atoms = np.empty((len(points), points.shape[1] + 2), np.float32)
        squares = np.empty(len(points))
        step = max(1, 2**22 // points.shape[1])
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            vectors, squares[rows] = self._vectors(points[rows])
            self._atoms[rows] = _swapped(vectors)  # right sides
        self._radii = np.sqrt(squares)
        self._largest = float(self._radii.max())

    @classmethod
    def of(cls, kernel: Kernel, prepared: Prepared) -> SingleValues | None:
        """The values of a kernel for prepared atoms; None where no useful bound is known."""
        if not (isinstance(kernel, SquaredDistanceKernel) and isinstance(prepared, Points)):
            return None
        if not isinstance(prepared.points, np.ndarray):
            return None
        found = cls(kernel._positive("gamma"), prepared.points)
        useful = np.isfinite(found._atoms).all() and found._errors(found._radii).max() < USELESS
        return found if useful else None

    def _vectors(self, points: NDArray) -> tuple[NDArray, NDArray]:
        """Points about the origin, minus gamma times their squares, and one; and the squares."""
        moved = points - self._origin
        squares = np.einsum("ij,ij->i", moved, moved)
        moved *= np.sqrt(2.0 * self._gamma)
        ends = np.column_stack([-self._gamma * squares, np.ones(len(points))])
        with np.errstate(over="ignore"):  # infinite numbers are noticed
            return np.hstack([moved, ends]).astype(np.float32), squares

    def _errors(self, radii: NDArray) -> NDArray:
        """Largest error of a value of a sample this far from the origin, (n,)."""
        terms = self._atoms.shape[1] + 3
        wrong = terms * UNIT * self._gamma * (radii + self._largest) ** 2
        # Samples far from all atoms have small values, and small errors.
        least = self._gamma * np.maximum(radii - self._largest, 0.0) ** 2
        return np.exp(wrong - least) - np.exp(-least) + EXPONENTIAL * UNIT

    def of_samples(self, points: NDArray) -> SingleRows | None:
        """Samples as left sides; None where single precision does not reach that far."""
        vectors, squares = self._vectors(points)
        if not np.isfinite(vectors).all():
            return None
        return SingleRows(vectors, self._errors(np.sqrt(squares)))

    def of_atoms(self, atoms: NDArray) -> SingleRows:
        """Some of the atoms as left sides."""
        return SingleRows(_swapped(self._atoms[atoms]), self._errors(self._radii[atoms]))

    def between(
        self, rows: SingleRows, atoms: slice | NDArray, room: NDArray | None = None
    ) -> NDArray:
        """Values of left sides and some atoms, (n, m); in ``room`` where it is given.

        Parameters
        ----------
        rows : SingleRows
        atoms : slice or array of int
        room : array of n * m numbers at least, default=None
            Flat, in single precision: new memory costs more than what is computed in it.
        """
        from .._compiled.exponential import single_exponential

        right = self._atoms[atoms]
        shape = len(rows.vectors), len(right)
        out = None if room is None else room[: shape[0] * shape[1]].reshape(shape)
        values = product(rows.vectors, right.T, out)
        for some in short_slices(len(values), 2 * values.shape[1]):
            single_exponential(values[some])
        return values


def _swapped(vectors: NDArray) -> NDArray:
    """The last two columns in the other order: a left side becomes a right side, in place."""
    vectors[:, [-2, -1]] = vectors[:, [-1, -2]]
    return vectors
