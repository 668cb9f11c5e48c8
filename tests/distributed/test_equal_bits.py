"""Equal blocks give equal bits: on any number of workers, and when workers die."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kernelcoding as kc
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


def test_any_number_of_workers_gives_equal_bits(cluster, client, truth):
    for count in (2, 3, 1):
        cluster.scale(count)
        client.wait_for_workers(count, timeout=60)
        while len(client.scheduler_info()["workers"]) > count:
            time.sleep(0.05)
        assert_equal_bits(learning().fit(lazy()), truth)
    cluster.scale(2)  # as other tests expect it
