"""What Dask holds in blocks of rows, as one record. Dask is imported only where X is of Dask."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from dask.delayed import Delayed

__all__ = ["DaskBlocks", "blocks_of", "holds_lazy", "is_lazy", "item_blocks_of", "same_blocks"]


def is_lazy(X: object) -> bool:
    """Whether X is of Dask: an array, a data frame, a series, or a list of delayed blocks.

    Anything else that holds a Dask graph (an xarray with chunks) is lazy, too.
    """
    if isinstance(X, list):
        return bool(X) and all(_is_delayed(block) for block in X)
    return _is_collection(X)


def holds_lazy(X: object) -> bool:
    """Whether X is of Dask, or has a part that is: one view of several, one block of a list."""
    if isinstance(X, Mapping):
        return any(is_lazy(part) for part in X.values())
    if isinstance(X, (list, tuple)):
        # Lists of numbers are long, and Dask objects in them come first or not at all.
        return any(_is_collection(part) for part in X[:8])
    return _is_collection(X)


def _is_collection(X: object) -> bool:
    """What ``dask.is_dask_collection`` says, without Dask and without making a graph."""
    if isinstance(X, (type, np.ndarray)) or not hasattr(X, "__dask_graph__"):
        return False
    if any(kind.__module__.split(".")[0] == "dask" for kind in type(X).__mro__):
        return True
    return X.__dask_graph__() is not None


def _is_delayed(X: object) -> bool:
    return type(X).__module__ == "dask.delayed" and hasattr(X, "__dask_graph__")


@dataclass(frozen=True)
class DaskBlocks:
    """Rows of samples in blocks, each of which one task holds in memory.

    Parameters
    ----------
    blocks : list of Delayed
        Each an array, a CSR matrix or a data frame of rows.
    known_lengths : tuple of int or None
        Rows of each block, where they are known without computing anything.
    dtype : dtype or None
        Of the numbers; None for delayed blocks, which do not tell.
    sample_shape : tuple of int or None
        Of one sample; None for delayed blocks.
    feature_names : tuple of str or None
        Of a data frame.
    """

    blocks: list[Delayed]
    known_lengths: tuple[int, ...] | None = None
    dtype: np.dtype | None = None
    sample_shape: tuple[int, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Rows of each block; counted, once and with a warning, where they are unknown."""
        if self.known_lengths is not None:
            return self.known_lengths
        import dask

        from .errors import translated

        warnings.warn(
            f"The lengths of the {len(self.blocks)} blocks of X are unknown and are counted now, "
            "which reads X once. For a Dask array, X.compute_chunk_sizes() does so beforehand; a "
            "data frame becomes one by X.to_dask_array(lengths=True).",
            UserWarning,
            stacklevel=2,
        )
        count = dask.delayed(_length, pure=True)
        with translated():
            return tuple(dask.compute(*(count(block) for block in self.blocks)))

    @property
    def n_rows(self) -> int:
        """Rows in all blocks."""
        return sum(self.lengths)


def blocks_of(X: Any) -> DaskBlocks:
    """The blocks of samples that Dask holds, or ValueError.

    Parameters
    ----------
    X : Dask array of shape (n, ...), Dask data frame, or list of delayed blocks
        In blocks of whole rows.
    """
    if isinstance(X, list):
        return DaskBlocks(list(X))
    import dask.array as da

    if isinstance(X, da.Array):
        return _array_blocks(X)
    if _is_dask_frame(X):
        names = tuple(X.columns)
        return DaskBlocks(
            delayed_of(X),
            dtype=_common(list(X.dtypes)),
            sample_shape=(len(names),),
            feature_names=names if all(isinstance(name, str) for name in names) else None,
        )
    raise ValueError(
        "X must be a Dask array, a Dask data frame or a list of delayed blocks of rows, got "
        f"{type(X).__module__}.{type(X).__name__}. Take its array (X.data of an xarray, "
        "X.to_frame() of a Dask series)."
    )


