"""Rows in parallel: plain threads around compiled code that has released the interpreter lock.

Threads of our own, not Numba's: they survive forks, nest inside joblib workers, and leave BLAS
alone because compiled code here calls none.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from joblib import cpu_count
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None is one, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; None is one thread, -1 is all cores.")
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)


def map_rows(
    function: Callable[[slice], Result], n_rows: int, n_jobs: int | None, chunk: int = 64
) -> list[Result]:
    """Call ``function`` on consecutive slices of rows and return the results in order."""
    n_threads = count_threads(n_jobs)
    if n_threads == 1:
        return [function(slice(0, n_rows))]
    chunk = min(chunk, max(8, n_rows // (4 * n_threads)))  # a few each, for an even load
    slices = [slice(start, min(start + chunk, n_rows)) for start in range(0, n_rows, chunk)]
    return _share(function, slices, n_threads)


def map_blocks(
    function: Callable[[slice], Result], n_rows: int, block: int, n_jobs: int | None
) -> list[Result]:
    """Call ``function`` on blocks of rows, in order, several at a time where asked.

    For work that calls BLAS: with more than one thread of ours, BLAS keeps to one of its own.
    """
    slices = [slice(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
    n_threads = min(count_threads(n_jobs), len(slices))
    if n_threads == 1:
        return [function(rows) for rows in slices]
    with threadpool_limits(1):
        return _share(function, slices, n_threads)


def _share(
    function: Callable[[slice], Result], slices: list[slice], n_threads: int
) -> list[Result]:
    """Results in order; the calling thread works along, so that one fewer must be started."""
    results: list[Any] = [None] * len(slices)
    waiting = iter(enumerate(slices))  # handing out the next slice is atomic

    def work() -> None:
        for position, rows in waiting:
            results[position] = function(rows)

    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(work) for _ in range(n_threads - 1)]
        work()
        for other in others:
            other.result()
    return results
