"""Ragged input: a sample is a set of descriptors, and no two sets need be of one size.

A set is an array of shape (n_i, d) (or (n_i, p, p), for kernels of matrices), or any record with
such an array as ``descriptors`` and, for pyramids, ``positions`` and the ``shape`` of the image.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.random import sample_without_replacement

from ..kernels.checks import as_floats, require_finite

SHAPES = {2: "(n_i, d)", 3: "(n_i, p, p)"}


@dataclass(frozen=True, slots=True)
class DescriptorSet:
    """The descriptors of one image.

    Parameters
    ----------
    descriptors : array of shape (n, d)
        One descriptor per row.
    positions : array of shape (n, 2), default=None
        Row and column of each, in pixels whose centres are at whole numbers; only pyramids look at
        it.
    shape : pair of numbers, default=None
        Height and width of the image. None takes the smallest box that holds the positions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.aggregation import DescriptorSet, SpatialPyramid
    >>> corners = DescriptorSet(np.eye(2), positions=[[0, 0], [9, 9]], shape=(10, 10))
    >>> SpatialPyramid(levels=(1, 2), norm=None).fit_transform([corners])
    array([[1., 1., 1., 0., 0., 0., 0., 0., 0., 1.]])
    """

    descriptors: ArrayLike
    positions: ArrayLike | None = None
    shape: ArrayLike | None = None


class DescriptorRecord(Protocol):
    """Any record of descriptors: `DescriptorSet`, or what an extractor returns."""

    @property
    def descriptors(self) -> ArrayLike:
        """One descriptor per row."""


Sets: TypeAlias = Iterable[ArrayLike | DescriptorRecord]


@dataclass(frozen=True, slots=True)
class DescriptorBlock:
    """Some descriptors, in the order of their sets."""

    rows: slice  # among all descriptors
    descriptors: NDArray  # (n, d)
    owners: NDArray  # (n,)  the set of each
    places: NDArray | None  # (n, 2)  in the unit square


class DescriptorSets:
    """Checked sets, visited in blocks of descriptors so that they are never copied all at once."""

    def __init__(self, arrays: list[NDArray], places: list[NDArray] | None):
        self.arrays = arrays
        self.places = places
        self.sizes = np.array([len(array) for array in arrays])
        self.offsets = np.append(0, np.cumsum(self.sizes))
        kinds = {array.dtype for array in arrays if len(array)}
        self.dtype = np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def n_descriptors(self) -> int:
        """Number of descriptors in all sets."""
        return int(self.offsets[-1])

    def only(self, index: int) -> DescriptorSets:
        """One of the sets."""
        places = None if self.places is None else [self.places[index]]
        return DescriptorSets([self.arrays[index]], places)

    def blocks(self, n_rows: int) -> Iterator[DescriptorBlock]:
        """All descriptors, at most ``n_rows`` at a time; a set may span several blocks."""
        for start in range(0, self.n_descriptors, n_rows):
            stop = min(start + n_rows, self.n_descriptors)
            first = int(np.searchsorted(self.offsets, start, "right")) - 1
            last = int(np.searchsorted(self.offsets, stop, "left"))
            owners = np.arange(first, last)
            lows = np.maximum(start - self.offsets[first:last], 0)
            highs = np.minimum(stop - self.offsets[first:last], self.sizes[first:last])
            parts = list(zip(owners.tolist(), lows.tolist(), highs.tolist(), strict=True))
            yield DescriptorBlock(
                slice(start, stop),
                self._joined(self.arrays, parts, self.dtype),
                np.repeat(owners, highs - lows),
                None if self.places is None else self._joined(self.places, parts, np.float64),
            )

    @staticmethod
    def _joined(
        arrays: list[NDArray], parts: list[tuple[int, int, int]], dtype: DTypeLike
    ) -> NDArray:
        pieces = [arrays[i][low:high] for i, low, high in parts if high > low]
        joined = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        return joined.astype(dtype, copy=False)

    def sample(self, n_samples: int | None, random_state: np.random.RandomState) -> NDArray:
        """Descriptors drawn from all sets without replacement; all of them if they are few."""
        if n_samples is None or n_samples >= self.n_descriptors:
            return next(self.blocks(self.n_descriptors)).descriptors
        drawn = sample_without_replacement(self.n_descriptors, n_samples, random_state=random_state)
        drawn.sort()
        cuts = np.searchsorted(drawn, self.offsets)
        pieces = [
            self.arrays[i][drawn[cuts[i] : cuts[i + 1]] - self.offsets[i]]
            for i in range(len(self))
            if cuts[i] < cuts[i + 1]
        ]
        return np.concatenate(pieces).astype(self.dtype, copy=False)

    def warn_if_empty(self) -> None:
        """Say which sets had nothing to aggregate."""
        empty = np.flatnonzero(self.sizes == 0)
        if len(empty):
            shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
            warnings.warn(
                f"{len(empty)} of {len(self)} descriptor sets are empty (index {shown}): their "
                "vectors are zero. Drop them if zero vectors are not wanted.",
                UserWarning,
                stacklevel=6,  # transform is wrapped twice: for set_output, and for Dask
            )


def check_sets(
    X: Sets,
    *,
    ndim: int = 2,
    shape: tuple[int, ...] | None = None,
    positions: bool = False,
) -> DescriptorSets:
    """Return the sets that X holds, or raise ValueError.

    Parameters
    ----------
    X : iterable of arrays or records
        The sets.
    ndim : {2, 3}
        Axes of a set.
    shape : tuple of int, default=None
        Shape of one descriptor; None takes that of the first set that is not empty.
    positions : bool
        Whether positions are needed.
    """
    items = _items(X)
    arrays = [_array(item, index, ndim) for index, item in enumerate(items)]
    known = "as at fit"
    for index, array in enumerate(arrays):
        if len(array) == 0:
            continue
        if shape is None:
            shape, known = array.shape[1:], f"as in set {index}"
        if array.shape[1:] != shape:
            raise ValueError(
                f"set {index} has descriptors of shape {array.shape[1:]}, expected {shape} "
                f"{known}: describe all sets by the same features."
            )
    places = [_places(item, array, i) for i, (item, array) in enumerate(zip(items, arrays,
              strict=True))] if positions else None  # fmt: skip
    return DescriptorSets(arrays, places)


def _items(X: Sets) -> list[ArrayLike | DescriptorRecord]:
    if issparse(X) or hasattr(X, "descriptors") or not isinstance(X, Iterable):
        raise ValueError(
            f"expected a list of descriptor sets, got {type(X).__name__}; for a single set pass a "
            "list that holds it."
        )
    items = list(X)
    if not items:
        raise ValueError("expected at least one descriptor set, got an empty list.")
    return items


def _array(item: ArrayLike | DescriptorRecord, index: int, ndim: int) -> NDArray:
    owner = f"set {index}"
    given: ArrayLike | None = getattr(item, "descriptors", None)
    array = as_floats(cast(ArrayLike, item) if given is None else given, owner)
    if array.size == 0 and array.ndim <= ndim:
        return np.empty((0,) * ndim)
    if array.ndim != ndim:
        hint = " A single set must be wrapped in a list." if array.ndim == ndim - 1 else ""
        raise ValueError(
            f"{owner} must have shape {SHAPES[ndim]}, got {array.shape}; X is a list of such "
            f"arrays, or of records that hold them as descriptors.{hint}"
        )
    require_finite(array, owner)
    return array


def _places(item: ArrayLike | DescriptorRecord, array: NDArray, index: int) -> NDArray:
    """Positions in the unit square."""
    if len(array) == 0:
        return np.empty((0, 2))
    given: ArrayLike | None = getattr(item, "positions", None)
    if given is None:
        raise ValueError(
            f"set {index} has no positions, which a pyramid needs: pass records with descriptors "
            "and positions, such as DescriptorSet, or use Pooling."
        )
    positions = as_floats(given, f"positions of set {index}").astype(np.float64)
    if positions.shape != (len(array), 2):
        raise ValueError(
            f"positions of set {index} must have shape {(len(array), 2)}, one row per descriptor, "
            f"got {positions.shape}."
        )
    require_finite(positions, f"positions of set {index}")
    shape = getattr(item, "shape", None)
    if shape is None:
        positions = positions - positions.min(axis=0)
        extent = positions.max(axis=0)
        return positions / np.where(extent > 0, extent, 1.0)
    extent = np.asarray(shape, dtype=np.float64)
    if extent.shape != (2,) or not (extent > 0).all():
        raise ValueError(
            f"shape of set {index} must be two positive numbers, the height and width of the "
            f"image, got {shape!r}."
        )
    return (positions + 0.5) / extent
