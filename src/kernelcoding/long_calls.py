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


def product(left: NDArray, right: NDArray) -> NDArray:
    """``left @ right``."""
    if left.size * right.shape[-1] <= LONG:
        return np.dot(left, right)
    return wait_for(partial(np.dot, left, right))


def eigh(matrix: NDArray, driver: str | None = None) -> tuple[NDArray, NDArray]:
    """Eigenvalues in increasing order and eigenvectors of a symmetric matrix.

    By SciPy, with the driver of LAPACK that it is given; large ones by NumPy, as SciPy lets no
    other thread run meanwhile.
    """
    if len(matrix) <= LARGE:
        return linalg.eigh(matrix, driver=driver)
    found = wait_for(partial(np.linalg.eigh, matrix))
    return found.eigenvalues, found.eigenvectors


def row_by_row(
    function: Callable[[NDArray, NDArray], NDArray], left: NDArray, right: NDArray, out: NDArray
) -> NDArray:
    """``out = function(left, right)`` for a function of pairs of rows, some rows at a time."""
    for rows in short_slices(len(left), right.size):
        out[rows] = function(left[rows], right)
    return out
