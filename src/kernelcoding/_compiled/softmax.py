"""Softmax over atoms."""

from __future__ import annotations

import numpy as np

from .exponential import CHUNK, NOTHING, chunk_of, exponentials
from .jit import compiled


def fill_soft_weights(cross, offsets, factor, codes):
    """Fill ``codes[i]`` with the softmax of ``factor * (cross[i] - offsets[i])``.

    ``offsets`` has one row for all samples, or one per sample.
    """
    fill_weights(cross, offsets, factor, codes, *chunk_of())


# Sums and maxima in any order, as vectors; the caller has checked that all is finite.
@compiled(fastmath={"contract", "reassoc", "nnan", "nsz"})
def fill_weights(cross, offsets, factor, codes, values, bits, shifted, exponents):
    """The same with scratch from outside."""
    n_atoms, n_offsets = cross.shape[1], offsets.shape[0]
    for i in range(cross.shape[0]):
        own = i if n_offsets > 1 else 0
        best = -np.inf
        for j in range(n_atoms):
            score = cross[i, j] - offsets[own, j]
            best = score if score > best else best
        total = 0.0
        for start in range(0, n_atoms, CHUNK):
            count = min(CHUNK, n_atoms - start)
            for j in range(count):
                values[j] = factor * ((cross[i, start + j] - offsets[own, start + j]) - best)
            exponentials(values, bits, shifted, exponents, count)
            for j in range(count):
                total += values[j]
                codes[i, start + j] = values[j] if values[j] > NOTHING else 0.0
        inverse = 1.0 / total
        for j in range(n_atoms):
            codes[i, j] *= inverse
