"""Sparse rows times a dense matrix."""

import numpy as np

from .cholesky import subtract_rows
from .jit import compiled


@compiled(error_model="numpy")
def rows_times(indptr, indices, values, matrix):
    """Every sparse row as a combination of the rows of a dense matrix.

    Parameters
    ----------
    indptr, indices, values : arrays
        Of a CSR array of shape (n, N).
    matrix : array of shape (N, k)

    Returns
    -------
    product : array of shape (n, k)
    """
    out = np.zeros((indptr.size - 1, matrix.shape[1]))
    weights = -values
    for i in range(indptr.size - 1):
        some = slice(indptr[i], indptr[i + 1])
        subtract_rows(out[i], matrix, indices[some], weights[some], indptr[i + 1] - indptr[i])
    return out
