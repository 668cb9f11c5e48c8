"""Equal blocks give equal bits: on any number of workers, and when workers die."""

import gc
import os
import signal
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kernelcoding as kc
from kernelcoding.classification.losses import one_vs_rest
from kernelcoding.kernels import Gaussian

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
cloudpickle = pytest.importorskip("cloudpickle")

CHUNKS = (150, 50, 0, 1, 199, *(50,) * 12)  # seventeen blocks: a tree of two levels
N = sum(CHUNKS)


@pytest.fixture(scope="module", autouse=True)
def by_value():
    """Workers know this file only by what is sent to them."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def data():
    X = np.random.default_rng(7).normal(size=(N, 6))
    X[:, 0] += 4.0 * (np.arange(N) % 3)
    return X


def lazy():
    return da.from_array(data(), chunks=(CHUNKS, 6))


def learning(kernel="rbf", **settings):
    coder = kc.KernelSparseCoder(kernel, alpha=0.05)
    return kc.KernelDictionaryLearning(coder, n_atoms=12, n_landmarks=40, max_iter=3, **settings)


def with_margins():
    coder = kc.KernelSparseCoder(alpha=0.05)
    settings = {"n_atoms": 9, "n_landmarks": 30, "max_iter": 1, "eta": 0.1, "rho": 1e-2}
    return kc.SupervisedKernelCoding(coder, classifier="max-margin", **settings)


@pytest.fixture(scope="module")
def truth():
    """What is learned in this process."""
    with dask.config.set(scheduler="synchronous"):
        return learning().fit(lazy())


def assert_equal_bits(found, truth):
    assert_array_equal(found.dictionary_.weights, truth.dictionary_.weights)
    assert_array_equal(found.objective_history_, truth.objective_history_)
    assert found.kernel_.gamma == truth.kernel_.gamma


def once(path):
    """Whether this is the first call in any process: the file is made by one of them."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die_once(path):
    if path and once(path):
        os.kill(os.getpid(), signal.SIGKILL)


class Deadly(Gaussian):
    """The Gaussian kernel; the first worker that computes with it is killed."""

    def __init__(self, gamma=1.0, path=""):
        super().__init__(gamma)
        self.path = path

    def profile(self, S, *, overwrite=False):
        if len(S) == CHUNKS[0]:  # a block of samples on a worker, not landmarks or a pool here
            die_once(self.path)
        return super().profile(S, overwrite=overwrite)


def summed(block, scale, path):
    return scale * block.samples.sum(axis=0)


def merged(left, right):
    return left / 3.0 + right / 7.0  # neither associative nor commutative


def deadly_merged(path):
    def merge(left, right):
        die_once(path)
        return merged(left, right)

    return merge


def workers(client):
    return sorted(client.run(os.getpid).values())


# The laws ---------------------------------------------------------------------------------------


def test_a_worker_killed_while_it_codes_changes_nothing(client, truth, tmp_path):
    before = workers(client)
    deadly = Deadly(truth.kernel_.gamma, str(tmp_path / "killed"))
    found = learning(deadly).fit(lazy())
    assert (tmp_path / "killed").exists()
    assert_equal_bits(found, truth)
    client.wait_for_workers(2, timeout=60)
    assert workers(client) != before  # one has died, and a nanny has started another


def test_a_worker_killed_between_rounds_changes_nothing(client, truth):
    victims = []

    def kill(progress):
        if progress.iteration == 2 and progress.step == "atoms":
            victims.append(workers(client)[0])
            os.kill(victims[0], signal.SIGKILL)

    assert_equal_bits(learning(callback=kill).fit(lazy()), truth)
    client.wait_for_workers(2, timeout=60)
    assert victims
    assert victims[0] not in workers(client)


def test_a_worker_killed_while_it_merges_changes_nothing(client, tmp_path):
    from kernelcoding.distributed.samples import DaskSamples

    X, state = DaskSamples(lazy()), (2.0, "")
    with dask.config.set(scheduler="synchronous"):
        truth = X.map_reduce(summed, state, merged)
    path = tmp_path / "killed"
    found = X.map_reduce(summed, state, deadly_merged(str(path)))
    assert path.exists()
    assert_array_equal(found, truth)
    client.wait_for_workers(2, timeout=60)


