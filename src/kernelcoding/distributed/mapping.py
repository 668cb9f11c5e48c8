"""One task per block: the methods of fitted estimators as Dask arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .inputs import DaskBlocks, blocks_of, is_lazy
from .methods import Answer, RowAnswer, precision_of
from .shared import Shared

__all__ = ["Call", "lazily", "rows_of_blocks", "shared"]


@dataclass(frozen=True)
class Call:
    """A method of a fitted estimator, asked of samples in blocks; see ``methods.over_blocks``."""

    estimator: Any
    method: str
    answer: Answer
    takes: str = "samples"
    before: Callable[[Any], object] | None = None

    @property
    def name(self) -> str:
        """As users know it."""
        return f"{type(self.estimator).__name__}.{self.method}"


def lazily(call: Call, X: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> da.Array:
    """What the method answers for all rows, one chunk per block of X, not yet computed.

    Parameters
    ----------
    call : Call
    X : Dask array, data frame or list of delayed blocks
    args, kwargs
        Further arguments: each holds a row per row of X in the same blocks, or is None.
    """
    check_is_fitted(call.estimator)
    _require_plain_output(call)
    if not is_lazy(X):
        raise ValueError(
            f"{call.name} got an argument of Dask beside a first one in memory: both must be lazy, "
            "in the same blocks of rows, or both in memory."
        )
    blocks = blocks_of(X)
    _check_columns(call, blocks)
    given = [(None, arg) for arg in args] + list(kwargs.items())
    further = [(name, arg) for name, arg in given if arg is not None]
    columns = [_in_same_blocks(call, blocks, arg) for _, arg in further]
    row = call.answer(call.estimator, precision_of(blocks.dtype))
    if call.before is not None:
        call.before(call.estimator)
    model = shared(call.estimator)
    names = tuple(name for name, _ in further)
    return rows_of_blocks(
        f"kernelcoding-{call.method}",
        (ask, model, call.method, row, names),
        [blocks, *columns],
        row,
    )


def shared(estimator: BaseEstimator) -> Delayed:
    """A fitted estimator as one object of the graph: sent once per worker, never with a task."""
    return dask.delayed(Shared(_as_it_is(estimator)), pure=True, traverse=False)


def _as_it_is(estimator: BaseEstimator) -> BaseEstimator:
    """The estimator as it is now, without what it keeps for learning on.

    Learning replaces attributes and leaves what they were: a later ``partial_fit`` does not change
    codes that are still to be computed.
    """
    made = copy.copy(estimator)
    for name in getattr(estimator, "_kept_for_learning", ()):
        vars(made).pop(name, None)
    for name, value in vars(made).items():
        if name.endswith("_") and isinstance(value, BaseEstimator):
            setattr(made, name, _as_it_is(value))
    return made


def rows_of_blocks(
    name: str, task: tuple[Any, ...], columns: Sequence[DaskBlocks], row: RowAnswer
) -> da.Array:
    """A Dask array with one chunk per block, which is what a task makes of the block.

    Parameters
    ----------
    name : str
        Of the tasks, as dashboards show it.
    task : tuple
        A function and its first arguments, Delayed among them; blocks are the last ones.
    columns : sequence of DaskBlocks
        The first one says how many rows chunks have.
    row : RowAnswer
    """
    blocks = columns[0]
    key = f"{name}-{dask.base.tokenize(*_keys(task), *(_keys(c.blocks) for c in columns), row)}"
    rest = (0,) * len(row.shape)
    head = _keys(task)
    layer: dict[Any, tuple[Any, ...]] = {
        (key, number, *rest): (*head, *(column.blocks[number].key for column in columns))
        for number in range(len(blocks))
    }
    inputs: list[Any] = [part for part in task if isinstance(part, Delayed)]
    inputs += [block for column in columns for block in column.blocks]
    graph = HighLevelGraph.from_collections(key, layer, dependencies=inputs)
    return array_of(graph, key, blocks.known_lengths or (np.nan,) * len(blocks), row)


def array_of(graph: HighLevelGraph, key: str, lengths: Sequence[float], row: RowAnswer) -> da.Array:
    """The Dask array whose chunks of rows are the tasks ``(key, number, 0, ...)`` of a graph."""
    chunks = (tuple(lengths), *((size,) for size in row.shape))
    return da.Array(graph, key, chunks, meta=empty(row))


def _keys(parts: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(part.key if isinstance(part, Delayed) else part for part in parts)


def empty(row: RowAnswer) -> np.ndarray | sparse.csr_array:
    """The answer for no rows."""
    if row.is_csr:
        return sparse.csr_array((0, *row.shape), dtype=row.dtype)
    return np.empty((0, *row.shape), dtype=row.dtype)


def ask(
    model: Shared, method: str, row: RowAnswer, names: tuple[str | None, ...], X: Any, *columns: Any
) -> Any:
    """What a task does: the method of the estimator on one block.

    Parameters
    ----------
    model : Shared
        Holds the estimator.
    method : str
    row : RowAnswer
        What was declared.
    names : tuple of str or None
        Of the further columns, None for what is given by position.
    X : array, CSR matrix or data frame
        A block.
    *columns : arrays
        Further arguments, row by row.
    """
    if X.shape[0] == 0 if hasattr(X, "shape") else not len(X):
        return empty(row)
    args = [column for name, column in zip(names, columns, strict=True) if name is None]
    named = {name: column for name, column in zip(names, columns, strict=True) if name is not None}
    with config_context(transform_output="default"):
        found = getattr(model.value, method)(X, *args, **named)
    return found.astype(row.dtype, copy=False)


# Checks -----------------------------------------------------------------------------------------


def _require_plain_output(call: Call) -> None:
    """Refuse data frames as output, which scikit-learn would make of the computed codes."""
    own = getattr(call.estimator, "_sklearn_output_config", {})
    wanted = own.get("transform", get_config()["transform_output"])
    if call.method == "transform" and wanted not in (None, "default"):
        raise ValueError(
            f"Codes of Dask input are Dask arrays, but set_output(transform={wanted!r}) asks for "
            'data frames. Use set_output(transform="default").'
        )


def _check_columns(call: Call, blocks: DaskBlocks) -> None:
    """The checks of features that scikit-learn makes, before anything is computed."""
    shape = blocks.sample_shape
    if shape is None:
        return
    if call.takes == "codes":
        width = call.estimator.dictionary_.n_atoms
        if shape != (width,):
            raise ValueError(
                f"codes must have one column for each of the {width} atoms, got rows of shape "
                f"{shape}."
            )
        return
    X: Any = np.broadcast_to(np.zeros(1), (1, *shape))
    if blocks.feature_names is not None:
        import pandas

        X = pandas.DataFrame(columns=list(blocks.feature_names))
    validate_data(call.estimator, X, reset=False, skip_check_array=True)


def _in_same_blocks(call: Call, X: DaskBlocks, given: Any) -> DaskBlocks:
    """A further argument, one row per row of X."""
    if not is_lazy(given):
        raise ValueError(
            f"{call.name} got lazy samples beside an argument in memory: turn it into a Dask array "
            "in the chunks of X, dask.array.from_array(codes, chunks=(X.chunks[0], -1))."
        )
    found = blocks_of(given)
    same = X.known_lengths is None or found.known_lengths in (None, X.known_lengths)
    if len(found) != len(X) or not same:
        raise ValueError(
            f"{call.name} needs codes in the same blocks of rows as X, which has {len(X)} blocks "
            f"of {_told(X)} rows, got {len(found)} blocks of {_told(found)} rows. Use "
            "codes.rechunk({0: X.chunks[0]})."
        )
    return found


def _told(blocks: DaskBlocks) -> str:
    known = blocks.known_lengths
    if known is None:
        return "unknown numbers of"
    return ", ".join(map(str, known[:5])) + (", ..." if len(known) > 5 else "")
