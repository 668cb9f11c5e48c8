"""Small things of all blocks, brought to this process: what learning draws from images."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, TypeVar

import dask

from .errors import translated
from .inputs import item_blocks_of

__all__ = ["from_blocks"]

Found = TypeVar("Found")


def from_blocks(X: Any, function: Callable[..., Found], *further: Any) -> list[Found]:
    """``function(items, first, total, *further)`` of every block that has items, computed now.

    Parameters
    ----------
    X : Dask array, series or bag, or list of delayed lists
        Images, paths or sets.
    function : callable
        Of a list of items, the number of the first one among all, how many there are in all, and
        whatever else is given here.
    *further : objects
        Small.
    """
    blocks = item_blocks_of(X)
    firsts = accumulate(blocks.lengths, initial=0)
    task = dask.delayed(_of_block, pure=False)
    tasks = [
        task(block, function, first, blocks.n_rows, further)
        for block, first, length in zip(blocks.blocks, firsts, blocks.lengths, strict=False)
        if length
    ]
    with translated():
        return list(dask.compute(*tasks))


def _of_block(
    items: Any, function: Callable[..., Found], first: int, total: int, further: tuple[Any, ...]
) -> Found:
    listed = items.tolist() if getattr(items, "ndim", 2) == 1 else items
    return function(listed, first, total, *further)
