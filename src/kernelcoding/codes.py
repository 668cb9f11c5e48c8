"""Codes, one a row, as dense arrays or CSR arrays, and what is computed with either alike."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Codes: TypeAlias = Any  # a dense array or a scipy.sparse.csr_array, one code a row

# Share of numbers that are not zero from which BLAS, which multiplies zeros too, is faster.
DENSE = 0.25


def dense(codes: Codes) -> NDArray:
    """Codes as a plain array."""
    return codes.toarray() if sparse.issparse(codes) else np.asarray(codes)


def row_sums(codes: Codes, weights: NDArray | float = 1.0) -> NDArray:
    """Sum of ``codes * weights`` over atoms."""
    product: Any = codes.multiply(weights) if sparse.issparse(codes) else codes * weights
    return np.asarray(product.sum(axis=1)).ravel()


def transposed(codes: Codes) -> Codes:
    """Atoms as rows."""
    return sparse.csr_array(codes.T) if sparse.issparse(codes) else codes.T


def times(codes: Codes, matrix: NDArray) -> NDArray:
    """``codes @ matrix``; skips the zeros of the codes where that is faster."""
    if not sparse.issparse(codes) or codes.nnz > DENSE * codes.shape[0] * codes.shape[1]:
        return dense(codes) @ matrix
    if matrix.ndim != 2 or codes.dtype != np.float64 or matrix.dtype != np.float64:
        return np.asarray(codes @ matrix)
    from ._compiled.products import rows_times

    rows = sparse.csr_array(codes)
    index = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return rows_times(*index, rows.data, np.ascontiguousarray(matrix))


def times_codes(matrix: NDArray, codes: Codes) -> NDArray:
    """``matrix @ codes``; skips the zeros of the codes where that is faster."""
    if not sparse.issparse(codes):
        return matrix @ codes
    return np.ascontiguousarray(times(transposed(codes), matrix.T).T)


def products(codes: Codes, others: Codes) -> NDArray:
    """Inner products of codes, (n, Z), dense."""
    return times(codes, dense(others).T)
