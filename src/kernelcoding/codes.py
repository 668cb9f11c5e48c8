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


def some_rows(codes: Codes, rows: slice) -> Codes:
    """Codes of some samples; all of them are not copied."""
    return codes if rows == slice(0, codes.shape[0]) else codes[rows]


def count_nonzero(codes: Codes) -> int:
    """Numbers of all codes that are not zero."""
    return int(np.count_nonzero(codes.data if is_csr(codes) else codes))


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
    if not is_csr(codes) or _is_full(codes):
        return dense(codes) @ matrix
    if matrix.ndim != 2 or codes.dtype != np.float64 or matrix.dtype != np.float64:
        return np.asarray(codes @ matrix)
    from ._compiled.products import add_rows_times

    starts, atoms, values = _by_rows(codes)
    right, out = np.ascontiguousarray(matrix), np.zeros((codes.shape[0], matrix.shape[1]))
    mean_cost = codes.nnz * out.shape[1] // max(len(out), 1)

    def add(some: slice) -> None:
        add_rows_times(starts[some.start : some.stop + 1], atoms, values, right, out[some])

    map_rows(add, len(out), 1, cost=mean_cost)
    return out


def _is_full(codes: sparse.csr_array) -> bool:
    """Whether its zeros are too few to be worth skipping."""
    return bool(codes.nnz > DENSE * codes.shape[0] * codes.shape[1])


def _by_rows(codes: sparse.csr_array) -> tuple[NDArray, NDArray, NDArray]:
    """Starts of rows, atoms and values for compiled code: one type of index serves all."""
    rows = codes if codes.format == "csr" else codes.tocsr()
    starts, atoms = (index.astype(np.int64, copy=False) for index in (rows.indptr, rows.indices))
    return starts, atoms, rows.data


def times_codes(matrix: NDArray, codes: Codes) -> NDArray:
    """``matrix @ codes``; skips the zeros of the codes where that is faster."""
    return times(transposed(codes), matrix.T).T if is_csr(codes) else matrix @ codes


def explained(codes: Codes, cross: NDArray, gram: NDArray) -> NDArray:
    """What codes take off the squared norms of their samples, ``y'(2k - Ky)``, (n,)."""
    double = codes.dtype == cross.dtype == gram.dtype == np.float64
    if not double or not is_csr(codes) or _is_full(codes):
        return row_sums(codes, 2.0 * cross - times(codes, gram))
    from ._compiled.products import explain_rows

    starts, atoms, values = _by_rows(codes)
    cross, gram, out = np.ascontiguousarray(cross), np.ascontiguousarray(gram), np.empty(len(cross))

    def fill(some: slice) -> None:
        index = starts[some.start : some.stop + 1]
        explain_rows(index, atoms, values, cross[some], gram, out[some])

    map_rows(fill, len(out), 1, cost=(codes.nnz // max(len(out), 1)) ** 2)
    return out


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
    if not is_csr(codes) or _is_full(codes):
        rows = dense(codes)
        return rows.T @ rows
    from ._compiled.products import add_outer_products

    half, mean_cost = np.zeros((codes.shape[1],) * 2), codes.nnz // max(codes.shape[0], 1)
    starts, atoms, values = _by_rows(codes)

    def add(some: slice) -> None:
        add_outer_products(starts[some.start : some.stop + 1], atoms, values, half)

    map_rows(add, codes.shape[0], 1, cost=mean_cost**2)
    return half + half.T - np.diag(np.diag(half))


def scaled_columns(codes: Codes, factors: NDArray) -> Codes:
    """Codes with the weights of every atom multiplied by a number."""
    if not is_csr(codes):
        return codes * factors
    rows = codes if codes.format == "csr" else codes.tocsr()
    parts = (rows.data * factors[rows.indices], rows.indices, rows.indptr)
    scaled = sparse.csr_array(parts, shape=rows.shape)
    if not np.all(factors):
        scaled = scaled.copy()  # places are shared: the codes given would lose theirs
        scaled.eliminate_zeros()
    return scaled


def picked(first: Codes, second: Codes, rows: NDArray) -> Codes:
    """Codes of the first kind, but those of the second where ``rows`` says so."""
    if not is_csr(first):
        return np.where(rows[:, None], dense(second), first)
    order = np.arange(len(rows)) + len(rows) * rows
    return stacked([first, sparse.csr_array(second)])[order]


def count_users(codes: Codes, sample_weight: NDArray | None = None) -> NDArray:
    """How many samples (of positive weight) use each atom, (N,)."""
    if sample_weight is not None:
        codes = codes[sample_weight > 0]
    if is_csr(codes):
        return np.bincount(codes.indices[codes.data != 0], minlength=codes.shape[1]).astype(float)
    return np.count_nonzero(codes, axis=0).astype(float)
