"""What a cluster does to lazy methods: lost workers, hopeless blocks, small tasks."""

import os
import signal
import time

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from numpy.testing import assert_array_equal

import kernelcoding as kc
from helpers.lazy_models import assert_same_bits, at_equal_blocks, estimators, vectors
from kernelcoding.distributed import WorkersLost, load, save
from kernelcoding.distributed.shared import Shared

N_BLOCKS, ROWS = 8, 5


def slow_block(number, folder):
    """A block of samples that takes its time, and says who made it."""
    (folder / f"{number}-{os.getpid()}").touch()
    time.sleep(0.25)
    return vectors(ROWS, number)[0]


def deadly_block():
    os.kill(os.getpid(), signal.SIGKILL)


def blocks(make, *args):
    parts = [dask.delayed(make)(number, *args) for number in range(N_BLOCKS)]
    return da.concatenate([da.from_delayed(part, (ROWS, 4), float) for part in parts])


def workers_seen(folder):
    return {int(path.name.split("-")[1]) for path in folder.iterdir()}


@pytest.mark.parametrize("name", estimators())
def test_tasks_are_small_and_share_one_model(name):
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 64)), np.arange(300) % 3
    model = estimators()[name]
    with pytest.warns() if name == "indefinite" else dask.config.set():
        model.fit(X, y)
    source = [dask.delayed(rng.random)((10, 64)) for _ in range(5)]
    ask = model.transform if hasattr(model, "transform") else model.predict
    graphs = dask.optimize(
        ask(source), *([model.predict(source)] if hasattr(model, "predict") else [])
    )
    tasks = {}
    for graph in graphs:
        tasks |= dict(graph.__dask_graph__())
    models = [key for key in tasks if str(key).startswith("Shared-")]
    assert len(models) == 1
    assert max(len(cloudpickle.dumps(tasks[key])) for key in tasks if key not in models) < 5_000


def test_the_size_of_a_model_is_told_and_the_gram_matrix_stays_at_home():
    X = np.random.default_rng(0).random((1000, 64))
    coder = kc.KernelSparseCoder().fit(X)
    coder.transform(X[:5])
    assert coder.dictionary_.gram.nbytes == 8_000_000
    told = sizeof(Shared(coder))
    assert X.nbytes < told < 1.2 * X.nbytes
    assert told == pytest.approx(len(cloudpickle.dumps(Shared(coder))), rel=0.01)
    learned = kc.KernelDictionaryLearning(n_atoms=5, max_iter=1).fit(X[:300])
    lazy = learned.transform(da.from_array(X[:10], chunks=(5, 64)))
    (model,) = (key for key in lazy.__dask_graph__() if str(key).startswith("Shared-"))
    sent = cloudpickle.dumps(lazy.__dask_graph__()[model])
    assert len(sent) < 2 * X[:300].nbytes  # no sums, no frame of 300 x 300


def test_a_pickled_dictionary_has_the_bits_of_its_own():
    X, y = vectors(30, 0)
    for name, model in estimators().items():
        if not hasattr(model, "certify"):
            continue
        with pytest.warns() if name == "indefinite" else dask.config.set():
            model.fit(X, y)
        again = cloudpickle.loads(cloudpickle.dumps(model))
        np.testing.assert_array_equal(again.dictionary_.gram, model.dictionary_.gram)


def test_a_pickled_dictionary_is_saved_and_loaded(tmp_path):
    X, Q = vectors(30, 0)[0], vectors(9, 1)[0]
    for kernel in ("rbf", "sigmoid"):  # as it is, and clipped
        coder = kc.KernelSparseCoder(kernel, atoms=12)
        with pytest.warns(match="indefinite") if kernel == "sigmoid" else dask.config.set():
            coder.fit(X)
        kc.save(cloudpickle.loads(cloudpickle.dumps(coder)), tmp_path / f"{kernel}.kc")
        loaded = kc.load(tmp_path / f"{kernel}.kc")
        np.testing.assert_array_equal(loaded.transform(Q), coder.transform(Q))


