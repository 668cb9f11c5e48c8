"""A kernel that looks at some columns of a wide array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import FeatureNames, Kernel, Prepared, Statistic
from .checks import as_floats
from .wrappers import Wrapper

__all__ = ["View"]

Columns: TypeAlias = slice | Sequence[int] | Sequence[bool] | Sequence[str] | NDArray


class View(Wrapper):
    """A kernel that looks at some columns of a wide array.

    Parameters
    ----------
    columns : slice, list of int, boolean mask or list of str
        The columns to look at. Names need a pandas DataFrame or `resolve` with feature names.
    kernel : Kernel
        A kernel of vectors, histograms or a matrix: its samples are the chosen columns.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> View([0, 2], Linear())([[1.0, 5.0, 2.0]])
    array([[5.]])
    """

    def __init__(self, columns: Columns, kernel: Kernel) -> None:
        self.columns = columns
        self.kernel = kernel

    @property
    def child(self) -> Kernel:
        """The checked inner kernel."""
        child = super().child
        if child.input_ndim not in (2, None):
            raise ValueError(
                f"View chooses columns of a 2-D array, but {type(child).__name__} wants samples "
                f"with {child.input_ndim} axes; View does not reshape."
            )
        return child

    @property
    def input_ndim(self) -> int:
        """Two: a wide array."""
        return 2

    @property
    def is_resolved(self) -> bool:
        """Whether columns are positions and the inner kernel is resolved."""
        return not self._names() and self.child.is_resolved

    def check(self, X: ArrayLike) -> NDArray:
        """Return the whole of X as floats, after the inner kernel checked its columns."""
        wide = self._wide(X)
        self.child.check(self._chosen(X))
        return wide

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Prepared:
        """Return what the inner kernel prepared of the chosen columns."""
        return self.child.prepare(self._chosen(X), index)

    def prepare_alone(self, X: ArrayLike) -> Prepared:
        """Return what the inner kernel prepared of the chosen columns as own training set."""
        return self.child.prepare_alone(self._chosen(X))

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """Return the inner kernel's."""
        return self.child.derivative(S, weights)

    def least_theta(self, X: NDArray) -> NDArray:
        """Lower bounds of the inner kernel's parameters, as the chosen columns have them."""
        return self.child.least_theta(self._chosen(X))

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with positions for names and the inner kernel resolved."""
        chosen = self._chosen(X, feature_names)
        columns = self._positions(X, feature_names) if self._names() else self.columns
        return View(columns, self.child.resolve(chosen))

    def _names(self) -> list[str]:
        """The columns if all are given by name, else an empty list."""
        if isinstance(self.columns, slice):
            return []
        names = [column for column in self.columns if isinstance(column, str)]
        return names if len(names) == len(self.columns) else []

    def _wide(self, X: ArrayLike) -> NDArray:
        wide = as_floats(X, "View")
        if wide.ndim != 2:
            raise ValueError(f"View expected samples of shape (n, d), got {wide.shape}.")
        return wide

    def _positions(self, X: ArrayLike, feature_names: FeatureNames) -> list[int]:
        """Positions of the named columns."""
        wanted = self._names()
        names = getattr(X, "columns", None) if feature_names is None else feature_names
        if names is None:
            raise ValueError(
                f"View: columns {wanted} are names and are not resolved; call "
                ".resolve(X, feature_names) first or pass a pandas DataFrame."
            )
        known = {name: position for position, name in enumerate(names)}
        missing = [name for name in wanted if name not in known]
        if missing:
            raise ValueError(f"View: columns {missing} are not among {list(known)}.")
        return [known[name] for name in wanted]

    def _chosen(self, X: ArrayLike, feature_names: FeatureNames = None) -> NDArray:
        """Return the chosen columns of X, shape (n, number of columns)."""
        wide = self._wide(X)
        if isinstance(self.columns, slice):
            return wide[:, self.columns]
        if self._names():
            return wide[:, self._positions(X, feature_names)]
        columns = np.asarray(self.columns)
        width = wide.shape[1]
        if columns.dtype == bool and columns.shape != (width,):
            raise ValueError(f"View: mask of shape {columns.shape} does not fit {width} columns.")
        if columns.dtype != bool and (columns.dtype.kind not in "iu" or columns.ndim != 1):
            raise ValueError(
                "View: columns must be a slice, a list of integers, a boolean mask or a list of "
                f"names, got {self.columns!r}."
            )
        if columns.dtype != bool and ((columns < -width) | (columns >= width)).any():
            raise ValueError(f"View: columns {columns.tolist()} do not fit {width} columns.")
        return wide[:, columns]