def _array_blocks(X: Any) -> DaskBlocks:
    if X.ndim < 2:
        raise ValueError(
            f"Expected a Dask array of samples in rows, got {X.ndim} dimension(s) instead: reshape "
            "by X.reshape(-1, 1) where each sample is one number."
        )
    if any(count != 1 for count in X.numblocks[1:]):
        whole = ", ".join(f"{axis}: -1" for axis in range(1, X.ndim))
        raise ValueError(
            f"Blocks must hold whole samples, but X is split along its columns into chunks of "
            f"{X.chunks[1:]}. Use X.rechunk({{{whole}}})."
        )
    lengths = X.chunks[0]
    known = None if any(np.isnan(length) for length in lengths) else tuple(map(int, lengths))
    return DaskBlocks(delayed_of(X), known, X.dtype, tuple(int(size) for size in X.shape[1:]))


def delayed_of(X: Any) -> list[Delayed]:
    """The blocks of a collection, in order.

    Optimising a graph drops blocks that workers hold already (``X.persist()``): a task made by key
    would then be handed the key, and nothing would keep the blocks alive.
    """
    held = False
    if "distributed" in sys.modules:
        from distributed import futures_of

        held = bool(futures_of(X))
    return list(np.ravel(np.array(X.to_delayed(optimize_graph=not held), dtype=object)))


def item_blocks_of(X: Any) -> DaskBlocks:
    """The blocks of items that Dask holds: images, their paths, or sets of descriptors.

    Parameters
    ----------
    X : Dask array of shape (n,) or (n, H, W, ...), series, bag, or list of delayed lists
        In blocks of whole items.
    """
    if isinstance(X, list):
        return DaskBlocks(list(X))
    if getattr(X, "ndim", 1) > 1:
        return blocks_of(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
    known = None if any(np.isnan(length) for length in lengths) else tuple(map(int, lengths))
    return DaskBlocks(delayed_of(X), known)


def same_blocks(X: DaskBlocks, y: Any) -> list[Delayed]:
    """Labels in the blocks of X: one delayed array per block, or ValueError.

    Parameters
    ----------
    X : DaskBlocks
        Blocks of samples.
    y : Dask array or series, list of delayed blocks, or array-like of shape (n, ...)
        Labels of all rows. Arrays in other chunks are put into those of X.
    """
    if isinstance(y, list) and is_lazy(y):
        _require_as_many(X, len(y))
        return list(y)
    if not is_lazy(y):
        return _split(X, y)
    import dask.array as da

    if isinstance(y, da.Array):
        if not np.isnan(y.shape[0]) and y.chunks[0] != X.known_lengths:
            _require_rows(X, y.shape[0])
            y = y.rechunk({0: X.lengths})
        blocks = delayed_of(y.rechunk({axis: -1 for axis in range(1, y.ndim)}))
    else:
        blocks = delayed_of(y)
    _require_as_many(X, len(blocks))
    return blocks


def _split(X: DaskBlocks, y: ArrayLike) -> list[Delayed]:
    import dask

    labels: NDArray = np.asarray(y)
    _require_rows(X, len(labels))
    ends = np.cumsum(X.lengths)
    parts = zip((0, *ends[:-1]), ends, strict=True)
    return [dask.delayed(labels[start:end], pure=True, traverse=False) for start, end in parts]


def _require_rows(X: DaskBlocks, n_rows: int) -> None:
    if n_rows != X.n_rows:
        raise ValueError(f"There are {X.n_rows} samples in X but {n_rows} labels.")


def _require_as_many(X: DaskBlocks, n_blocks: int) -> None:
    if n_blocks != len(X):
        raise ValueError(
            f"X has {len(X)} blocks of rows but the labels have {n_blocks}, and their lengths are "
            "unknown: take both from one data frame, or call compute_chunk_sizes() on both."
        )


def _is_dask_frame(X: Any) -> bool:
    return getattr(X, "ndim", 0) == 2 and hasattr(X, "to_delayed") and hasattr(X, "columns")


def _common(dtypes: Sequence[Any]) -> np.dtype:
    """The precision of a data frame's numbers, as scikit-learn sees it."""
    plain = [kind for kind in dtypes if isinstance(kind, np.dtype) and kind.kind in "biuf"]
    if not plain or len(plain) < len(dtypes):  # texts, views, numbers with missing values
        return np.dtype(np.float64)
    return np.result_type(*plain)


def _length(block: Any) -> int:
    """Rows of a block: sparse matrices have no len()."""
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)