def test_arrays_that_begin_at_any_byte_have_the_same_codes():
    X = vectors(30, 0)[0]
    raw = np.empty(X.nbytes + 8, np.uint8)
    odd = raw[1 : X.nbytes + 1].view(float).reshape(X.shape)
    odd[:] = X
    assert not odd.flags.aligned
    Q = vectors(9, 1)[0]
    expected = kc.KernelSparseCoder().fit(X).transform(Q)
    np.testing.assert_array_equal(kc.KernelSparseCoder().fit(odd).transform(Q), expected)


def test_workers_write_what_they_compute(client, tmp_path):
    coder = kc.KernelSparseCoder(sparse_output=True).fit(vectors(30, 99)[0])
    Q = vectors(12, 1)[0]
    save(coder.transform(da.from_array(Q, chunks=(5, 4))), tmp_path)
    found = load(tmp_path).compute()
    assert_same_bits(found, at_equal_blocks(coder.transform, Q, lengths=(5, 5, 2)))


def test_a_worker_killed_while_coding_costs_no_bits(client, tmp_path):
    coder = kc.KernelSparseCoder(alpha=0.05, sparse_output=True).fit(vectors(30, 99)[0])
    codes = client.compute(coder.transform(blocks(slow_block, tmp_path)))
    deadline = time.monotonic() + 60
    while len(workers_seen(tmp_path)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    victim = workers_seen(tmp_path).pop()
    os.kill(victim, signal.SIGKILL)
    found = codes.result(timeout=60)
    assert not codes.done() or victim not in client.run(os.getpid).values()
    Q = np.concatenate([vectors(ROWS, number)[0] for number in range(N_BLOCKS)])
    expected = at_equal_blocks(coder.transform, Q, lengths=(ROWS,) * N_BLOCKS)
    assert_same_bits(found, expected)


def test_a_block_that_ends_every_worker_is_told(client, tmp_path):
    coder = kc.KernelSparseCoder().fit(vectors(30, 99)[0])
    good = da.from_array(vectors(ROWS, 0)[0], chunks=(ROWS, 4))
    bad = da.from_delayed(dask.delayed(deadly_block)(), (ROWS, 4), float)
    codes = coder.transform(da.concatenate([good, bad]))
    with pytest.raises(WorkersLost, match=r"memory of a worker.*smaller blocks.*memory_limit"):
        save(codes, tmp_path)
    with pytest.raises(ValueError, match="of 2 chunks are missing"):
        load(tmp_path)


@pytest.mark.parametrize("kind", ["array", "sum", "frame"])
def test_blocks_that_workers_hold_are_taken_as_they_are(client, kind, tmp_path):
    """``X.persist()``: a task was handed the key of its block, and not the block."""
    X = np.random.default_rng(0).normal(size=(90, 4))
    blocks, y = (X[:40], X[40:]), (X[:, 0] > 0).astype(int)
    coder = kc.KernelSparseCoder("rbf", alpha=0.05, atoms=10).fit(X[:40])
    lazy, labels = da.from_array(X, chunks=((40, 50), 4)) + 0, da.from_array(y, chunks=45) + 0
    held = {
        "array": lambda: lazy.persist(),
        "sum": lambda: lazy.persist() + 0.0,
        "frame": lambda: lazy.to_dask_dataframe(columns=list("abcd")).persist(),
    }[kind]()
    if kind == "frame":
        names = [pd.DataFrame(block, columns=list("abcd")) for block in blocks]
        blocks, coder = names, coder.fit(names[0])
    codes = coder.transform(held).persist()
    truth = np.vstack([coder.transform(block) for block in blocks])
    assert_array_equal(codes.compute(), truth)
    save(codes, tmp_path / "codes")
    assert_array_equal(load(tmp_path / "codes").compute(), truth)
    if kind == "array":
        model = kc.SupervisedKernelCoding(n_atoms=4, n_landmarks=10, max_iter=1, eta=0.1, rho=0.1)
        assert model.fit(held, labels.persist()).score(X, y) > 0.8
