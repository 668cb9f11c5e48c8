"""Sharing out rows: order, errors, and who does the work."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelcoding import parallel
from kernelcoding.parallel import LARGE, SHORT, map_rows, steady_blas


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
@pytest.mark.parametrize("n_rows", [0, 1, 7, 200])
@pytest.mark.parametrize("cost", [1, 2**24, 2**40])
def test_slices_cover_the_rows_in_order(n_rows, n_jobs, cost):
    parts = parallel.map_rows(lambda rows: np.arange(n_rows)[rows], n_rows, n_jobs, cost=cost)
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(n_rows))


def test_the_main_thread_only_waits_for_long_work():
    def here(rows):
        return threading.current_thread() is threading.main_thread()

    assert parallel.map_rows(here, 10, None, cost=1) == [True]
    assert parallel.map_rows(here, 1, None, cost=2**20) == [True]
    assert not any(parallel.map_rows(here, 10, None, cost=2**30))
    assert not any(parallel.map_blocks(here, 10, 2, 2))
    assert not parallel.wait_for(lambda: here(slice(0)))


def test_work_in_another_thread_stays_there():
    """Signals cannot reach it, so that one thread need not start a second one."""
    found = []

    def elsewhere():
        own = threading.get_ident()
        found.extend(parallel.map_rows(lambda _: threading.get_ident() == own, 10, 1, cost=2**30))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [True]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_ends_the_work_of_all_threads(error):
    begun, stopped = [], []

    def fail(rows):
        begun.append(rows.start)
        if rows.start == 2:
            raise error
        stop = parallel.stop_flag()
        for _ in range(500):
            if stop[0]:
                stopped.append(rows.start)
                break
            time.sleep(0.01)

    with pytest.raises(error):
        parallel.map_blocks(fail, 100, 1, 3)
    assert sorted(begun) == [0, 1, 2]
    assert sorted(stopped) == [0, 1]


def test_flags_reach_work_inside_work():
    """One flag, so that whoever waits at the outside stops compiled code at the inside."""
    flags = []

    def outer(rows):
        flags.append(parallel.stop_flag())
        parallel.map_rows(lambda _: flags.append(parallel.stop_flag()), 100, 2, cost=2**30)

    parallel.map_blocks(outer, 2, 1, 2)
    assert len({id(flag) for flag in flags}) == 1
    assert parallel.stop_flag() is not flags[0]


def blas_threads():
    """Of the libraries that our products call; other tests may have loaded some of their own."""
    ours = {one["filepath"] for one in parallel._libraries().info()}
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return {one["filepath"]: one["num_threads"] for one in libraries if one["filepath"] in ours}


def test_small_products_keep_blas_to_one_thread_until_the_last_has_left():
    with threadpool_limits(2):
        before = blas_threads()
        first, second = steady_blas(1), steady_blas(LARGE - 1)
        first.__enter__()
        second.__enter__()
        assert set(blas_threads().values()) == {1}
        first.__exit__(None, None, None)  # not in the order they came, as threads do
        assert set(blas_threads().values()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
        with steady_blas(LARGE):
            assert blas_threads() == before


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_every_row_is_done_once_in_order_and_slow_rows_by_another_thread(seconds):
    def note(rows):
        time.sleep(seconds * (rows.stop - rows.start))
        return list(range(rows.start, rows.stop)), threading.get_ident()

    found = map_rows(note, 20, None, cost=SHORT // 2)  # two rows might already take a moment
    assert [row for rows, _ in found for row in rows] == list(range(20))
    here = [thread == threading.get_ident() for _, thread in found]
    assert here[0]
    assert all(here) == (seconds == 0.0)
