"""Normalisations of aggregated vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from ..validation import check_positive

NORMS = ("l1", "l2", "max", None)


def check_normalization(norm: str | None, power: float = 1.0) -> None:
    """Refuse unknown norms and powers outside (0, 1]."""
    if norm not in NORMS:
        raise ValueError(f"norm must be one of {NORMS}, got {norm!r}.")
    check_positive("power", power)
    if power > 1:
        raise ValueError(f"power must be at most 1 (which changes nothing), got {power!r}.")


def normalized(vectors: NDArray, power: float, norm: str | None) -> NDArray:
    """Power law ``sign(v)|v|^power`` on each entry, then unit norm of each row; zeros stay zeros.

    Works in place.
    """
    if power != 1:
        signs = np.sign(vectors)
        np.abs(vectors, out=vectors)
        np.power(vectors, power, out=vectors)
        vectors *= signs
    return vectors if norm is None else normalize(vectors, norm, copy=False)


def without_rounding(parts: NDArray, words: NDArray, sizes: NDArray) -> NDArray:
    """Sums of residuals, (n, n_words, d), in place: those within the rounding of the words are 0.

    Otherwise a set whose descriptors are words would become a unit vector of noise.
    """
    rounding = 100 * np.finfo(parts.dtype).eps * np.linalg.norm(words, axis=1).max()
    parts[np.linalg.norm(parts, axis=-1) <= rounding * np.maximum(sizes, 1)[:, None]] = 0.0
    return parts


def unit_parts(parts: NDArray) -> NDArray:
    """Intra-normalisation: unit norm along the last axis, in place; zeros stay zeros."""
    norms = np.linalg.norm(parts, axis=-1, keepdims=True)
    return np.divide(parts, norms, out=parts, where=norms > 0)
