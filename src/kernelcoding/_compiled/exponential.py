r"""An exponential that the compiler turns into vector instructions.

The library's exponential is called once per number; on processors without 512-bit vectors that is
most of the time a Gaussian kernel or a soft assignment takes. Here :math:`e^v = 2^n e^r` with
:math:`n = \mathrm{round}(v / \log 2)` and a polynomial in :math:`|r| \le \log(2) / 2`, all in
operations that exist for vectors; the relative error is below three units in the last place.
"""

from __future__ import annotations

import numpy as np

from .jit import compiled, part

CHUNK = 512  # numbers between the two passes, kept in the first-level cache
LOG2_E = 1.4426950408889634
# log 2 in two parts: n times the first is exact, the second carries the rest.
LOG2_HIGH = 6.93145751953125e-1
LOG2_LOW = 1.42860682030941723212e-6
# Adding and subtracting this rounds to an integer and leaves it in the low bits of the sum.
ROUNDER = 6755399441055744.0
SMALLEST = -708.0  # below, an exponential is subnormal
NOTHING = 1e-307  # and given as zero


@part(fastmath={"contract"})
def exponentials(values, count, shifted):
    """Replace ``values[:count]`` by their exponentials; ``shifted`` is scratch of the same size."""
    bits, exponents = values.view(np.int64), shifted.view(np.int64)
    for i in range(count):
        v = SMALLEST if values[i] < SMALLEST else values[i]  # a NaN stays one
        rounded = v * LOG2_E + ROUNDER
        n = rounded - ROUNDER
        r = (v - n * LOG2_HIGH) - n * LOG2_LOW
        r2 = r * r
        r4 = r2 * r2
        low = (1.0 + r) + (1.0 / 2.0 + r * (1.0 / 6.0)) * r2
        middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + (1.0 / 720.0 + r * (1.0 / 5040.0)) * r2
        high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + (
            1.0 / 3628800.0 + r * (1.0 / 39916800.0)
        ) * r2
        top = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
        shifted[i] = rounded
        values[i] = low + middle * r4 + (high + top * r4) * (r4 * r4)
    for i in range(count):
        bits[i] += exponents[i] << 52  # times 2^n, in the exponent's own bits


@compiled
def scaled_exponential(values, factor):
    """Replace a matrix by ``exp(factor * values)``, for ``factor * values <= 700``."""
    chunk, scratch = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(values.shape[0]):
        row = values[i]
        for start in range(0, row.size, CHUNK):
            count = min(CHUNK, row.size - start)
            for j in range(count):
                chunk[j] = factor * row[start + j]
            exponentials(chunk, count, scratch)
            for j in range(count):
                row[start + j] = 0.0 if chunk[j] < NOTHING else chunk[j]


# The same in single precision: fewer terms, and other widths of exponents.
SINGLE_LOG2_E = np.float32(1.4426950408889634)
SINGLE_LOG2_HIGH = np.float32(0.693359375)
SINGLE_LOG2_LOW = np.float32(-2.12194440e-4)
SINGLE_ROUNDER = np.float32(12582912.0)
SINGLE_SMALLEST = np.float32(-87.0)
ONE, HALF, C3, C4, C5, C6 = (
    np.float32(1.0 / number) for number in (1, 2, 6, 24, 120, 720)
)  # fmt: skip


@part(fastmath={"contract"})
def single_exponentials(values, shifted):
    """Replace values by their exponentials; ``shifted`` is scratch of the same size."""
    bits, exponents = values.view(np.int32), shifted.view(np.int32)
    for i in range(values.size):
        v = SINGLE_SMALLEST if values[i] < SINGLE_SMALLEST else values[i]
        rounded = v * SINGLE_LOG2_E + SINGLE_ROUNDER
        n = rounded - SINGLE_ROUNDER
        r = (v - n * SINGLE_LOG2_HIGH) - n * SINGLE_LOG2_LOW
        r2 = r * r
        high = (C3 + r * C4) + (C5 + r * C6) * r2
        shifted[i] = rounded
        values[i] = (ONE + r) + (HALF + r * high) * r2
    for i in range(values.size):
        bits[i] += exponents[i] << 23


@compiled
def single_exponential(values):
    """Replace a matrix in single precision by its exponentials, for values up to 80.

    Below exp(-87) it stays: what is looked at in single precision is not that small.
    """
    scratch = np.empty(CHUNK, np.float32)
    for i in range(values.shape[0]):
        row = values[i]
        for start in range(0, row.size, CHUNK):
            some = row[start : start + CHUNK]
            single_exponentials(some, scratch[: some.size])
