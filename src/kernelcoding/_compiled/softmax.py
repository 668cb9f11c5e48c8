"""Softmax over atoms."""

from __future__ import annotations

import numpy as np

from .exponential import CHUNK, NOTHING, exponentials
from .jit import compiled


# Sums and maxima in any order, as vectors; the caller has checked that all is finite.
@compiled(fastmath={"contract", "reassoc", "nnan", "nsz"})
def fill_soft_weights(cross, offsets, factor, codes):
    """Fill ``codes[i]`` with the softmax of ``factor * (cross[i] - offsets[i])``.

    ``offsets`` has one row for all samples, or one per sample.
    """
    n_atoms = cross.shape[1]
    values, scratch = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(cross.shape[0]):
        own = offsets[i % offsets.shape[0]]
        best = -np.inf
        for j in range(n_atoms):
            score = cross[i, j] - own[j]
            best = score if score > best else best
        total = 0.0
        for start in range(0, n_atoms, CHUNK):
            count = min(CHUNK, n_atoms - start)
            for j in range(count):
                values[j] = factor * ((cross[i, start + j] - own[start + j]) - best)
            exponentials(values, count, scratch)
            for j in range(count):
                total += values[j]
                codes[i, start + j] = values[j] if values[j] > NOTHING else 0.0
        inverse = 1.0 / total
        for j in range(n_atoms):
            codes[i, j] *= inverse
