"""A kernel that looks at one view of each sample, or at some columns of a wide array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ..sparse_vectors import SparseVectors, side_by_side
from ..stacks import Stack
from ..views import ViewName, Views, is_frame, is_mixed
from .base import FeatureNames, Kernel, Prepared, Statistic
from .checks import as_floats, check_vectors
from .wrappers import Wrapper

__all__ = ["View"]

Columns: TypeAlias = str | int | slice | Sequence[int] | Sequence[bool] | Sequence[str] | NDArray


class View(Wrapper):
    """A kernel that looks at one view of each sample, or at some columns of a wide array.

    Parameters
    ----------
    columns : str, int, slice, list of int, boolean mask or list of str
        A name or a position is a view of any kind (vectors, matrices, rows of a Gram matrix)
        among samples that come as a dict, a tuple, a data frame or :class:`~kernelcoding.Views`;
        of an array it is one column. Anything else chooses columns of numbers. Names need a dict,
        a data frame, or `resolve` with feature names.
    kernel : Kernel or str
        A kernel of such samples, or its name.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.kernels import Linear, LogEuclideanGaussian
    >>> View([0, 2], Linear())([[1.0, 5.0, 2.0]])
    array([[5.]])
    >>> samples = {"words": np.ones((1, 3)), "covariance": np.eye(2)[np.newaxis]}
    >>> View("covariance", LogEuclideanGaussian())(samples)
    array([[1.]])
    """

    def __init__(self, columns: Columns, kernel: Kernel | str) -> None:
        self.columns = columns
        self.kernel = kernel  # type: ignore[assignment]

    @property
    def child(self) -> Kernel:
        """The checked inner kernel."""
        from .names import as_kernel

        child = as_kernel(self.kernel) if isinstance(self.kernel, str) else super().child
        if not self._one_view and child.input_ndim not in (2, None):
            raise ValueError(
                f"View chooses columns of a 2-D array, but {type(child).__name__} wants samples "
                f"with {child.input_ndim} axes; View does not reshape."
            )
        return child

    @property
    def _one_view(self) -> bool:
        """Whether a single name or position is given."""
        return isinstance(self.columns, (str, int, np.integer)) and not isinstance(
            self.columns, bool
        )

    @property
    def input_ndim(self) -> int:
        """Two: a wide array, unless samples come as views."""
        return 2

    @property
    def views(self) -> tuple[ViewName, ...]:
        """The names, or the position, of what it looks at."""
        if self._one_view:
            name = self.columns
            return (name,) if isinstance(name, str) else (int(name),)  # type: ignore[arg-type]
        return tuple(self._names())

    @property
    def takes_objects(self) -> bool:
        """False: samples have columns or views."""
        return False

    @property
    def is_resolved(self) -> bool:
        """Whether columns are not names of several, and the inner kernel is resolved."""
        return not (self._names() and not self._one_view) and self.child.is_resolved

    def check(self, X: Stack) -> Stack:
        """Return the whole of X, after the inner kernel checked its part."""
        whole = self._wide(X) if self._as_views(X) is None else X
        with self._told():
            self.child.check(self._chosen(X))
        return whole

    def among(self, X: Stack, rows: NDArray) -> Stack:
        """Some samples as a training set of their own, this view as the inner kernel has it."""
        views = self._as_views(X)
        if views is not None and self._one_view:
            name = self.views[0]
            own, part = self.child.among(views.require(name), rows), views[rows]
            return Views(part.stacks | {name: own}, part.precomputed)
        if self.child.uses_index:
            raise ValueError(
                "View: similarities that are columns of an array cannot be taken apart by classes; "
                'give the samples as views, {"gram": matrix, ...}, and View("gram", kernel).'
            )
        return X[rows]

    def prepare(self, X: Stack, index: NDArray | None = None) -> Prepared:
        """Return what the inner kernel prepared of its part."""
        with self._told():
            return self.child.prepare(self._chosen(X), index)

    def prepare_alone(self, X: Stack) -> Prepared:
        """Return what the inner kernel prepared of its part as own training set."""
        with self._told():
            return self.child.prepare_alone(self._chosen(X))

    def statistic(self, P: Prepared, Q: Prepared) -> Statistic:
        """Return the inner kernel's statistic."""
        with self._told():
            return self.child.statistic(P, Q)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """Return the inner kernel's."""
        return self.child.derivative(S, weights)

    def least_theta(self, X: Stack) -> NDArray:
        """Lower bounds of the inner kernel's parameters, as the chosen part has them."""
        return self.child.least_theta(self._chosen(X))

    def resolve(self, X: Stack, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with the inner kernel resolved, and positions for names of an array."""
        chosen = self._chosen(X, feature_names)
        columns = self.columns
        if self._names() and self._as_views(X) is None:
            positions = self._positions(X, feature_names)
            columns = positions[0] if self._one_view else positions
        with self._told():
            return View(columns, self.child.resolve(chosen))

    def set_params(self, **params: Any) -> View:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        from .names import as_kernel

        given = params.get("kernel", self.kernel)
        if isinstance(given, str) and any(name.startswith("kernel__") for name in params):
            params = {**params, "kernel": as_kernel(given)}
        return super().set_params(**params)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say which view an error is about."""
        try:
            yield
        except ValueError as error:
            if not self._one_view or str(error).startswith("The view"):
                raise
            raise ValueError(f"The view {self.columns!r}: {error}") from error

    def _as_views(self, X: Stack) -> Views | None:
        """Samples as views, if that is how they come."""
        if isinstance(X, Views):
            return X
        if isinstance(X, dict) or (isinstance(X, tuple) and self._one_view):
            return Views(X)
        if self.views and is_frame(X) and is_mixed(X):
            return Views({name: X[name] for name in self.views if name in X.columns})
        return None

    def _names(self) -> list[str]:
        """The columns if all are given by name, else an empty list."""
        if isinstance(self.columns, str):
            return [self.columns]
        if isinstance(self.columns, slice) or self._one_view:
            return []
        names = [column for column in self.columns if isinstance(column, str)]  # type: ignore[union-attr]
        return names if len(names) == len(self.columns) else []  # type: ignore[arg-type]

    def _wide(self, X: ArrayLike) -> NDArray | SparseVectors:
        if self.takes_sparse and (issparse(X) or isinstance(X, SparseVectors)):
            return check_vectors(X, "View")
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

    def _chosen(self, X: Stack, feature_names: FeatureNames = None) -> Stack:
        """Return the chosen view, or the chosen columns, shape (n, number of columns)."""
        views = self._as_views(X)
        if views is not None:
            return self._of_views(views)
        wide = self._wide(X)
        columns = self._columns_of(X, wide.shape[1], feature_names)
        return wide.columns(columns) if isinstance(wide, SparseVectors) else wide[:, columns]

    def _columns_of(
        self, X: Stack, width: int, feature_names: FeatureNames
    ) -> slice | list[int] | NDArray:
        """Which columns of so many are looked at."""
        if isinstance(self.columns, slice):
            return self.columns
        if self._names():
            return self._positions(X, feature_names)
        columns = np.asarray([self.columns] if self._one_view else self.columns)
        if columns.dtype == bool and columns.shape != (width,):
            raise ValueError(f"View: mask of shape {columns.shape} does not fit {width} columns.")
        if columns.dtype != bool and (columns.dtype.kind not in "iu" or columns.ndim != 1):
            raise ValueError(
                "View: columns must be a slice, a list of integers, a boolean mask or a list of "
                f"names, got {self.columns!r}."
            )
        if columns.dtype != bool and ((columns < -width) | (columns >= width)).any():
            raise ValueError(f"View: columns {columns.tolist()} do not fit {width} columns.")
        return columns

    def _of_views(self, views: Views) -> Stack:
        """One view as it is, a single number per sample as a column; several side by side."""
        if not self.views:
            raise ValueError(
                f"View: {self.columns!r} chooses columns of an array, but the samples have the "
                f"views {list(views.names)}; give the name of one."
            )
        stacks = [views.require(name) for name in self.views]
        takes_all = self._one_view and self.child.input_ndim is None
        columns = [
            stack[:, np.newaxis]
            if stack.ndim == 1 and (stack.dtype.kind in "biuf" or not takes_all)
            else stack
            for stack in stacks
        ]
        for name, column in zip(self.views, columns, strict=True):
            if not self._one_view and column.ndim != 2:
                raise ValueError(
                    f"The view {name!r} has shape {column.shape[1:]} per sample: only numbers and "
                    "vectors are put side by side; use a View of its own."
                )
        if self._one_view:
            return columns[0]
        some_sparse = any(isinstance(column, SparseVectors) for column in columns)
        return side_by_side(columns) if some_sparse else np.concatenate(columns, axis=1)
