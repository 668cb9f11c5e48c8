"""Similarities that come from outside: a matrix, or a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from ..sparse_vectors import SparseVectors
from ..stacks import objects
from .base import FeatureNames, Kernel
from .checks import (
    as_floats,
    check_stack,
    check_vectors,
    count_samples,
    require_finite,
    tolerance,
)

__all__ = ["CallableKernel", "Precomputed"]

DIAGONAL_BLOCK = 32  # calls per sample and wasted pairs both stay few


class Rows(NamedTuple):
    """Rows of a kernel matrix; `index` says which training samples they belong to."""

    rows: NDArray  # (n, n_train)
    # (n,), or None for samples outside the training set; hides tuple.index, which is not needed
    index: NDArray | None  # type: ignore[assignment]


class Precomputed(Kernel):
    """A kernel matrix as the data, like scikit-learn's ``metric="precomputed"``.

    A "sample" is its row of similarities to all training samples, shape (n, n_train). Several
    matrices of the same samples go together as one stack of shape (n, n_train, n_matrices), from
    which each member of a :class:`MultipleKernel` takes its own.

    Parameters
    ----------
    self_similarity : float, optional
        k(x, x) of samples outside the training set, when it is one known constant. `resolve`
        finds it when the training matrix has a constant diagonal.
    matrix : int, optional
        Which matrix of a stack; None: the samples are rows of a single one.

    Notes
    -----
    `diagonal` of a square matrix is its diagonal: a square matrix is read as the training one.

    Examples
    --------
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    is_positive_definite = None

    uses_index = True

    def __init__(self, self_similarity: float | None = None, matrix: int | None = None) -> None:
        self.self_similarity = self_similarity
        self.matrix = matrix

    @property
    def input_ndim(self) -> int:
        """Axes of the samples: two, or three for a stack of matrices."""
        return 2 if self.matrix is None else 3

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as finite floats of shape (n, n_train), or (n, n_train, n_matrices)."""
        if self.matrix is None:
            return check_stack(X, 2, "(n, n_train)", "Precomputed")
        stack = check_stack(X, 3, "(n, n_train, n_matrices)", "Precomputed")
        if not -stack.shape[2] <= self.matrix < stack.shape[2]:
            raise ValueError(
                f"Precomputed(matrix={self.matrix}) got a stack of {stack.shape[2]} matrices."
            )
        return stack

    def _rows(self, X: ArrayLike) -> NDArray:
        checked = self.check(X)
        return checked if self.matrix is None else checked[:, :, self.matrix]

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Rows:
        """Return the rows with the training samples they stand for."""
        rows = self._rows(X)
        if index is not None:
            index = np.asarray(index, dtype=np.intp)
            if index.shape != (len(rows),):
                raise ValueError(
                    f"Precomputed expected one training index per row, got {index.shape} indices "
                    f"for rows of shape {rows.shape}."
                )
        return Rows(rows, index)

    def prepare_alone(self, X: ArrayLike) -> Rows:
        """Prepare a square matrix as the training one, other rows as unknown samples."""
        rows = self._rows(X)
        return Rows(rows, np.arange(len(rows)) if rows.shape[0] == rows.shape[1] else None)

    def statistic(self, P: Rows, Q: Rows) -> NDArray:
        """Columns of P's rows that belong to the training samples Q, shape (n, m)."""
        if Q.index is None:
            raise ValueError(
                "Precomputed needs to know which training samples the columns stand for; "
                "pass index= to prepare(X, index)."
            )
        if Q.index.size and Q.index.max() >= P.rows.shape[1]:
            raise ValueError(
                f"Precomputed expected rows (n, n_train) with one column per training sample, got "
                f"shape {P.rows.shape} where training sample {Q.index.max()} is asked for."
            )
        if _are_all(Q.index, P.rows.shape[1]):
            return P.rows.copy()  # as below, four times as fast
        return np.take(P.rows, Q.index, axis=1)  # row by row in memory, unlike rows[:, index]

    def between(self, P: Rows, Q: Rows) -> NDArray:
        """Kernel values (n, m); similarities of samples to all training samples as they are."""
        if P.index is None and _are_all(Q.index, P.rows.shape[1]):
            return P.rows
        return super().between(P, Q)

    def diagonal_statistic(self, P: Rows) -> NDArray:
        """Self-similarities (n,); NaN where nothing is known of them."""
        if P.index is not None:
            return P.rows[np.arange(len(P.rows)), P.index]
        # A row holds k(x, training samples) only. NaN says "unknown": the dictionary, which needs
        # kxx for errors but not for codes, replaces it.
        constant = np.nan if self.self_similarity is None else float(self.self_similarity)
        return np.full(len(P.rows), constant, dtype=P.rows.dtype)

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the similarities themselves."""
        return S if overwrite else S.copy()

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray:
        """Return X after checking that it has one column per sample of Z."""
        rows = self._rows(X)
        if Z is not None and Z is not X and rows.shape[1] != count_samples(Z):
            raise ValueError(
                f"Precomputed expected one column per sample of Z, got X of shape {rows.shape} "
                f"and {count_samples(Z)} samples in Z."
            )
        return rows

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Check the training matrix; learn `self_similarity` from a constant diagonal."""
        rows = self._rows(X)
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(
                f"Precomputed expected the square training matrix (n, n), got shape {rows.shape}; "
                "choose rows and columns, X[np.ix_(train, train)], and X[np.ix_(test, train)] for "
                "queries."
            )
        skew = np.abs(rows - rows.T).max(initial=0.0)
        if skew > tolerance(rows) * np.abs(rows).max(initial=0.0):
            raise ValueError(
                f"Precomputed expected a symmetric training matrix, got one of shape {rows.shape} "
                f"that differs from its transpose by {skew:.3g}; use (K + K.T) / 2."
            )
        resolved = clone(self)
        diagonal = np.diagonal(rows).astype(np.float64)
        if self.self_similarity is None and len(diagonal):
            constant = float(diagonal[0])
            if (np.abs(diagonal - constant) <= 1e-10 * abs(constant)).all():
                resolved.set_params(self_similarity=constant)
        return resolved


