"""Validation of sample stacks and of positive parameters, shared by all kernel families."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ..sparse_vectors import SparseVectors
from ..stacks import stack_of
from ..validation import NO_SPARSE, check_positive, is_finite

__all__ = [
    "as_floats",
    "check_stack",
    "check_vectors",
    "count_samples",
    "positive_number",
    "require_finite",
    "tolerance",
]


def as_floats(X: ArrayLike, owner: str) -> NDArray:
    """Return X as a dense real array: float32 is kept, anything else becomes float64."""
    if issparse(X) or isinstance(X, SparseVectors):
        raise ValueError(NO_SPARSE.format(owner=owner))
    try:
        array = np.asarray(X)
        if array.dtype == np.float32:
            return array
        if array.dtype.kind == "c":
            raise TypeError("the values are complex")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{owner} expected an array of real numbers, got {type(X).__name__} ({error}); "
            "encode the samples as numbers first."
        ) from error


def require_finite(array: NDArray, owner: str) -> None:
    """Raise when an array holds NaN or infinity."""
    if not is_finite(array):
        raise ValueError(
            f"{owner} expected finite values, got NaN or infinity; impute (for example by "
            "sklearn.impute.SimpleImputer) or drop such samples."
        )


def check_stack(X: ArrayLike, ndim: int, shape: str, owner: str) -> NDArray:
    """Return X as a finite, C-contiguous stack of samples with `ndim` axes."""
    array = as_floats(X, owner)
    if array.ndim != ndim:
        hint = " For one sample use X[np.newaxis]." if array.ndim == ndim - 1 else ""
        raise ValueError(f"{owner} expected samples of shape {shape}, got {array.shape}.{hint}")
    require_finite(array, owner)
    return np.ascontiguousarray(array)


def check_vectors(X: ArrayLike | SparseVectors, owner: str) -> NDArray | SparseVectors:
    """Return X as finite vectors, dense or, where they come so, by their nonzeros."""
    if not issparse(X) and not isinstance(X, SparseVectors):
        return check_stack(X, 2, "(n, d)", owner)
    vectors: SparseVectors = stack_of(X)
    if vectors.dtype.kind == "c":
        raise ValueError(f"{owner} expected real numbers, got complex ones.")
    if vectors.dtype != np.float32:
        vectors = vectors.astype(np.float64, copy=False)
    require_finite(vectors.matrix.data, owner)
    return vectors


def count_samples(X: ArrayLike) -> int:
    """Number of samples of a stack that need not be an array."""
    return len(X)  # type: ignore[arg-type]


def positive_number(owner: str, name: str, value: object) -> float:
    """Return the parameter of a kernel as a float after checking it."""
    check_positive(f"{owner}: {name}", value)
    return float(value)  # type: ignore[arg-type]


def tolerance(array: NDArray) -> float:
    """Relative slack for properties such as symmetry, which rounding may blur."""
    return 1e-4 if array.dtype == np.float32 else 1e-8
