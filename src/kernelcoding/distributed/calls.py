"""Calls that have nothing to do with each other, on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from distributed import Client, as_completed

from .errors import translated

__all__ = ["results_on"]

Result = TypeVar("Result")


def results_on(
    address: str, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """Results of calls as they are finished, in any order.

    A lost worker costs the calls it was at, which others repeat. Where the caller stops asking,
    calls that are not finished are cancelled.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://host:8786"``.
    function : callable
        Known to the workers.
    calls : iterable of tuples
        Its arguments.
    """
    try:
        client = Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(
            f"No Dask scheduler answers at {address!r}: start one by 'dask scheduler', and workers "
            "by 'dask worker ADDRESS', or correct the address, such as tcp://host:8786."
        ) from error
    with client:
        futures = [client.submit(function, *call, pure=False) for call in calls]
        with translated():
            for future in as_completed(futures):
                yield future.result()
                future.release()
