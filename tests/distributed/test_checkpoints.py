"""Learning that was broken off goes on from its checkpoint, to the same bits."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kernelcoding as kc

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


class Killed(Exception):
    """Stands for the end of this process."""


def data(seed=3):
    X = np.random.default_rng(seed).normal(size=(400, 5))
    X[:, 0] += 4.0 * (np.arange(400) % 3)
    return X


def lazy(X):
    return da.from_array(X, chunks=((150, 0, 100, 150), 5))


def learning(path=None, **settings):
    settings = {"n_atoms": 10, "n_landmarks": 30, "max_iter": 5, "tol": 0, **settings}
    return kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(alpha=0.05), checkpoint=path, **settings
    )


def die(progress):
    if progress.iteration == 3:
        raise Killed


@pytest.fixture
def path(tmp_path):
    """A checkpoint of two rounds."""
    path = tmp_path / "rounds.kc"
    with dask.config.set(scheduler="synchronous"), pytest.raises(Killed):
        learning(path, callback=die).fit(lazy(data()))
    return path


def test_learning_goes_on_to_equal_bits(path):
    seen = []
    with dask.config.set(scheduler="synchronous"):
        truth = learning().fit(lazy(data()))
        found = learning(path, callback=lambda now: seen.append(now.iteration)).fit(lazy(data()))
    assert min(seen) == 3
    assert_array_equal(found.dictionary_.weights, truth.dictionary_.weights)
    assert_array_equal(found.objective_history_, truth.objective_history_)
    assert (found.n_iter_, found.n_replaced_, found.status_) == (
        truth.n_iter_,
        truth.n_replaced_,
        truth.status_,
    )
    assert not path.exists()


def test_a_checkpoint_is_a_model(path):
    model = kc.load(path)
    assert (model.n_iter_, model.status_) == (2, "interrupted")
    assert model.transform(data()).shape == (400, 10)


def test_other_samples_and_parameters_are_refused(path):
    changed = data()
    changed[-1] += 0.5
    with dask.config.set(scheduler="synchronous"):
        for X in (data(4), changed):
            with pytest.raises(ValueError, match="is of other samples: learning cannot go on"):
                learning(path).fit(lazy(X))
        with pytest.raises(ValueError, match="is of other parameters"):
            learning(path, update="coordinate").fit(lazy(data()))
    kc.save(kc.KernelSparseCoder(), path)
    with pytest.raises(ValueError, match="is a model, not a checkpoint"):
        learning(path).fit(data())


def test_what_cannot_go_on_is_refused(tmp_path):
    path = tmp_path / "rounds.kc"
    for settings in ({"n_landmarks": None}, {"random_state": None}, {"per_class": True}):
        with pytest.raises(ValueError, match="checkpoint needs"):
            learning(path, **settings).fit(data(), np.arange(400) % 3)
    with pytest.raises(ValueError, match="There is no folder"):
        learning(tmp_path / "none" / "rounds.kc").fit(data())


# A client that is killed ------------------------------------------------------------------------

SCRIPT = """
import sys

sys.path.insert(0, sys.argv[1])
from distributed import Client
from test_checkpoints import data, lazy, learning


def tell(progress):
    print(progress.iteration, progress.step, flush=True)
    if progress.iteration == 3:
        sys.stdin.read()  # until the end: in the middle of a round


with Client(sys.argv[3]):
    learning(sys.argv[2], callback=tell).fit(lazy(data()))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise here")
def test_a_killed_client_goes_on_in_another_process(cluster, tmp_path):
    """SIGKILL in the third round: no line of ours runs any more, and the file is whole."""
    path = tmp_path / "rounds.kc"
    given = Path(__file__).parent, path, cluster.scheduler_address
    command = [sys.executable, "-c", SCRIPT, *map(str, given)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        seen = next(line for line in client.stdout if line.startswith("3 "))
        client.kill()
        assert client.wait(timeout=60) == -signal.SIGKILL
    assert seen == "3 atoms\n"
    assert kc.load(path).n_iter_ == 2
    rounds = []
    with dask.config.set(scheduler="synchronous"):
        truth = learning().fit(lazy(data()))
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        found = learning(path, callback=lambda now: rounds.append(now.iteration)).fit(lazy(data()))
    assert min(rounds) == 3
    assert_array_equal(found.dictionary_.weights, truth.dictionary_.weights)
    assert_array_equal(found.objective_history_, truth.objective_history_)
    assert not path.exists()
