"""Methods of estimators that know nothing of Dask, scikit-learn's pipelines among them."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .mapping import Call, lazily
from .methods import RowAnswer

__all__ = ["apply"]


def apply(estimator: Any, method: str, X: Any, like: ArrayLike) -> da.Array:
    """Any method of any fitted estimator on samples of Dask, one task per block.

    Estimators of this package are lazy by themselves. Others, and pipelines with such steps, would
    compute all samples in this process; here the whole estimator goes to where the blocks are.

    Parameters
    ----------
    estimator : estimator
        Fitted; the rows of its answer must be those of its samples.
    method : str
        Such as ``"predict"``.
    X : Dask array, data frame or list of delayed blocks
    like : array or CSR matrix of shape (n, ...)
        An answer to a few samples: it says what shape and type rows have.

    Returns
    -------
    answers : Dask array of shape (n, ...)

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from kernelcoding import KernelLLC
    >>> X, y = load_digits(return_X_y=True)
    >>> pipeline = make_pipeline(KernelLLC(atoms=100), LinearSVC()).fit(X[:500], y[:500])
    >>> lazy = da.from_array(X, chunks=(600, -1))
    >>> apply(pipeline, "predict", lazy, like=pipeline.predict(X[:2])).chunks
    ((600, 600, 597),)
    """
    is_csr = sparse.issparse(like)
    few: Any = like if is_csr else np.asarray(like)
    row = RowAnswer(tuple(few.shape[1:]), few.dtype, is_csr)
    found = lazily(Call(estimator, method, lambda _, dtype: row), X, (), {})
    assert isinstance(found, da.Array)
    return found
