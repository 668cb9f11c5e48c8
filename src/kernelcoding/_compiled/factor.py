"""A blocked Cholesky factorisation without LAPACK: Newton systems, first active sets.

Rows run in threads of our own, so a threaded LAPACK call inside one row would fight with them.
Only the upper triangle is read and written: ``matrix = U' U`` with rows of U contiguous.
"""

from __future__ import annotations

from .jit import compiled

# Contracting and reordering sums lets the loops use vector registers; NaN and infinity keep
# their meaning, unlike under fastmath=True.
SUMS = {"contract", "reassoc", "nsz"}
STRIP = 512  # columns updated together: four rows of this length stay in the first cache


@compiled(fastmath=SUMS)
def update_four(matrix, above, first, low, high):
    """Subtract four finished rows from four later ones: sixteen products a load and store."""
    p0, p1, p2, p3 = matrix[above], matrix[above + 1], matrix[above + 2], matrix[above + 3]
    r0, r1, r2, r3 = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
    a0, a1, a2, a3 = p0[first], p1[first], p2[first], p3[first]
    b0, b1, b2, b3 = p0[first + 1], p1[first + 1], p2[first + 1], p3[first + 1]
    c0, c1, c2, c3 = p0[first + 2], p1[first + 2], p2[first + 2], p3[first + 2]
    d0, d1, d2, d3 = p0[first + 3], p1[first + 3], p2[first + 3], p3[first + 3]
    for j in range(low, high):
        x0, x1, x2, x3 = p0[j], p1[j], p2[j], p3[j]
        r0[j] -= a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
        r1[j] -= b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
        r2[j] -= c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
        r3[j] -= d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3


@compiled(fastmath=SUMS)
def factor_rows(matrix, size, done, first, last, floor):
    """Factor rows ``first:last`` from which rows up to ``done`` are subtracted already."""
    for i in range(first, last):
        row = matrix[i]
        for p in range(done, i):
            above = matrix[p]
            scale = above[i]
            for j in range(i, size):
                row[j] -= scale * above[j]
        if not row[i] >= floor:
            return False
        pivot = row[i] ** 0.5
        row[i] = pivot
        inverse = 1.0 / pivot
        for j in range(i + 1, size):
            row[j] *= inverse
    return True


@compiled
def cholesky(matrix, size, floor):
    r"""Overwrite the upper triangle of ``matrix[:size, :size]`` by U with :math:`U^\top U = M`.

    Returns False, with the work half done, at the first pivot that is below ``floor`` or NaN.
    """
    blocked = size - size % 4
    for first in range(0, blocked, 4):
        for low in range(first, size, STRIP):
            high = min(low + STRIP, size)
            for above in range(0, first, 4):
                update_four(matrix, above, first, low, high)
        if not factor_rows(matrix, size, first, first, first + 4, floor):
            return False
    return factor_rows(matrix, size, 0, blocked, size, floor)


@compiled(fastmath=SUMS)
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
