r"""Constraints :math:`C`: which codes are allowed.

The convex sets are described by two facts, ``nonnegative`` and ``sum_to_one``; solvers and
certificates need no more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .component import Component

__all__ = ["AtMost", "Constraint", "Free", "NonNegative", "OneAtom", "Simplex", "SumToOne"]


class Constraint(Component):
    r"""A set :math:`C` of allowed codes.

    A convex set is two facts: whether entries are non-negative, and whether they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import NonNegative
    >>> NonNegative().contains(np.array([[1.0, 0.0], [1.0, -1.0]]))
    array([ True, False])
    """

    is_convex = True
    is_cone = True  # whether a multiple of an allowed code is allowed
    nonnegative = False
    sum_to_one = False

    def contains(self, codes: NDArray, tolerance: float = 1e-8) -> NDArray:
        """Which rows are allowed, up to a tolerance, (n,) booleans."""
        finite = np.isfinite(codes)
        allowed = finite.all(axis=1)
        codes = np.where(finite, codes, 0.0)
        size = np.maximum(1.0, np.abs(codes).sum(axis=1))
        if self.nonnegative:
            allowed &= codes.min(axis=1) >= -tolerance * size
        if self.sum_to_one:
            allowed &= np.abs(codes.sum(axis=1) - 1.0) <= tolerance * size
        return allowed

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        raise NotImplementedError


class Free(Constraint):
    r"""Every code is allowed, :math:`C = \mathbb{R}^N`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import Free
    >>> Free().project(np.array([[0.8, -1.0]]))
    array([[ 0.8, -1. ]])
    """

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        return points.copy()


class NonNegative(Constraint):
    r"""No negative entry, :math:`C = \{y : y_j \ge 0\}`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import NonNegative
    >>> NonNegative().project(np.array([[0.8, -1.0]]))
    array([[0.8, 0. ]])
    """

    nonnegative = True

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        return np.maximum(points, 0.0)


class SumToOne(Constraint):
    r"""Entries sum to one, :math:`C = \{y : \sum_j y_j = 1\}`.

    Codes do not change when the origin of H moves.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import SumToOne
    >>> SumToOne().project(np.array([[0.75, -0.25]]))
    array([[1., 0.]])
    """

    is_cone = False
    sum_to_one = True

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        return points + (1.0 - points.sum(axis=1, keepdims=True)) / points.shape[1]


class Simplex(Constraint):
    r"""Non-negative entries that sum to one, :math:`C = \{y \ge 0 : \sum_j y_j = 1\}`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import Simplex
    >>> Simplex().project(np.array([[0.8, 0.6, -1.0]]))
    array([[0.6, 0.4, 0. ]])
    """

    is_cone = False
    nonnegative = True
    sum_to_one = True

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        descending = -np.sort(-points, axis=1)
        excess = np.cumsum(descending, axis=1) - 1.0
        counts = np.arange(1, points.shape[1] + 1)
        n_kept = np.count_nonzero(descending * counts > excess, axis=1)
        shift = excess[np.arange(len(points)), n_kept - 1] / n_kept
        return np.maximum(points - shift[:, None], 0.0)


class OneAtom(Constraint):
    r"""A single entry equal to one, :math:`C = \{e_1, \dots, e_N\}`: hard assignment.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import OneAtom
    >>> OneAtom().project(np.array([[0.8, -1.0]]))
    array([[1., 0.]])
    """

    nonnegative = True
    is_cone = False
    is_convex = False

    def contains(self, codes: NDArray, tolerance: float = 1e-8) -> NDArray:
        """Which rows are allowed, up to a tolerance, (n,) booleans."""
        ones = np.abs(codes - 1.0) <= tolerance
        zeros = np.abs(codes) <= tolerance
        return np.all(ones | zeros, axis=1) & (ones.sum(axis=1) == 1)

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        codes = np.zeros_like(points)
        codes[np.arange(len(points)), points.argmax(axis=1)] = 1.0
        return codes


class AtMost(Constraint):
    r"""At most n entries differ from zero, :math:`C = \{y : \|y\|_0 \le n\}`.

    Parameters
    ----------
    n_nonzero : int
        Size of the largest allowed support.
    selection : {"omp", "ols"}, default="omp"
        How the greedy solver picks the next atom: by correlation with the residual (orthogonal
        matching pursuit), or by how much it lowers the residual (orthogonal least squares).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.constraints import AtMost
    >>> AtMost(n_nonzero=1).project(np.array([[0.8, -1.0]]))
    array([[ 0., -1.]])
    """

    is_convex = False

    def __init__(self, n_nonzero: int = 5, selection: str = "omp") -> None:
        self.n_nonzero = n_nonzero
        self.selection = selection

    def contains(self, codes: NDArray, tolerance: float = 1e-8) -> NDArray:
        """Which rows are allowed, (n,) booleans; a zero is a zero, whatever the tolerance."""
        finite = np.all(np.isfinite(codes), axis=1)
        return finite & (np.count_nonzero(codes, axis=1) <= self.n_nonzero)

    def project(self, points: NDArray) -> NDArray:
        """The nearest allowed code to each row, (n, N)."""
        n_kept = min(self.n_nonzero, points.shape[1])
        largest = np.argsort(-np.abs(points), axis=1, kind="stable")[:, :n_kept]
        codes = np.zeros_like(points)
        np.put_along_axis(codes, largest, np.take_along_axis(points, largest, axis=1), axis=1)
        return codes
