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
            level = largest(block, level)
    return level


@inner
def largest(block, level):
    """The largest of some values and ``level``; four comparisons do not wait for each other."""
    a = b = c = d = level
    whole = block.size // 4 * 4
    for j in range(0, whole, 4):
        a, b = block[j] if block[j] > a else a, block[j + 1] if block[j + 1] > b else b
        c, d = block[j + 2] if block[j + 2] > c else c, block[j + 3] if block[j + 3] > d else d
    for j in range(whole, block.size):
        a = block[j] if block[j] > a else a
    a, c = b if b > a else a, d if d > c else c
    return c if c > a else a


@summing
def dot(left, right):
    """Inner product of two vectors of one length."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@fused
def subtract_four(source, a, b, c, d, weights, out):
    """``out = source`` minus four weighted rows."""
    wa, wb, wc, wd = weights
    for j in range(out.size):
        out[j] = source[j] - wa * a[j] - wb * b[j] - wc * c[j] - wd * d[j]


@fused
def subtract_rows(out, matrix, index, weights, count):
    """``out -= sum_i weights[i] matrix[index[i]]``, four rows in one pass over ``out``.

    Where fewer than four are left, the last one stands in for the others with a weight of zero.
    """
    size, last = out.size, count - 1
    for i in range(0, count, 4):
        a, b = matrix[index[i], :size], matrix[index[min(i + 1, last)], :size]
        c, d = matrix[index[min(i + 2, last)], :size], matrix[index[min(i + 3, last)], :size]
        wa, wb = weights[i], weights[i + 1] if i + 1 < count else 0.0
        wc = weights[i + 2] if i + 2 < count else 0.0
        wd = weights[i + 3] if i + 3 < count else 0.0
        subtract_four(out, a, b, c, d, (wa, wb, wc, wd), out)


@fused
def write_without_rows(source, matrix, index, weights, count, out):
    """``out = source - sum_i weights[i] matrix[index[i]]``, without a pass to copy ``source``."""
    size = out.size
    if count < 4:
        copy(source, out)
        subtract_rows(out, matrix, index, weights, count)
        return
    a, b = matrix[index[0], :size], matrix[index[1], :size]
    c, d = matrix[index[2], :size], matrix[index[3], :size]
    subtract_four(source, a, b, c, d, (weights[0], weights[1], weights[2], weights[3]), out)
    subtract_rows(out, matrix, index[4:], weights[4:], count - 4)


@allocating
def larger(factor):
    """Memory for a factor with more than twice as many rows.

    An odd number of cache lines per row, so that rows do not collide in the cache.
    """
    capacity = 2 * factor.shape[0] // 16 * 16 + 24
    return np.empty((capacity, capacity))


@fused
def forward(factor, size, columns, count):
    """Solve ``U' x = h`` in place for the first ``count`` rows of ``columns``."""
    whole = size // 4 * 4
    for i in range(0, whole, 4):
        end = i + 4
        u0, u1 = factor[i, i:size], factor[i + 1, i:size]
        u2, u3 = factor[i + 2, i:size], factor[i + 3, i:size]
        by0, by1, by2, by3 = 1.0 / u0[0], 1.0 / u1[1], 1.0 / u2[2], 1.0 / u3[3]
        u01, u02, u03, u12, u13, u23 = u0[1], u0[2], u0[3], u1[2], u1[3], u2[3]
        u0, u1, u2, u3 = u0[4:], u1[4:], u2[4:], u3[4:]
        for r in range(count):
            x = columns[r]
            x0 = x[i] * by0
            x1 = (x[i + 1] - u01 * x0) * by1
            x2 = (x[i + 2] - u02 * x0 - u12 * x1) * by2
            x3 = (x[i + 3] - u03 * x0 - u13 * x1 - u23 * x2) * by3
            x[i], x[i + 1], x[i + 2], x[i + 3] = x0, x1, x2, x3
            rest = x[end:size]
            for j in range(rest.size):
                rest[j] = rest[j] - x0 * u0[j] - x1 * u1[j] - x2 * u2[j] - x3 * u3[j]
    for r in range(count):
        x = columns[r]
        for a in range(whole, size):
            x[a] /= factor[a, a]
            for b in range(a + 1, size):
                x[b] -= factor[a, b] * x[a]


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
    whole = size // 4 * 4
    for a in range(size - 1, whole - 1, -1):
        for b in range(a + 1, size):
            x[a] -= factor[a, b] * x[b]
        x[a] /= factor[a, a]
    for i in range(whole - 4, -1, -4):
        u0, u1 = factor[i, i:size], factor[i + 1, i:size]
        u2, u3 = factor[i + 2, i:size], factor[i + 3, i:size]
        # Divisions that wait for nothing: each of the four numbers waits for the one before it.
        by0, by1, by2, by3 = 1.0 / u0[0], 1.0 / u1[1], 1.0 / u2[2], 1.0 / u3[3]
        dot0, dot1, dot2, dot3 = four_dots(u0[4:], u1[4:], u2[4:], u3[4:], x[i + 4 : size])
        x3 = (x[i + 3] - dot3) * by3
        x2 = (x[i + 2] - dot2 - u2[3] * x3) * by2
        x1 = (x[i + 1] - dot1 - u1[3] * x3 - u1[2] * x2) * by1
        x0 = (x[i] - dot0 - u0[3] * x3 - u0[2] * x2 - u0[1] * x1) * by0
        x[i], x[i + 1], x[i + 2], x[i + 3] = x0, x1, x2, x3


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
        by = 1.0 / np.sqrt(rest[0] ** 2 + factor[i + 1, i + 1] ** 2)
        cosine, sine = rest[0] * by, factor[i + 1, i + 1] * by
        mix(factor[i, i : size - 1], factor[i + 1, i + 1 : size], rest, cosine, sine)
        first, second = carried_solved, solved[i + 1]
        solved[i] = cosine * first + sine * second
        carried_solved = cosine * second - sine * first
        first, second = carried_ones, ones[i + 1]
        ones[i] = cosine * first + sine * second
        carried_ones = cosine * second - sine * first
