"""Memory, time against the number of queries, threads, and latency, in fresh processes."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from .judge import Measured, Row

WORKER = """
import json, sys, time
from pathlib import Path
import numpy as np
import kernelcoding as kc
from kernelcoding.kernels import Gaussian
coder_name, n_queries, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
centres = rng.normal(size=(50, 64))
Q = centres[rng.integers(50, size=n_queries)] + 0.5 * rng.normal(size=(n_queries, 64))
D = centres[rng.integers(50, size=1000)] + 0.5 * rng.normal(size=(1000, 64))
kernel = Gaussian(gamma=1 / 64)
coder = {
    "sparse coding": kc.KernelSparseCoder(kernel, D, 0.05, sparse_output=True, n_jobs=threads),
    "LLC": kc.KernelLLC(kernel, D, sparse_output=True, n_jobs=threads),
    "OMP": kc.KernelMatchingPursuit(kernel, D, sparse_output=True, n_jobs=threads),
}[coder_name].fit(D)
coder.transform(Q[:100])
seconds, busy = np.inf, 0.0
for _ in range(1 if n_queries > 50_000 else 5):
    before = time.process_time()
    start = time.perf_counter()
    codes = coder.transform(Q)
    elapsed = time.perf_counter() - start
    if elapsed < seconds:
        seconds, busy = elapsed, (time.process_time() - before) / elapsed
status = Path("/proc/self/status").read_text()  # ru_maxrss would count the parent before exec
peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "cores busy": busy,
                  "nonzero": codes.nnz / n_queries}))
"""
FIRST_USE = """
import time
import numpy as np
import kernelcoding as kc
start = time.perf_counter()  # importing scikit-learn is not ours to speed up
X = np.random.default_rng(0).normal(size=(200, 16))
kc.KernelSparseCoder().fit(X).transform(X)
print(time.perf_counter() - start)
"""
EVERYTHING = """
import time
start = time.perf_counter()
import numpy as np
import kernelcoding as kc
X = np.random.default_rng(0).normal(size=(30, 4))
for coder in (kc.KernelSparseCoder(), kc.KernelSparseCoder(groups=np.arange(30) % 3),
              kc.KernelLLC(), kc.KernelLCC(), kc.KernelMatchingPursuit(), kc.KernelBagOfWords()):
    for dtype in (np.float64, np.float32):
        coder.fit(X.astype(dtype)).transform(X.astype(dtype))
print(time.perf_counter() - start)
"""


def worker(name, n_queries, threads):
    """Facts measured by a process of its own, in which BLAS has no more threads than we have."""
    blas = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(blas, str(threads))}
    command = [sys.executable, "-c", WORKER, name, str(n_queries), str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def timed_process(program, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def run(quick=False):
    """Rows: the peer of two threads is one thread; latency is held against a limit of our own."""
    sizes = (4_000, 20_000) if quick else (8_000, 40_000, 200_000)
    for name in ("LLC", "OMP", "sparse coding"):
        facts = [worker(name, size, 2) for size in sizes]
        seconds = [fact["seconds"] for fact in facts]
        single = worker(name, sizes[1], 1)
        measured = Measured(seconds[1], single["seconds"], facts[-1]["peak"])
        report = {
            "cores busy": facts[-1]["cores busy"],
            "nonzero": facts[-1]["nonzero"],
            "exponent in queries": float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]),
        }
        case = f"{name}, {sizes[1]} queries (memory: {sizes[-1]})"
        yield Row("scale", case, "one thread", 2, measured, report)
    with tempfile.TemporaryDirectory() as cache:
        cold = timed_process(EVERYTHING, cache)
        first = timed_process(FIRST_USE, cache)
        warm = min(timed_process(FIRST_USE, cache) for _ in range(3))
        case = "first fit and transform of a process"
        yield Row("scale", case, "1.5 s", 1, Measured(warm, 1.5))
        facts = {"then first": first}
        yield Row("scale", "compiling everything", "60 s", 1, Measured(cold, 60.0), facts)
