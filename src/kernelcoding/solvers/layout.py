"""How arrays go into compiled code and come out of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes


def plain(array: NDArray, dtype: type | np.dtype | None = None) -> NDArray:
    """The array, row by row in memory and writable, so that one compiled version serves all.

    Memory-mapped arguments, as joblib hands them to its workers, are read-only: compiled code
    would take them for another type and be compiled again.
    """
    return np.require(array, dtype, requirements=["C_CONTIGUOUS", "WRITEABLE"])


def scatter(values: NDArray, indices: NDArray, n_atoms: int, sparse_output: bool) -> Codes:
    """Codes (n, N) from m values per row and the atoms (n, m) they belong to."""
    n_samples, n_values = values.shape
    if not sparse_output:
        codes = np.zeros((n_samples, n_atoms), dtype=values.dtype)
        np.put_along_axis(codes, indices, values, axis=1)
        return codes
    starts = np.arange(n_samples + 1) * n_values
    # Copies: sorting columns must not touch the caller's arrays.
    flat = (values.flatten(), indices.flatten(), starts)
    compact = sparse.csr_array(flat, shape=(n_samples, n_atoms))
    compact.sort_indices()
    compact.eliminate_zeros()
    return compact