def kept_and_summed(block, scale):
    return (scale * block.samples,), block.samples.sum(axis=0)


def joined(left, right):
    return left[0] + right[0], merged(left[1], right[1])


def split(answer):
    return np.vstack(answer[0]), ((), answer[1])


def squares(part, power):
    return (part**power).sum(axis=0)


def test_what_was_kept_and_is_lost_with_its_worker_is_made_again(client):
    """Codes of a round stay with the workers while a classifier passes over them."""
    from kernelcoding.distributed.samples import DaskSamples

    X = DaskSamples(lazy())
    with dask.config.set(scheduler="synchronous"):
        answer, kept = X.map_keep(kept_and_summed, (2.0,), joined, split)
        truth = answer[1], kept.map_reduce(squares, (2,), merged)
    answer, kept = X.map_keep(kept_and_summed, (2.0,), joined, split)
    victim = workers(client)[0]
    assert all(client.who_has(distributed.futures_of(kept.parts)).values())
    os.kill(victim, signal.SIGKILL)
    found = answer[1], kept.map_reduce(squares, (2,), merged)
    assert_array_equal(found, truth)
    client.wait_for_workers(2, timeout=60)
    assert victim not in workers(client)


def test_rounds_do_not_chain_and_leave_nothing(cluster, client):
    """The scheduler knows the tasks of one pass at most, which it forgets soon, and none after."""
    known, X = [], lazy()
    one_pass = 3 * X.numblocks[0] + 8  # blocks, visits and merges, and the states

    def count(progress):
        if progress.step == "codes":
            known.append(len(cluster.scheduler.tasks))

    learning(callback=count, tol=0).set_params(max_iter=5).fit(X)
    assert len(known) == 6
    assert max(known) <= one_pass
    deadline = time.monotonic() + 30
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not cluster.scheduler.tasks


def test_client_and_scheduler_hold_a_few_kilobytes_per_block(client):
    """Both are this process; samples and codes of a block would be fifty times as much."""
    rows = 2000

    def peak(count):
        X = da.random.default_rng(0).normal(size=(count * rows, 6), chunks=(rows, 6))
        gc.collect()
        tracemalloc.start()
        learning().set_params(max_iter=1).fit(X)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    # The least of some: garbage and logs of other tests add to one or the other.
    few, many = (min(peak(count) for _ in range(2)) for count in (4, 24))
    block_and_codes = rows * (6 + 12) * 8
    assert (many - few) / 20 < 0.3 * block_and_codes


def test_the_tree_of_merges_has_a_width_of_eight():
    from kernelcoding.distributed.samples import DaskSamples

    X = DaskSamples(lazy())
    with dask.config.set(scheduler="synchronous"):
        found = X.map_reduce(
            lambda block: f"{block.rows.start}", (), lambda left, right: f"({left} {right})"
        )
    starts = np.cumsum([0, *(length for length in CHUNKS if length)])[:-1].astype(str)

    def fold(parts):
        first, *others = parts
        for other in others:
            first = f"({first} {other})"
        return first

    assert found == fold([fold(starts[:8]), fold(starts[8:])])


def test_any_number_of_workers_gives_equal_bits(cluster, client, truth, monkeypatch):
    monkeypatch.setattr(one_vs_rest, "ROUGH", 2)  # a pass each
    few = CHUNKS[:5]  # every pass of a margin visits them all: one level of the tree
    X = da.from_array(data()[: sum(few)], chunks=(few, 6))
    y = np.arange(len(X)) % 3
    with dask.config.set(scheduler="synchronous"):
        margins = with_margins().fit(X, y)
    for count in (3, 1):  # two are those of all tests above
        cluster.scale(count)
        client.wait_for_workers(count, timeout=60)
        while len(client.scheduler_info()["workers"]) > count:
            time.sleep(0.05)
        assert_equal_bits(learning().fit(lazy()), truth)
        found = with_margins().fit(X, y)
        assert_equal_bits(found, margins)
        assert_array_equal(found.classifier_.weights, margins.classifier_.weights)
    cluster.scale(2)  # as other tests expect it