def _are_all(index: NDArray | None, n_samples: int) -> bool:
    """Whether an index is of all training samples, in order."""
    return index is not None and np.array_equal(index, np.arange(n_samples))


class Samples(NamedTuple):
    """Samples as the user's function wants them."""

    samples: NDArray


class CallableKernel(Kernel):
    """A user's vectorised function ``f(X, Z) -> (n, m)``.

    Samples may be anything that the function takes: vectors, matrices, texts, graphs.

    Parameters
    ----------
    function : callable
        Takes two stacks of samples, returns the matrix of similarities. Numbers come as arrays,
        sparse samples as CSR arrays, anything else, such as a list of texts, as an array of objects
        of shape (n,).

    Notes
    -----
    A function has no width to choose: see :class:`DistanceKernel` for one that measures distances.
    Models with this kernel hold a function, which is code: they can be pickled, not saved.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = CallableKernel(lambda X, Z: X @ Z.T)
    >>> kernel.diagonal(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([5., 9.])
    """

    is_positive_definite = None
    input_ndim = None
    takes_objects = True
    takes_sparse = True

    def __init__(self, function: Callable[[NDArray, NDArray], NDArray]) -> None:
        self.function = function

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as an array; numbers are made finite floats, other things are left alone."""
        if issparse(X) or isinstance(X, SparseVectors):
            return check_vectors(X, "CallableKernel")  # type: ignore[return-value]
        try:
            array = np.asarray(X)
        except ValueError:  # lists of different lengths
            return objects(X)
        if array.ndim == 0:
            raise ValueError("CallableKernel expected a stack of samples, got one scalar.")
        if array.dtype.kind not in "fiub":
            return array if isinstance(X, np.ndarray) else objects(X)
        array = as_floats(array, "CallableKernel")
        require_finite(array, "CallableKernel")
        return array

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Samples:
        """Return the checked samples."""
        return Samples(self.check(X))

    def statistic(self, P: Samples, Q: Samples) -> NDArray:
        """Return what the function returned, after checking it, shape (n, m)."""
        return self._evaluate(P.samples, Q.samples)

    def diagonal_statistic(self, P: Samples) -> NDArray:
        """Diagonals of small blocks, shape (n,): never the n x n matrix."""
        blocks = [
            P.samples[start : start + DIAGONAL_BLOCK]
            for start in range(0, len(P.samples), DIAGONAL_BLOCK)
        ]
        parts = [np.diagonal(self._evaluate(block, block)) for block in blocks]
        return np.concatenate(parts) if parts else np.empty(0)

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the similarities themselves."""
        return S if overwrite else S.copy()

    def _evaluate(self, left: NDArray, right: NDArray) -> NDArray:
        try:
            found: Any = self.function(_handed_over(left), _handed_over(right))
        except Exception as error:
            error.add_note(
                f"This was in a kernel function of yours, called with stacks of {len(left)} and "
                f"{len(right)} samples: it must return their ({len(left)}, {len(right)}) "
                "similarities at once, not that of a single pair."
            )
            raise
        values = as_floats(found.toarray() if issparse(found) else found, "CallableKernel")
        expected = (len(left), len(right))
        if values.shape != expected:
            raise ValueError(
                f"CallableKernel expected the function to return shape {expected} for stacks of "
                f"{len(left)} and {len(right)} samples, got {values.shape}; the function must take "
                "whole stacks, not single samples."
            )
        require_finite(values, "CallableKernel")
        single = left.dtype == np.float32 and right.dtype == np.float32
        # A copy: the function may keep its array, and values are changed in place later.
        return np.array(values, dtype=np.float32 if single else values.dtype)


def _handed_over(samples: NDArray | SparseVectors) -> Any:
    """Samples as a function of the user's takes them."""
    return samples.tocsr() if isinstance(samples, SparseVectors) else samples
