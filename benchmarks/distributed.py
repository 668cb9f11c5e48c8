"""Lazy coding and learning on a local cluster: overhead, speed-up, time and memory against size.

The scheduler of a local cluster lives in the client's process: their memory is one figure.
"""

import os
import time

import dask.array as da
import numpy as np
from sklearn.decomposition import SparseCoder
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import normalize

import kernelcoding as kc
from distributed import Client, LocalCluster, wait
from kernelcoding.kernels import Gaussian

from .judge import Measured, Row, peak_memory

ROWS = 20_000  # of a block
FEATURES = 64
KERNEL = Gaussian(gamma=1 / FEATURES)


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


def timed(function):
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def coded(coder, X):
    """Codes stay with the workers."""
    wait(coder.transform(X).persist())


def learner():
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05)
    return kc.KernelDictionaryLearning(coder, n_atoms=100, n_landmarks=300, max_iter=2, tol=0)


def learn(X):
    return learner().fit(X)


def learn_online(X):
    """What one process does with the same blocks, two epochs for two rounds."""
    model = learner()
    for _ in range(2):
        for number in range(X.numblocks[0]):
            model.partial_fit(X.blocks[number].compute(scheduler="synchronous"))
    return model


def coded_elsewhere(D, X):
    """A Nystroem map with the atoms as landmarks, and sparse codes of scikit-learn."""
    chart = Nystroem(gamma=KERNEL.gamma, n_components=len(D), random_state=0).fit(D)
    atoms = normalize(chart.transform(D))
    peer = SparseCoder(atoms, transform_algorithm="lasso_cd", transform_alpha=0.05)
    codes = X.map_blocks(
        lambda part: peer.transform(chart.transform(part)),
        chunks=(X.chunks[0], (len(D),)),
        meta=np.empty((0, 0)),
    )
    wait(codes.persist())


def beside_scikit_learn(D, X):
    """Seconds of the peer, and of lazy coding with the same atoms; the second of two runs each."""
    own = kc.KernelSparseCoder(KERNEL, D, 0.05, sparse_output=True).fit(D)
    runs = (lambda: coded_elsewhere(D, X)), (lambda: coded(own, X))
    return [[timed(function)[0] for _ in range(2)][1] for function in runs]


def sizes_of(quick, rows):
    return (5 * rows,) if quick else (5 * rows, 50 * rows)


def run(quick, rows=ROWS):
    few = samples(2 * rows if quick else 10 * rows, rows)
    D = few[:500].compute(scheduler="synchronous")
    coder = kc.KernelSparseCoder(KERNEL, D, 0.05, sparse_output=True).fit(D)
    here = few.compute(scheduler="synchronous")
    coder.transform(here[:100])
    local = timed(lambda: coder.transform(here))[0]
    times = {}
    for count in (1, 2):
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            coded(coder, few)  # workers load compiled code
            found = timed(lambda: coded(coder, few))[0], timed(lambda: learn(few))[0]
            times[count] = found
            if count == 2:
                sized = [
                    (n, timed(lambda n=n: learn(samples(n, rows)))[0])
                    for n in sizes_of(quick, rows)
                ]
                elsewhere, same = beside_scikit_learn(D[:100], few[:rows])
                memory = list(memory_against_blocks(rows // 10))
    online = timed(lambda: learn_online(few))[0]
    one, two = times[1], times[2]
    yield row("lazy coding", "local call", one[0], local)
    yield row("coding, 2 workers", "1 worker", two[0], one[0])
    yield row("learning, 2 workers", "1 worker", two[1], one[1])
    yield row("learning, 2 workers", "partial_fit in one process", two[1], online)
    yield row("one block, 100 atoms", "Nystroem and SparseCoder", same, elsewhere)
    for n, seconds in sized:
        yield row(f"learning from {n} samples", f"{sized[0][0]} samples", seconds, sized[0][1])
    for count, seconds, peak in memory:
        yield row(f"learning from {count} blocks", "50 blocks", seconds, memory[0][1], peak)


def memory_against_blocks(rows):
    """Blocks, seconds, and megabytes that client and scheduler took at their peak."""
    learn(samples(10 * rows, rows))  # what is loaded once
    for count in (50, 500):
        X, found = samples(count * rows, rows), []
        peak = peak_memory(lambda X=X, found=found: found.append(timed(lambda: learn(X))[0]))
        yield count, found[0], peak


def row(case, peer, ours, theirs, peak=np.nan):
    load = {"load": round(os.getloadavg()[0], 1)} if hasattr(os, "getloadavg") else {}
    return Row("distributed", case, peer, 1, Measured(ours, theirs, peak), load)
