"""Rows in parallel, and long calls that can be interrupted.

Threads of our own, not Numba's: they survive forks, nest inside joblib workers, and leave BLAS
alone because compiled code here calls none.

Python hears of Ctrl-C in the main thread and between two of its own instructions only. So the main
thread never stays in foreign code for long: short work it does itself, slice by slice, and for
long work it waits while other threads do it. Once it is interrupted, nobody waits for them any
more, and they stop at their next look at a shared flag.
"""

from __future__ import annotations

import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController, threadpool_limits

Result = TypeVar("Result")

SHORT = 2**26  # operations of compiled loops that take some 50 milliseconds
LARGE = 2**28  # multiplications in a matrix product that are worth a second BLAS thread
MOMENT = 0.02  # seconds that Ctrl-C may wait for
GROWTH = 8  # times as many rows at most in a slice as in the last one
FEW = 64  # rows; slices of fewer would cost more than a thread does
WAKE = 0.1  # seconds; where locks do not hear of signals (Windows), Ctrl-C is seen this late
PATIENCE = 0.2  # seconds that interrupted work is given to stop before it is left alone

_thread = threading.local()  # .stop: the flag of whoever waits for this thread


def count_threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None is one, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; None is one thread, -1 is all cores.")
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)


def map_rows(
    function: Callable[[slice], Result],
    n_rows: int,
    n_jobs: int | None,
    chunk: int = 64,
    *,
    cost: int,
) -> list[Result]:
    """Call ``function`` on consecutive slices of rows and return the results in order.

    Parameters
    ----------
    function : callable
        Of a slice of rows; compiled code in it is given :func:`stop_flag`.
    n_rows : int
    n_jobs : int or None
    chunk : int, default=64
        Largest number of rows in a slice where there are several threads.
    cost : int
        Operations that one row may take at worst, roughly.
    """
    n_threads = count_threads(n_jobs)
    if n_threads > 1:
        chunk = min(chunk, max(8, n_rows // (4 * n_threads)))  # a few each, for an even load
        return _share(function, _slices(n_rows, chunk), n_threads)
    short = SHORT // max(cost, 1)
    if n_rows <= short or short >= FEW or not _hears_signals():
        stop = stop_flag()
        return [_wanted(function(rows), stop) for rows in _slices(n_rows, max(short, FEW))]
    done, results = _while_quick(function, n_rows, short)
    rest = [
        slice(done + rows.start, done + rows.stop) for rows in _slices(n_rows - done, 4 * chunk)
    ]
    return results + (_share(function, rest, 1) if done < n_rows else [])


def _while_quick(
    function: Callable[[slice], Result], n_rows: int, size: int
) -> tuple[int, list[Result]]:
    """Rows done by the calling thread, and their results, while slices take a moment each.

    The worst row may take a hundred times as long as most: what the last slice took says how many
    rows the next one may have, and a thread is only started for rows that are slow indeed.
    """
    done, results, stop = 0, [], stop_flag()
    while size > 0 and done < n_rows:
        begin = perf_counter()
        rows = slice(done, min(done + size, n_rows))
        results.append(_wanted(function(rows), stop))
        seconds = perf_counter() - begin
        done = rows.stop
        size = min(int(size * MOMENT / max(seconds, 1e-6)), GROWTH * size)
    return done, results


def map_blocks(
    function: Callable[[slice], Result], n_rows: int, block: int, n_jobs: int | None
) -> list[Result]:
    """Call ``function`` on blocks of rows, in order, several at a time where asked.

    For work that calls BLAS: with more than one thread of ours, BLAS keeps to one of its own.
    """
    slices = [slice(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
    n_threads = min(count_threads(n_jobs), len(slices))
    if n_threads <= 1:
        return [function(rows) for rows in slices]
    with threadpool_limits(1):
        return _share(function, slices, n_threads)


@contextmanager
def steady_blas(largest: int) -> Iterator[None]:
    """BLAS keeps to one thread while none of its calls is large.

    A loop of small products and factors is several times slower with two threads than with one,
    whether the other core is busy or not: they wait for each other in every call.

    Parameters
    ----------
    largest : int
        Multiplications in the largest product, roughly.
    """
    if largest >= LARGE:
        yield
        return
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()


class _OneThread:
    """The limit holds until the last of those who asked for it has left, in whatever thread."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.count == 0:
                self.limit = _libraries().limit(limits=1, user_api="blas")
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0 and self.limit is not None:
                self.limit.restore_original_limits()
                self.limit = None


_one_thread = _OneThread()


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that are loaded; looking for them takes milliseconds."""
    import_module("scipy.linalg")  # it brings a BLAS of its own
    return ThreadpoolController()


def wait_for(function: Callable[[], Result]) -> Result:
    """One long call that knows no flag but lets other threads run, in a thread of its own.

    Interrupted, it is left alone: it goes on to its end, and what it returns is thrown away.
    """
    if not _hears_signals():
        return function()
    return _share(lambda rows: function(), [slice(0, 0)], 1)[0]


def short_slices(n_rows: int, cost: int) -> list[slice]:
    """Slices of rows that are done with in a moment, at ``cost`` operations per row."""
    return _slices(n_rows, max(1, SHORT // max(cost, 1)))


def stop_flag() -> NDArray:
    """What compiled code looks at from time to time: not zero once its result is not wanted."""
    found: NDArray | None = getattr(_thread, "stop", None)
    return np.zeros(1, np.uint8) if found is None else found


class Stopped(Exception):
    """Work that nobody waits for any more was broken off; only its own thread sees this."""


def _wanted(result: Result, stop: NDArray) -> Result:
    """A result that was not broken off: half of one must go nowhere."""
    if stop[0]:
        raise Stopped
    return result


def _hears_signals() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _slices(n_rows: int, chunk: int) -> list[slice]:
    """Consecutive slices of at most ``chunk`` rows; an empty one where there are no rows."""
    starts = range(0, max(n_rows, 1), chunk)
    return [slice(start, min(start + chunk, n_rows)) for start in starts]


class _Task:
    """A function that runs in a thread of its own; what it raises is kept."""

    def __init__(self, function: Callable[[], None], stop: NDArray):
        self.function, self.stop = function, stop
        self.error: BaseException | None = None
        self.busy = threading.Lock()
        self.busy.acquire()
        # The plainest thread: it starts in half the time, and should it not see the flag soon, the
        # program can end without it.
        start_new_thread(copy_context().run, (self._run,))

    def _run(self) -> None:
        _thread.stop = self.stop
        try:
            self.function()
        except BaseException as error:
            self.error = error
        finally:
            self.busy.release()

    def wait(self) -> None:
        """Until it is done; a signal is heard in between."""
        while not self.busy.acquire(timeout=WAKE):
            pass


def _share(
    function: Callable[[slice], Result], slices: Sequence[slice], n_threads: int
) -> list[Result]:
    """Results in order; a calling thread that no signal can reach works along."""
    results: list[Any] = [None] * len(slices)
    waiting = iter(enumerate(slices))  # handing out the next slice is atomic
    listens = _hears_signals()
    stop = np.zeros(1, np.uint8) if listens else stop_flag()

    def end() -> None:
        for _ in waiting:  # nobody takes another slice
            pass
        if listens:
            stop[0] = 1

    def work() -> None:
        try:
            for position, rows in waiting:
                results[position] = _wanted(function(rows), stop)
        except BaseException:
            end()
            raise

    tasks: list[_Task] = []
    try:
        for _ in range(min(n_threads, len(slices)) - (not listens)):
            tasks.append(_Task(work, stop))
        if not listens:
            work()
        for task in tasks:
            task.wait()
    except BaseException:
        end()
        if listens:
            _let_end(tasks)
        raise
    _raise_first(tasks)
    return results


def _raise_first(tasks: Sequence[_Task]) -> None:
    """Raise what ended the work, which is not what the others saw who stopped because of it."""
    errors = [task.error for task in tasks if task.error is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error


def _let_end(tasks: Sequence[_Task]) -> None:
    """Give interrupted threads a moment, so that as a rule none of them runs on."""
    for task in tasks:
        if not task.busy.acquire(timeout=PATIENCE / len(tasks)):
            return
