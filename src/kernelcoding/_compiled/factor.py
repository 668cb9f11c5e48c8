"""A blocked Cholesky factorisation without LAPACK: Newton systems, first active sets.

Rows run in threads of our own, so a threaded LAPACK call inside one row would fight with them.
The factor is computed by rows of L, so that all work is inner products along contiguous memory,
eight at a time: they need no stores, hence no proof that stores do not overlap loads, which is
what keeps compilers from vectorising the textbook update.
"""

from __future__ import annotations

from typing import NamedTuple

from .cholesky import dot, fused, inner, summing
from .jit import part

PANEL = 64  # rows worked on together: each finished row is fetched once per panel
TILE = 8  # side of the squares that a transposition moves, one cache line wide


class Corner(NamedTuple):
    """A four by four block on the diagonal of L, its diagonal inverted."""

    inverse0: float
    l10: float
    inverse1: float
    l20: float
    l21: float
    inverse2: float
    l30: float
    l31: float
    l32: float
    inverse3: float


@summing
def eight_dots(x0, x1, y0, y1, y2, y3):
    """Inner products of two vectors with four: eight products for six loads."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    for k in range(x0.size):
        u, v = x0[k], x1[k]
        p, q, r, s = y0[k], y1[k], y2[k], y3[k]
        a0 += u * p
        a1 += u * q
        a2 += u * r
        a3 += u * s
        b0 += v * p
        b1 += v * q
        b2 += v * r
        b3 += v * s
    return (a0, a1, a2, a3), (b0, b1, b2, b3)


@fused
def solve_four(row, first, dots, corner):
    """Entries ``first .. first + 3`` of a row of L, from its inner products with those rows."""
    dot0, dot1, dot2, dot3 = dots
    x0 = (row[first] - dot0) * corner.inverse0
    x1 = (row[first + 1] - dot1 - x0 * corner.l10) * corner.inverse1
    x2 = (row[first + 2] - dot2 - x0 * corner.l20 - x1 * corner.l21) * corner.inverse2
    x3 = row[first + 3] - dot3 - x0 * corner.l30 - x1 * corner.l31 - x2 * corner.l32
    x3 *= corner.inverse3
    row[first], row[first + 1], row[first + 2], row[first + 3] = x0, x1, x2, x3


@inner
def factor_corner(matrix, first, last, floor):
    """Rows ``first:last`` from column ``first`` on; all earlier columns are finished."""
    for i in range(first, last):
        row = matrix[i]
        for j in range(first, i + 1):
            other = matrix[j]
            value = row[j] - dot(row[:j], other[:j])
            if j < i:
                row[j] = value / other[j]
            elif value >= floor:
                row[i] = value**0.5
            else:
                return False
    return True


@inner
def corner_of(matrix, i):
    """The block on the diagonal of L whose first row is ``i``."""
    r0, r1, r2, r3 = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
    return Corner(
        1.0 / r0[i],
        r1[i], 1.0 / r1[i + 1],
        r2[i], r2[i + 1], 1.0 / r2[i + 2],
        r3[i], r3[i + 1], r3[i + 2], 1.0 / r3[i + 3],
    )  # fmt: skip


@inner
def reflect(matrix, size):
    """Write the transpose of the lower triangle to the upper one."""
    for top in range(0, size, TILE):
        for left in range(0, top + 1, TILE):
            for i in range(top, min(top + TILE, size)):
                for j in range(left, min(left + TILE, i)):
                    matrix[j, i] = matrix[i, j]


@inner
def cholesky(matrix, size, floor):
    r"""Overwrite ``matrix[:size, :size]`` by L and its transpose, :math:`L L^\top = M`.

    Only the lower triangle is read; the lower one ends as L, the upper one as its transpose.
    Returns False, with the work half done, at the first pivot that is below ``floor`` or NaN.
    """
    for top in range(0, size, PANEL):
        bottom = min(top + PANEL, size)
        for j in range(0, bottom, 4):
            if j >= top and not factor_corner(matrix, j, min(j + 4, bottom), floor):
                return False
            if j + 4 >= bottom:
                break
            corner = corner_of(matrix, j)
            y0, y1, y2, y3 = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
            for i in range(max(top, j + 4), bottom, 2):
                last = min(i + 1, bottom - 1)  # itself where no row is left to go with it
                a, b = matrix[i], matrix[last]
                dots, others = eight_dots(a[:j], b[:j], y0[:j], y1[:j], y2[:j], y3[:j])
                solve_four(a, j, dots, corner)
                if last > i:
                    solve_four(b, j, others, corner)
    reflect(matrix, size)
    return True


@part(fastmath={"contract"})
def solve_factored(factor, size, right):
    r"""Solve :math:`L L^\top x = b` in place of ``right[:size]``, by rows of the upper factor."""
    for i in range(size):
        row = factor[i]
        value = right[i] / row[i]
        right[i] = value
        for j in range(i + 1, size):
            right[j] -= value * row[j]
    for i in range(size - 1, -1, -1):
        row = factor[i]
        right[i] = (right[i] - dot(row[i + 1 : size], right[i + 1 : size])) / row[i]
