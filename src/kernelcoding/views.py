"""Samples that are described in several ways: one stack per view, all of the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .sparse_vectors import SparseVectors

__all__ = ["ViewName", "Views", "is_dict", "is_frame", "is_mixed", "sequence_of"]

ViewName: TypeAlias = str | int
Stacked: TypeAlias = Any  # an array of shape (n, ...), or SparseVectors


class Views:
    """Samples of several views of any kind, as one sequence of samples.

    Estimators take a dictionary, a tuple or a data frame as it is. This class is for whoever takes
    samples apart: indexing chooses samples in every view at once, so that scikit-learn's
    cross-validation and grid search work.

    Parameters
    ----------
    views : dict, tuple or data frame
        A stack of shape (n, ...) per view, known by its name or, in a tuple, by its position;
        vectors may be sparse. A column of a data frame may hold one array per row.
    precomputed : sequence of str or int, default=()
        Views that are Gram matrices. Columns are then samples, too: ``X[np.ix_(rows, columns)]``
        chooses both, as scikit-learn does for a kernel that looks at a Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> X = Views({"words": np.ones((4, 3)), "covariance": np.ones((4, 2, 2))})
    >>> len(X), X[1:3]["covariance"].shape
    (4, (2, 2, 2))
    """

    def __init__(self, views: Any, precomputed: Iterable[ViewName] = ()) -> None:
        self.stacks: dict[ViewName, Stacked] = _stacks_of(views)
        self.precomputed: tuple[ViewName, ...] = tuple(precomputed)
        for name in self.precomputed:
            self.require(name)
        _require_one_length(self.stacks)

    @classmethod
    def _made(cls, stacks: dict[ViewName, Stacked], precomputed: tuple[ViewName, ...]) -> Views:
        made = object.__new__(cls)
        made.stacks, made.precomputed = stacks, precomputed
        return made

    def __len__(self) -> int:
        return len(next(iter(self.stacks.values())))

    @property
    def names(self) -> tuple[ViewName, ...]:
        """Names, or positions, of the views."""
        return tuple(self.stacks)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of views; of a Gram matrix where one is among them."""
        width = len(self.stacks)
        if self.precomputed:  # what scikit-learn asks for before it chooses rows and columns
            width = self.stacks[self.precomputed[0]].shape[1]
        return len(self), width

    @property
    def dtype(self) -> np.dtype:
        """The precision of the numbers: single where every view is."""
        single = all(stack.dtype == np.float32 for stack in self.stacks.values())
        return np.dtype(np.float32 if single else np.float64)

    def require(self, name: ViewName) -> Stacked:
        """The stack of a view; ValueError where there is none."""
        if name not in self.stacks:
            raise ValueError(
                f"The view {name!r} is missing: the samples have the views {list(self.stacks)}."
            )
        return self.stacks[name]

    def only(self, names: Iterable[ViewName]) -> Views:
        """Some of the views."""
        kept = {name: self.require(name) for name in names}
        return self._made(kept, tuple(name for name in self.precomputed if name in kept))

    def astype(self, dtype: Any, copy: bool = True) -> Views:
        """Numbers of another precision; what is no number stays as it is."""
        stacks = {
            name: stack.astype(dtype, copy=copy) if stack.dtype.kind in "biuf" else stack
            for name, stack in self.stacks.items()
        }
        return self._made(stacks, self.precomputed)

    def copy(self) -> Views:
        """The same in arrays of its own."""
        return self._made({n: stack.copy() for n, stack in self.stacks.items()}, self.precomputed)

    def __getitem__(self, key: Any) -> Any:
        """Samples by position, slice, index or mask; rows and columns by ``np.ix_``; or a view."""
        if isinstance(key, str):
            return self.require(key)
        rows, columns = _rows_and_columns(key)
        stacks = {name: stack[rows] for name, stack in self.stacks.items()}
        if columns is not None:
            for name in self.precomputed:
                stacks[name] = stacks[name][:, columns]
        if isinstance(rows, (int, np.integer)):
            return stacks  # a single sample: what its views hold
        return self._made(stacks, self.precomputed)

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray:
        raise TypeError(
            f"samples of the views {list(self.stacks)} are no single array: choose one by "
            "View(name, kernel)"
        )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name!r}: {stack.shape}" for name, stack in self.stacks.items())
        return f"Views({{{kinds}}})"


