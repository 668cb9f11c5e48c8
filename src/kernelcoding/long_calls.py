"""Linear algebra that an interrupt need not wait for.

Long calls are made in a thread of their own, as in :mod:`kernelcoding.parallel`; what they return
is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .parallel import short_slices, wait_for

LONG = 2**29  # operations of BLAS that take some 50 milliseconds
LARGE = 700  # rows of a matrix whose eigenvectors take some 200 milliseconds
FACTORED = 2000  # rows of a matrix whose Cholesky factor takes some 200 milliseconds


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
