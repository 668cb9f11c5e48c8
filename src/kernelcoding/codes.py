"""Codes, one per row, as dense arrays or CSR arrays, and what is computed with either alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .parallel import map_rows

Codes: TypeAlias = NDArray | sparse.csr_array

# Share of numbers that are not zero from which BLAS, which multiplies zeros too, is faster.
DENSE = 0.25


def is_csr(codes: object) -> TypeGuard[sparse.csr_array]:
    """Whether codes are kept by their nonzeros (by rows, or prepared by columns)."""
    return sparse.issparse(codes)


def dense(codes: Codes) -> NDArray:
    """Codes as a plain array."""
    return codes.toarray() if is_csr(codes) else np.asarray(codes)


def columns_used(codes: Codes) -> NDArray:
    """Atoms that any of the codes uses, in ascending order."""
    return np.unique(codes.nonzero()[1])


def zero_rows(codes: Codes) -> NDArray:
    """Which codes are all zero, (n,)."""
    if not is_csr(codes):
        return np.logical_not(np.any(codes, axis=1))
    if codes.format == "csr" and codes.data.all():
        return np.diff(codes.indptr) == 0
    empty = np.ones(codes.shape[0], dtype=bool)
    empty[codes.nonzero()[0]] = False
    return empty


def row_sums(codes: Codes, weights: Codes | float = 1.0) -> NDArray:
    """Sum of ``codes * weights`` over atoms."""
    if not is_csr(codes) or codes.format != "csr" or is_csr(weights):
        product = codes.multiply(weights) if is_csr(codes) else codes * weights
        return np.asarray(product.sum(axis=1)).ravel()
    rows = np.repeat(np.arange(codes.shape[0]), np.diff(codes.indptr))
    terms = codes.data
    if not np.isscalar(weights):
        terms = terms * np.broadcast_to(weights, codes.shape)[rows, codes.indices]
    elif weights != 1.0:
        terms = terms * weights
    return np.bincount(rows, terms, minlength=codes.shape[0]).astype(terms.dtype, copy=False)


def transposed(codes: Codes) -> Codes:
    """Atoms as rows."""
    return sparse.csr_array(codes.T) if is_csr(codes) else codes.T


def times(codes: Codes, matrix: NDArray) -> NDArray:
    """``codes @ matrix``; skips the zeros of the codes where that is faster."""
    if not is_csr(codes) or codes.nnz > DENSE * codes.shape[0] * codes.shape[1]:
        return dense(codes) @ matrix
    if matrix.ndim != 2 or codes.dtype != np.float64 or matrix.dtype != np.float64:
        return np.asarray(codes @ matrix)
    from ._compiled.products import add_rows_times

    rows = sparse.csr_array(codes)
    index = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    right, out = np.ascontiguousarray(matrix), np.zeros((rows.shape[0], matrix.shape[1]))
    mean_cost = rows.nnz * out.shape[1] // max(len(out), 1)

    def add(some: slice) -> None:
        starts = index[0][some.start : some.stop + 1]
        add_rows_times(starts, index[1], rows.data, right, out[some])

    map_rows(add, len(out), 1, cost=mean_cost)
    return out


def times_codes(matrix: NDArray, codes: Codes) -> NDArray:
    """``matrix @ codes``; skips the zeros of the codes where that is faster."""
    if not is_csr(codes):
        return matrix @ codes
    return np.ascontiguousarray(times(transposed(codes), matrix.T).T)


def products(codes: Codes, others: Codes) -> NDArray:
    """Inner products of codes, (n, Z), dense."""
    return times(codes, dense(others).T)


def stacked(parts: Sequence[Codes]) -> Codes:
    """Codes of all blocks, one below the other."""
    if len(parts) == 1:
        return parts[0]
    rows = [part for part in parts if is_csr(part)]
    if len(rows) < len(parts):
        return np.vstack([dense(part) for part in parts])
    ends = np.cumsum([part.nnz for part in rows])
    starts = [rows[0].indptr]  # of each row: SciPy's own stacking takes ten times as long
    starts += [end + part.indptr[1:] for end, part in zip(ends, rows[1:], strict=False)]
    values, atoms = (
        np.concatenate([getattr(part, name) for part in rows]) for name in ("data", "indices")
    )
    shape = (sum(part.shape[0] for part in rows), rows[0].shape[1])
    return sparse.csr_array((values, atoms, np.concatenate(starts)), shape=shape)


def widened(codes: Codes, atoms: NDArray, n_atoms: int) -> Codes:
    """Codes of some atoms as codes of all."""
    if np.array_equal(atoms, np.arange(n_atoms)):
        return codes
    if is_csr(codes):
        parts = (codes.data, atoms[codes.indices], codes.indptr)
        return sparse.csr_array(parts, shape=(codes.shape[0], n_atoms))
    wide = np.zeros((codes.shape[0], n_atoms))
    wide[:, atoms] = codes
    return wide


def weighted(codes: Codes, sample_weight: NDArray | None) -> Codes:
    """Every code times the weight of its sample; None: as they are."""
    if sample_weight is None:
        return codes
    if is_csr(codes):
        return sparse.csr_array(sparse.diags_array(sample_weight) @ codes)
    return codes * sample_weight[:, None]


def second_moment(codes: Codes, sample_weight: NDArray | None = None) -> NDArray:
    """Y'Y as a dense array, (N, N), or Y'VY with weights V of samples."""
    codes = weighted(codes, None if sample_weight is None else np.sqrt(sample_weight))
    return times(codes.T.tocsr() if is_csr(codes) else codes.T, dense(codes))


def count_users(codes: Codes, sample_weight: NDArray | None = None) -> NDArray:
    """How many samples (of positive weight) use each atom, (N,)."""
    if sample_weight is not None:
        codes = codes[sample_weight > 0]
    if is_csr(codes):
        return np.bincount(codes.indices[codes.data != 0], minlength=codes.shape[1]).astype(float)
    return np.count_nonzero(codes, axis=0).astype(float)
