"""Linear algebra that an interrupt need not wait for.

Long calls are made in a thread of their own, as in :mod:`kernelcoding.parallel`; what they return
is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .parallel import short_slices, wait_for

LONG = 2**29  # operations of BLAS that take some 50 milliseconds
LARGE = 700  # rows of a matrix whose eigenvectors take some 200 milliseconds
FACTORED = 2000  # rows of a matrix whose Cholesky factor takes some 200 milliseconds
COLUMNS = 512  # of a factor that is computed by parts
ROWS = 256  # of a symmetric matrix that are looked at together
# Refinement of what a factor in single precision gives: least eigenvalue in units of its rounding
# from which on it is tried, and most steps.
REFINED, REFINEMENTS = 8.0, 20
SINGLE_REACH = 1e15  # sums of squares of such numbers are far from overflow in single precision


def product(left: NDArray, right: NDArray, out: NDArray | None = None) -> NDArray:
    """``left @ right``, written to ``out`` if there is one."""
    if left.size * right.shape[-1] <= LONG:
        return np.dot(left, right, out=out)
    return wait_for(partial(np.dot, left, right, out=out))


def eigh(matrix: NDArray, driver: str | None = None) -> tuple[NDArray, NDArray]:
    """Eigenvalues in increasing order and eigenvectors of a symmetric matrix.

    By SciPy, with the driver of LAPACK that it is given; large ones by NumPy, as SciPy lets no
    other thread run meanwhile.
    """
    if len(matrix) <= LARGE:
        return linalg.eigh(matrix, driver=driver)
    found = wait_for(partial(np.linalg.eigh, matrix))
    return found.eigenvalues, found.eigenvectors


def smallest_eigenvalue(matrix: NDArray) -> float:
    """The least eigenvalue of a symmetric matrix."""
    if len(matrix) <= LARGE:
        return float(linalg.eigvalsh(matrix, subset_by_index=(0, 0))[0])
    return float(wait_for(partial(np.linalg.eigvalsh, matrix))[0])


def cho_factor(matrix: NDArray) -> tuple[NDArray, bool]:
    """A Cholesky factor for :func:`scipy.linalg.cho_solve`; LinAlgError where there is none."""
    if len(matrix) <= FACTORED:
        return linalg.cho_factor(matrix, check_finite=False)
    # Transposed it is in the order that LAPACK reads: a solver need not copy it.
    return wait_for(partial(np.linalg.cholesky, matrix)).T, False


def factor_of_half(lower: NDArray) -> tuple[NDArray, bool]:
    """The same of a matrix of which one half is at hand, and may be written over."""
    if len(lower) <= FACTORED:
        return linalg.cho_factor(lower.T, overwrite_a=True, check_finite=False)
    return cho_factor(lower)  # of large ones it looks at that half


class Symmetric(Protocol):
    """A symmetric matrix of which parts are asked for: an array, or what computes its entries."""

    def __len__(self) -> int:
        """Rows."""

    def __getitem__(self, place: tuple[slice, slice], /) -> NDArray:
        """Entries of some rows and columns."""


def _bands(matrix: Symmetric) -> Iterator[tuple[slice, slice]]:
    """A few rows at a time, and the columns to their left and among themselves."""
    for start in range(0, len(matrix), ROWS):
        stop = min(start + ROWS, len(matrix))
        yield slice(start, stop), slice(0, stop)


def lower_half(matrix: Symmetric, dtype: type) -> NDArray:
    """A new array that holds what is on and below the diagonal; what is above means nothing."""
    lower: NDArray = np.empty((len(matrix),) * 2, dtype)
    for rows, columns in _bands(matrix):
        lower[rows, columns] = matrix[rows, columns]
    return lower


def symmetric_product(matrix: Symmetric, right: NDArray) -> NDArray:
    """``matrix @ right`` from one half of the matrix."""
    found = np.zeros_like(right)
    for rows, columns in _bands(matrix):
        part = matrix[rows, columns]
        found[rows] += part @ right[columns]
        found[: rows.start] += part[:, : rows.start].T @ right[rows]
    return found


def _size(lower: NDArray) -> float:
    """The norm of a symmetric matrix from its lower half."""
    square = 0.0
    for rows, columns in _bands(lower):
        among = float(np.linalg.norm(lower[rows, rows]))
        square += 2.0 * float(np.linalg.norm(lower[rows, columns])) ** 2 - among**2
    return float(np.sqrt(square))


def solve_definite(matrix: Symmetric, right: NDArray, least: float) -> NDArray:
    r"""The solution of a positive definite system, as accurate as by a factor in double precision.

    A large matrix is factored in single precision, in half of the time, and the solution refined
    until its residual is at the level of rounding, as LAPACK's ``dsposv`` does.

    Parameters
    ----------
    matrix : array of shape (n, n), or one that computes its entries
        Symmetric.
    right : array of shape (n, m)
    least : float
        A lower bound of the eigenvalues.
    """
    if len(matrix) > FACTORED:
        found = _refined(matrix, right, least)
        if found is not None:
            return found
    factor = factor_of_half(lower_half(matrix, np.float64))
    return linalg.cho_solve(factor, right, check_finite=False)


def _in_reach(largest: float) -> bool:
    """Whether single precision holds a definite matrix with this entry, and products of entries."""
    return bool(1 / SINGLE_REACH < largest < SINGLE_REACH)


def _largest(matrix: Symmetric) -> float:
    """The largest entry on the diagonal, which is the largest of all where it is definite."""
    return max(float(np.diag(matrix[rows, rows]).max()) for rows, _ in _bands(matrix))


def _refined(matrix: Symmetric, right: NDArray, least: float) -> NDArray | None:
    """By a factor in single precision; None where rounding in it is too large."""
    if not _in_reach(_largest(matrix)):
        return None
    lower = lower_half(matrix, np.float32)
    size = _size(lower)
    if not least > REFINED * np.finfo(np.float32).eps * size:
        return None
    try:
        _factor_in_place(lower)
    except linalg.LinAlgError:
        return None
    found, residual = np.zeros_like(right), right
    eps, before = np.finfo(np.float64).eps, np.inf
    for _ in range(REFINEMENTS):
        scale = np.maximum(np.linalg.norm(residual, axis=0), np.finfo(float).tiny)
        step = (residual / scale).astype(np.float32)
        for trans in (0, 1):
            step = linalg.solve_triangular(lower, step, trans, lower=True, check_finite=False)
        found = found + scale * step
        residual = right - symmetric_product(matrix, found)
        reach = np.maximum(np.linalg.norm(found, axis=0), np.finfo(float).tiny)
        missed = np.linalg.norm(residual, axis=0) / reach
        if missed.max() <= eps * size:
            return found
        if missed.max() > 0.5 * before:
            return None
        before = missed.max()
    return None


def _factor_in_place(lower: NDArray) -> None:
    """Write the Cholesky factor over the lower half of a matrix, a few columns at a time.

    What is above the diagonal is not to be looked at.
    """
    for start in range(0, len(lower), COLUMNS):
        now, rest = slice(start, start + COLUMNS), slice(start + COLUMNS, len(lower))
        before = product(lower[start:, :start], lower[now, :start].T)
        corner = np.tril(lower[now, now]) - before[:COLUMNS]
        corner = linalg.cholesky(corner, lower=True, check_finite=False)
        lower[now, now] = corner
        lower[rest, now] -= before[COLUMNS:]
        lower[rest, now] = linalg.solve_triangular(
            corner, lower[rest, now].T, lower=True, check_finite=False
        ).T


def triangular_inverse(lower: NDArray) -> NDArray:
    """The inverse of a lower triangular matrix, by halves: long products can be left alone."""
    n = len(lower)
    if n <= LARGE:
        return linalg.solve_triangular(lower, np.eye(n), lower=True, check_finite=False)
    first, second = slice(0, n // 2), slice(n // 2, n)
    inverse = np.zeros_like(lower)
    inverse[first, first] = triangular_inverse(lower[first, first])
    inverse[second, second] = triangular_inverse(lower[second, second])
    below = product(lower[second, first], inverse[first, first])
    inverse[second, first] = -product(inverse[second, second], below)
    return inverse


def number_by_number(
    function: Callable[[NDArray], NDArray], values: NDArray, cost: int = 16
) -> NDArray:
    """``function(values)`` of each number, written over ``values``, some rows at a time."""
    for rows in short_slices(len(values), cost * values[:1].size):
        values[rows] = function(values[rows])
    return values


def row_by_row(
    function: Callable[[NDArray, NDArray], NDArray], left: NDArray, right: NDArray, out: NDArray
) -> NDArray:
    """``out = function(left, right)`` for a function of pairs of rows, some rows at a time."""
    for rows in short_slices(len(left), right.size):
        out[rows] = function(left[rows], right)
    return out
