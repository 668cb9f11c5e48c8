"""A small Cholesky factorisation: dense Newton systems of the group solver, without LAPACK.

Rows run in threads of our own, so a threaded LAPACK call inside one row would fight with them.
Only the upper triangle is read and written: ``matrix = U' U`` with rows of U contiguous.
"""

from __future__ import annotations

from numba import njit

# Contracting and reordering sums lets the loops use vector registers; NaN and infinity keep
# their meaning, unlike under fastmath=True.
SUMS = {"contract", "reassoc", "nsz"}
PANEL = 8


@njit(nogil=True, cache=True, fastmath=SUMS)
def factor_panel(matrix, size, first, last, floor):
    """Factor rows ``first:last`` whose earlier updates are done; lift pivots below ``floor``."""
    for i in range(first, last):
        row = matrix[i]
        for p in range(first, i):
            above = matrix[p]
            scale = above[i]
            for j in range(i, size):
                row[j] -= scale * above[j]
        pivot = max(row[i], floor) ** 0.5
        row[i] = pivot
        inverse = 1.0 / pivot
        for j in range(i + 1, size):
            row[j] *= inverse


@njit(nogil=True, cache=True, fastmath=SUMS)
def update_row(row, p0, p1, p2, p3, p4, p5, p6, p7, i, size):
    """Subtract eight finished rows from one later row: one pass over it instead of eight."""
    a0, a1, a2, a3 = p0[i], p1[i], p2[i], p3[i]
    a4, a5, a6, a7 = p4[i], p5[i], p6[i], p7[i]
    for j in range(i, size):
        low = a0 * p0[j] + a1 * p1[j] + a2 * p2[j] + a3 * p3[j]
        row[j] -= low + a4 * p4[j] + a5 * p5[j] + a6 * p6[j] + a7 * p7[j]


@njit(nogil=True, cache=True)
def cholesky(matrix, size, floor):
    r"""Overwrite the upper triangle of ``matrix[:size, :size]`` by U with :math:`U^\top U = M`.

    A pivot below ``floor`` is lifted to it: a singular system then yields a long step in the
    null direction, which the line search cuts, instead of a division by zero.
    """
    first = 0
    while first < size:
        last = min(first + PANEL, size)
        factor_panel(matrix, size, first, last, floor)
        if last - first == PANEL:
            p0, p1, p2, p3 = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
            p4, p5, p6, p7 = (
                matrix[first + 4],
                matrix[first + 5],
                matrix[first + 6],
                matrix[first + 7],
            )
            for i in range(last, size):
                update_row(matrix[i], p0, p1, p2, p3, p4, p5, p6, p7, i, size)
        first = last


@njit(nogil=True, cache=True, fastmath=SUMS)
def solve_factored(factor, size, right):
    r"""Solve :math:`U^\top U x = b` in place of ``right[:size]``."""
    for i in range(size):
        row = factor[i]
        value = right[i] / row[i]
        right[i] = value
        for j in range(i + 1, size):
            right[j] -= value * row[j]
    for i in range(size - 1, -1, -1):
        row = factor[i]
        total = 0.0
        for j in range(i + 1, size):
            total += row[j] * right[j]
        right[i] = (right[i] - total) / row[i]
