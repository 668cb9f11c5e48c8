"""What all blocks share: one object of a task graph, whose size Dask is told truly."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Generic, TypeVar

import cloudpickle
from dask.sizeof import sizeof

__all__ = ["Shared"]

Held = TypeVar("Held")


class Shared(Generic[Held]):
    """A fitted estimator, or a state of learning, as one node of a task graph.

    Dask moves and spills results by their size, and would take any object of ours for 56 bytes.

    It travels as one string of bytes. Dask would send the arrays in it beside it, and hand out
    views of what it received that begin at any byte. NumPy copies such arrays before each matrix
    product, no longer sees that both factors of ``P @ P.T`` are one, takes another routine for
    them, and a Gram matrix has other last bits (4e-14 in codes) than where the estimator came from.

    Parameters
    ----------
    value : object
        Not to be changed.
    """

    def __init__(self, value: Held):
        self.value = value

    @cached_property
    def packed(self) -> bytes:
        """The value as it is sent."""
        return cloudpickle.dumps(self.value)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _unpacked, (self.packed,)

    def __dask_tokenize__(self) -> bytes:
        return self.packed


def _unpacked(packed: bytes) -> Shared:
    made: Shared = Shared(cloudpickle.loads(packed))
    vars(made)["packed"] = packed  # sent on as it came
    return made


@sizeof.register(Shared)
def _size(held: Shared) -> int:
    return len(held.packed)
