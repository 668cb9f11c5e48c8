"""Lazy coding and learning on a local cluster: overhead, speed-up, peers, memory and size.

The scheduler of a local cluster lives in the client's process: their memory is one figure.
"""

import os
import resource
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from sklearn.decomposition import SparseCoder
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

import kernelcoding as kc
from distributed import Client, LocalCluster, futures_of, wait
from kernelcoding.kernels import Gaussian

from .judge import Measured, Row, peak_memory

ROWS = 20_000  # of a block
FEATURES = 64
KERNEL = Gaussian(gamma=1 / FEATURES)
REPEATS = 5
# Nannies let workers give freed memory back at once; on virtual machines, pages that come and go
# with every block cost a fifth of the time.
KEPT_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**30,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**28,
}
SHORT_LOGS = {"distributed.admin.low-level-log-length": 10}


def run(quick, rows=ROWS, parts=None):
    for name in parts or PARTS:
        yield from PARTS[name](quick, rows)


# Samples, models, a cluster ---------------------------------------------------------------------


def block(block_info=None):
    """Samples around fifty centres, made where they are needed and never stored."""
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0] + 1)
    centres = np.random.default_rng(0).normal(size=(50, FEATURES))
    n = place["chunk-shape"][0]
    return centres[rng.integers(50, size=n)] + 0.5 * rng.normal(size=(n, FEATURES))


def samples(n, rows=ROWS):
    chunks = (rows,) * (n // rows)
    return da.map_blocks(block, chunks=(chunks, (FEATURES,)), dtype=float, meta=np.empty((0, 0)))


def coder_of(X, n_atoms):
    D = X[:n_atoms].compute(scheduler="synchronous")
    return kc.KernelSparseCoder(KERNEL, D, 0.05, sparse_output=True).fit(D)


def learner(rounds=2, **settings):
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05, sparse_output=True)
    settings = {"n_atoms": 100, "n_landmarks": 300, "tol": 0, **settings}
    return kc.KernelDictionaryLearning(coder, max_iter=rounds, **settings)


@contextmanager
def cluster(n_workers):
    """Worker processes of one thread each, which have loaded compiled code."""
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as made,
        Client(made) as client,
    ):
        few = samples(200 * n_workers, 200)
        learner().fit(few).transform(few).compute()
        yield client


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best(function, repeats=REPEATS):
    return min(timed(function) for _ in range(repeats))


def row(case, peer, ours, theirs, peak=np.nan, **facts):
    load = {"load": round(os.getloadavg()[0], 1)} if hasattr(os, "getloadavg") else {}
    return Row("distributed", case, peer, 1, Measured(ours, theirs, peak), {**facts, **load})


# What is measured -------------------------------------------------------------------------------


def code(coder, X):
    """Codes stay with the workers, under a new name: those of a call before would be found."""
    codes = coder.transform(X).map_blocks(
        count_nonzeros, drop_axis=1, dtype=int, name=f"counts-{uuid4().hex}"
    )
    finish(codes.persist())


def finish(held):
    """Wait for what workers compute; an error there is one here."""
    wait(held)
    for future in futures_of(held):
        if future.status != "finished":
            future.result()


def fastest_round(X, rounds=3):
    """Seconds of the fastest round after the first, atoms and codes together."""
    ends = []

    def note(progress):
        if progress.step == "codes":
            ends.append(progress.seconds)

    learner(rounds, callback=note).fit(X)
    return float(np.diff(ends).min())


def speed(quick, rows):
    """Blocks that workers have in memory: lazy and local coding, one worker and two.

    All are measured in turns, with both clusters open: what a shared machine gives moves by half
    within minutes, and a ratio of two moments would show that.
    """
    made = samples((4 if quick else 20) * rows, rows)
    coder, here = coder_of(made, 500), made.compute(scheduler="synchronous")
    coder.transform(here[:100])
    least = dict.fromkeys(["local", "one", "two", "round of one", "round of two"], np.inf)

    def note(case, seconds):
        least[case] = min(least[case], seconds)

    with ExitStack() as stack:
        stack.enter_context(dask.config.set(KEPT_MEMORY))
        clients = {name: stack.enter_context(cluster(n)) for name, n in [("one", 1), ("two", 2)]}
        held = {}
        for name, client in clients.items():
            with client.as_current():
                held[name] = made.persist()
                finish(held[name])
                code(coder, held[name])
        for _ in range(2 if quick else REPEATS):
            note("local", timed(lambda: coder.transform(here)))
            for name, client in clients.items():
                with client.as_current():
                    note(name, timed(lambda name=name: code(coder, held[name])))
            for name, client in clients.items():
                with client.as_current():
                    note(f"round of {name}", fastest_round(held[name]))
    yield row("lazy coding", "local call", least["one"], least["local"])
    yield row("coding, 2 workers", "1 worker", least["two"], least["one"])
    yield row(
        "a round of learning, 2 workers", "1 worker", least["round of two"], least["round of one"]
    )


