"""Lazy coding and learning on a local cluster: overhead, speed-up, and time against size."""

import time

import dask.array as da
import numpy as np

import kernelcoding as kc
from distributed import Client, LocalCluster, wait
from kernelcoding.kernels import Gaussian

from .judge import Measured, Row

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


def samples(n):
    chunks = (ROWS,) * (n // ROWS)
    return da.map_blocks(block, chunks=(chunks, (FEATURES,)), dtype=float, meta=np.empty((0, 0)))


def timed(function):
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def coded(coder, X):
    """Codes stay with the workers."""
    wait(coder.transform(X).persist())


def learn(X):
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05)
    return kc.KernelDictionaryLearning(coder, n_atoms=100, n_landmarks=300, max_iter=2, tol=0).fit(
        X
    )


def run(quick):
    few, sizes = samples(2 * ROWS if quick else 10 * ROWS), (10**5,) if quick else (10**5, 10**6)
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
                sized = [(n, timed(lambda n=n: learn(samples(n)))[0]) for n in sizes]
    one, two = times[1], times[2]
    yield row("lazy coding", "local call", one[0], local)
    yield row("coding, 2 workers", "1 worker", two[0], one[0])
    yield row("learning, 2 workers", "1 worker", two[1], one[1])
    for n, seconds in sized:
        yield row(f"learning from {n} samples", "10^5 samples", seconds, sized[0][1])


def row(case, peer, ours, theirs):
    return Row("distributed", case, peer, 1, Measured(ours, theirs))
