"""A Cholesky factor that grows by blocks and shrinks by rotations.

The factor ``U`` (upper triangular, ``U'U = H``) is stored by rows, so that every loop runs along
contiguous memory: a forward solve subtracts rows, a backward solve takes products with rows, a
rotation mixes two rows.
"""

import numpy as np

from .jit import part

LOOK = 64  # numbers compared at once in the search for the largest

allocating = part
# Where nothing is allocated nothing need be counted: reference counts of views are a quarter of
# the time on small problems.
inner = part(_nrt=False)
# Should Numba be a version that ``linking.py`` does not know, it optimises a function again with
# every function that calls it, and which of the copies runs depends on what else a process has
# loaded. Bits are equal only where every copy must compute the same: plain loops are in order (a
# product may join the one sum it is part of), and only inner products, which call nothing and add
# to nothing, are summed in any order so that they vectorise.
fused = part(_nrt=False, fastmath={"contract"})
summing = part(_nrt=False, fastmath={"reassoc", "contract", "nsz"})


@inner
def copy(source, out):
    """Write ``source`` to the front of ``out``."""
    for i in range(source.size):
        out[i] = source[i]


@inner
def raised(values, level):
    """The largest of the values, or ``level`` if none is above it; NaN is above nothing.

    Counting vectorises where a running maximum does not, and few blocks hold a new maximum.
    """
    for start in range(0, values.size, LOOK):
        block = values[start : min(start + LOOK, values.size)]
        above = 0
        for j in range(block.size):
            above += block[j] > level
        if above > 0:
            for j in range(block.size):
                level = block[j] if block[j] > level else level
    return level


@summing
def dot(left, right):
    """Inner product of two vectors of one length."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@fused
def subtract_rows(out, matrix, index, weights, count):
    """``out -= sum_i weights[i] matrix[index[i]]``, four rows in one pass over ``out``."""
    size = out.size
    i = 0
    while i + 4 <= count:
        a, b = matrix[index[i], :size], matrix[index[i + 1], :size]
        c, d = matrix[index[i + 2], :size], matrix[index[i + 3], :size]
        wa, wb, wc, wd = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(size):
            out[j] = out[j] - wa * a[j] - wb * b[j] - wc * c[j] - wd * d[j]
        i += 4
    while i < count:
        a = matrix[index[i], :size]
        wa = weights[i]
        for j in range(size):
            out[j] -= wa * a[j]
        i += 1


@allocating
def with_room(factor, size, needed):
    """The factor, moved to a larger array if ``needed`` rows do not fit."""
    if needed <= factor.shape[0]:
        return factor
    # An odd number of cache lines per row, so that rows do not collide in the cache.
    capacity = max(needed, 2 * factor.shape[0]) // 16 * 16 + 24
    larger = np.empty((capacity, capacity))
    for i in range(size):
        copy(factor[i, i:size], larger[i, i:])
    return larger


@fused
def forward(factor, size, columns, count):
    """Solve ``U' x = h`` in place for the first ``count`` rows of ``columns``."""
    i = 0
    while i < size:
        end = min(i + 4, size)
        for r in range(count):
            x = columns[r]
            for a in range(i, end):
                x[a] /= factor[a, a]
                for b in range(a + 1, end):
                    x[b] -= factor[a, b] * x[a]
        if end < size:
            u0, u1 = factor[i, end:size], factor[i + 1, end:size]
            u2, u3 = factor[i + 2, end:size], factor[i + 3, end:size]
            for r in range(count):
                x = columns[r]
                x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
                rest = x[end:size]
                for j in range(rest.size):
                    rest[j] = rest[j] - x0 * u0[j] - x1 * u1[j] - x2 * u2[j] - x3 * u3[j]
        i = end


@summing
def four_dots(a, b, c, d, x):
    """Inner products of four vectors with one."""
    ax = bx = cx = dx = 0.0
    for j in range(x.size):
        ax += a[j] * x[j]
        bx += b[j] * x[j]
        cx += c[j] * x[j]
        dx += d[j] * x[j]
    return ax, bx, cx, dx


@fused
def backward(factor, size, x):
    """Solve ``U z = x`` in place, four rows at a time: they share loads and do not wait."""
    end = size
    while end > 0:
        i = (end - 1) // 4 * 4
        if end < size:
            u0, u1 = factor[i, end:size], factor[i + 1, end:size]
            u2, u3 = factor[i + 2, end:size], factor[i + 3, end:size]
            dot0, dot1, dot2, dot3 = four_dots(u0, u1, u2, u3, x[end:size])
            x[i] -= dot0
            x[i + 1] -= dot1
            x[i + 2] -= dot2
            x[i + 3] -= dot3
        for a in range(end - 1, i - 1, -1):
            for b in range(a + 1, end):
                x[a] -= factor[a, b] * x[b]
            x[a] /= factor[a, a]
        end = i


@inner
def append(factor, size, column, pivot):
    """Add the row whose forward-solved column and squared diagonal entry are given."""
    for i in range(size):
        factor[i, size] = column[i]
    factor[size, size] = np.sqrt(pivot)


@inner
def mix(upper, lower, carry, cosine, sine):
    """Rotate the pair (carry, lower): the first goes to ``upper``, the second stays in carry."""
    for j in range(upper.size):
        first, second = carry[j], lower[j]
        upper[j] = cosine * first + sine * second
        carry[j] = cosine * second - sine * first


@inner
def delete(factor, size, position, carry, solved, ones):
    """Remove one row; ``solved`` and ``ones`` (solutions of ``U' x = b``) are rotated along."""
    for i in range(position):
        row = factor[i, position:size]
        for j in range(row.size - 1):
            row[j] = row[j + 1]
    copy(factor[position, position + 1 : size], carry)
    carried_solved, carried_ones = solved[position], ones[position]
    for i in range(position, size - 1):
        rest = carry[i - position : size - 1 - position]
        length = np.sqrt(rest[0] ** 2 + factor[i + 1, i + 1] ** 2)
        cosine, sine = rest[0] / length, factor[i + 1, i + 1] / length
        mix(factor[i, i : size - 1], factor[i + 1, i + 1 : size], rest, cosine, sine)
        first, second = carried_solved, solved[i + 1]
        solved[i] = cosine * first + sine * second
        carried_solved = cosine * second - sine * first
        first, second = carried_ones, ones[i + 1]
        ones[i] = cosine * first + sine * second
        carried_ones = cosine * second - sine * first