def learn_online(X):
    """What one process does with the same blocks, two epochs for two rounds."""
    model = learner()
    for _ in range(2):
        for number in range(X.numblocks[0]):
            model.partial_fit(X.blocks[number].compute(scheduler="synchronous"))


def parallel_post_fit():
    """The wrapper of dask-ml, or None where that is not installed."""
    try:
        from dask_ml.wrappers import ParallelPostFit
    except ImportError:
        print("  dask-ml is not installed: the row beside it is left out")
        return None
    return ParallelPostFit


def coded_elsewhere(wrapper, D, X):
    """A Nystroem map with the atoms as landmarks, and sparse codes of scikit-learn."""
    chart = Nystroem(gamma=KERNEL.gamma, n_components=len(D), random_state=0).fit(D)
    atoms = normalize(chart.transform(D))
    peer = SparseCoder(atoms, transform_algorithm="lasso_cd", transform_alpha=0.05)
    like = np.empty((0, len(D)))
    pipeline = wrapper(make_pipeline(chart, peer), transform_meta=like)
    finish(pipeline.transform(X).persist())


def peers(quick, rows):
    """What a user would do otherwise, on two workers or in one process."""
    X = samples((2 if quick else 4) * rows, rows)
    wrapper = parallel_post_fit()
    with cluster(2):
        held = X.persist()
        finish(held)
        coder = coder_of(X, 100)
        repeats = 2
        ours = best(lambda: code(coder, held), repeats)
        if wrapper is not None:
            D = coder.dictionary_.points
            theirs = best(lambda: coded_elsewhere(wrapper, D, held), repeats)
            yield row(
                "coding, 100 atoms, 2 workers",
                "dask_ml ParallelPostFit(Nystroem, SparseCoder)",
                ours,
                theirs,
            )
        fitted = timed(lambda: learner().fit(held))
    yield row(
        "learning, 2 rounds, 2 workers",
        "partial_fit in one process, 2 epochs",
        fitted,
        timed(lambda: learn_online(X)),
    )


def memory(quick, rows):
    """Megabytes that client and scheduler add at their peak, against the number of blocks.

    Dask keeps its last thousand messages to each worker for whoever looks for an error in it: up to
    30 MB that fill with the number of tasks, whatever these are. Here the log is short.
    """
    first = None
    with dask.config.set(SHORT_LOGS), cluster(2):
        learn(samples(50 * rows // 100, rows // 100))
        for count in (50, 200) if quick else (50, 500, 2000):
            X, found = samples(count * rows // 100, rows // 100), []
            peak = peak_memory(lambda X=X, found=found: found.append(timed(partial(learn, X))))
            first = first or found[0]
            yield row(
                f"learning from {count} blocks of {rows // 100} rows",
                "50 blocks",
                found[0],
                first,
                peak,
            )


def learn(X):
    return learner().fit(X)


def processor_seconds(client):
    """Of client and scheduler, and of all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def peak_of_process():
    """Megabytes that the process has ever held."""
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def count_nonzeros(codes):
    return np.array([codes.nnz])


def size(quick, rows):
    """Learning, first codes and one round, and coding of samples that are made block by block."""
    for task in TASKS:
        first = None
        for n in (5 * rows, 10 * rows) if quick else (5 * rows, 50 * rows, 500 * rows):
            with cluster(2) as client:
                start = processor_seconds(client)
                seconds = timed(partial(TASKS[task], samples(n, rows)))
                used = processor_seconds(client) - start
                worker = max(client.run(peak_of_process).values())
                peak = max(worker, peak_of_process())
            first = first or (n, used, seconds)
            facts = {"processor s": round(used, 1)}
            if n > first[0]:
                scale = np.log(n / first[0])
                facts["exponent"] = float(np.log(used / first[1]) / scale)
                facts["exponent of wall clock"] = float(np.log(seconds / first[2]) / scale)
            yield row(
                f"{task}, {n} samples", f"{first[0]} samples", seconds, first[2], peak, **facts
            )


def learn_few(X):
    learner(rounds=1, n_atoms=50, n_landmarks=100).fit(X)


def code_all(X):
    codes = coder_of(X, 100).transform(X)
    codes.map_blocks(count_nonzeros, drop_axis=1, dtype=int).sum().compute()


TASKS = {"learning, 50 atoms": learn_few, "coding, 100 atoms": code_all}
PARTS = {"speed": speed, "peers": peers, "memory": memory, "size": size}
