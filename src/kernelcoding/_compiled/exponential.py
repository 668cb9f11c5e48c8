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


def chunk_of(dtype=np.float64):
    """Scratch for exponentials: numbers, their bits, what is added to these, and its bits.

    Made here because compiling what makes an array takes longer than compiling exponentials.
    """
    values, shifted = np.empty(CHUNK, dtype), np.empty(CHUNK, dtype)
    integers = np.dtype(f"i{values.itemsize}")
    return values, values.view(integers), shifted, shifted.view(integers)


@part(fastmath={"contract"})
def exponentials(values, bits, shifted, exponents, count):
    """Replace ``values[:count]`` by their exponentials."""
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


def scaled_exponential(values, factor):
    """Replace a matrix by ``exp(factor * values)``, for ``factor * values <= 700``."""
    fill_exponentials(values, factor, *chunk_of())


@compiled
def fill_exponentials(values, factor, chunk, bits, shifted, exponents):
    """The same with scratch from outside."""
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        for start in range(0, n_columns, CHUNK):
            count = min(CHUNK, n_columns - start)
            for j in range(count):
                chunk[j] = factor * values[i, start + j]
            exponentials(chunk, bits, shifted, exponents, count)
            for j in range(count):
                values[i, start + j] = 0.0 if chunk[j] < NOTHING else chunk[j]


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
def single_exponentials(values, bits, shifted, exponents, count):
    """Replace ``values[:count]`` by their exponentials."""
    for i in range(count):
        v = SINGLE_SMALLEST if values[i] < SINGLE_SMALLEST else values[i]
        rounded = v * SINGLE_LOG2_E + SINGLE_ROUNDER
        n = rounded - SINGLE_ROUNDER
        r = (v - n * SINGLE_LOG2_HIGH) - n * SINGLE_LOG2_LOW
        r2 = r * r
        high = (C3 + r * C4) + (C5 + r * C6) * r2
        shifted[i] = rounded
        values[i] = (ONE + r) + (HALF + r * high) * r2
    for i in range(count):
        bits[i] += exponents[i] << 23


def single_exponential(values):
    """Replace a matrix in single precision by its exponentials, for values up to 80.

    Below exp(-87) it stays: what is looked at in single precision is not that small.
    """
    fill_single_exponentials(values, *chunk_of(np.float32))


@compiled
def fill_single_exponentials(values, chunk, bits, shifted, exponents):
    """The same with scratch from outside."""
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        for start in range(0, n_columns, CHUNK):
            count = min(CHUNK, n_columns - start)
            for j in range(count):
                chunk[j] = values[i, start + j]
            single_exponentials(chunk, bits, shifted, exponents, count)
            for j in range(count):
                values[i, start + j] = chunk[j]
