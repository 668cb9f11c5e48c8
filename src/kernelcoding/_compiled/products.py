"""Sparse rows and dense matrices."""

from .cholesky import subtract_rows
from .jit import compiled


@compiled
def add_rows_times(indptr, indices, values, matrix, out):
    """Add to every row of ``out`` a sparse combination of the rows of a dense matrix.

    Parameters
    ----------
    indptr, indices, values : arrays
        Of a CSR array of shape (n, N), or of some of its rows.
    matrix : array of shape (N, k)
    out : array of shape (n, k)
    """
    for i in range(indptr.size - 1):
        some = slice(indptr[i], indptr[i + 1])
        subtract_rows(out[i], matrix, indices[some], -values[some], indptr[i + 1] - indptr[i])


@compiled
def explain_rows(indptr, indices, values, cross, gram, out):
    """Fill ``out`` with ``y'(2k - Ky)`` of every sparse row y: only atoms in it are looked at.

    Parameters
    ----------
    indptr, indices, values : arrays
        Of a CSR array of shape (n, N), or of some of its rows.
    cross : array of shape (n, N)
        The rows k.
    gram : array of shape (N, N)
        K, symmetric.
    out : array of shape (n,)
    """
    for i in range(indptr.size - 1):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j, before = indices[t], 0.0
            for u in range(indptr[i], t):
                before += gram[j, indices[u]] * values[u]
            total += values[t] * (2.0 * (cross[i, j] - before) - gram[j, j] * values[t])
        out[i] = total


@compiled
def add_outer_products(indptr, indices, values, out):
    """Add ``y y'`` of every sparse row y, each pair of atoms on one side of the diagonal.

    Parameters
    ----------
    indptr, indices, values : arrays
        Of a CSR array of shape (n, N).
    out : array of shape (N, N)
    """
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            j, value = indices[t], values[t]
            for u in range(indptr[i], t + 1):
                out[j, indices[u]] += value * values[u]