def sequence_of(X: Any) -> Any:
    """Samples as a sequence: a dict or a tuple of stacks has the length of its views."""
    stacks = isinstance(X, tuple) and all(hasattr(stack, "shape") for stack in X)
    return Views(X) if is_dict(X) or stacks else X


def is_dict(X: object) -> bool:
    """Whether X is a dictionary, and no sparse matrix that behaves like one."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def is_frame(X: object) -> bool:
    """Whether X is a data frame as pandas and polars make them."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "__getitem__")


def is_mixed(frame: Any) -> bool:
    """Whether some column of a data frame holds other things than numbers."""
    return any(_kind(frame[name]) not in "biuf" for name in frame.columns)


def _kind(column: Any) -> str:
    """The kind of what a column holds, as NumPy says it."""
    known = getattr(column.dtype, "kind", None)
    return known if isinstance(known, str) else column[:0].to_numpy().dtype.kind


def _stacks_of(views: Any) -> dict[ViewName, Stacked]:
    if isinstance(views, Views):
        return dict(views.stacks)
    if is_frame(views):
        pairs: Iterable[tuple[Any, Any]] = ((name, views[name]) for name in views.columns)
    elif is_dict(views):
        pairs = views.items()
    elif isinstance(views, tuple):
        pairs = enumerate(views)
    else:
        raise ValueError(
            f"Views expected a dict, a tuple or a data frame of stacks, got {type(views).__name__}."
        )
    stacks = {name: _stack(name, stack) for name, stack in pairs}
    if not stacks:
        raise ValueError("Views expected at least one view, got none.")
    return stacks


def _stack(name: ViewName, values: Any) -> Stacked:
    """A view as an array (n, ...) or sparse vectors: cells that are arrays are stacked."""
    if sparse.issparse(values):
        return SparseVectors(values)
    if isinstance(values, SparseVectors):
        return values
    try:
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    except ValueError as error:
        raise ValueError(f"The view {name!r} holds arrays of different shapes: {error}.") from error
    if array.ndim == 0:
        raise ValueError(
            f"The view {name!r} must hold one value or array per sample, got {values!r}."
        )
    if array.dtype == object and len(array) and _holds_arrays(array):
        shapes = sorted({np.shape(cell) for cell in array})
        if len(shapes) > 1:
            raise ValueError(
                f"The view {name!r} holds arrays of different shapes: {shapes[:3]}; all samples "
                "must have the same."
            )
        return np.stack([np.asarray(cell) for cell in array])
    return array


def _holds_arrays(array: NDArray) -> bool:
    return array.ndim == 1 and all(isinstance(cell, (np.ndarray, list, tuple)) for cell in array)


def _require_one_length(stacks: Mapping[ViewName, Stacked]) -> None:
    lengths = {name: len(stack) for name, stack in stacks.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise ValueError(f"All views must have the same number of samples, got {told}.")


def _rows_and_columns(key: Any) -> tuple[Any, NDArray | None]:
    """What scikit-learn asks for: rows, ``(rows, ...)``, or the open mesh of ``np.ix_``."""
    if not isinstance(key, tuple):
        return key, None
    if len(key) == 2 and key[1] is Ellipsis:
        return key[0], None
    if len(key) == 2 and all(isinstance(part, np.ndarray) and part.ndim == 2 for part in key):
        return key[0].ravel(), key[1].ravel()
    raise IndexError("Views are indexed by samples, X[rows], or by X[np.ix_(rows, columns)].")
