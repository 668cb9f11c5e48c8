"""Sparse rows times a dense matrix."""

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
