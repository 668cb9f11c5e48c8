"""Learning dictionaries: against dictlearn and scikit-learn, and against the number of samples."""

import json
import os
import subprocess
import sys
import time

import numpy as np
from dictlearn import KernelDictionaryLearning as PeerLearning
from sklearn.decomposition import MiniBatchDictionaryLearning
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

from . import data
from .judge import Measured, Row, race

ITERATIONS = 10


def cases():
    """Names, training and held-out samples, numbers of atoms."""
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB", faces[0], faces[1], 570
    fashion = data.fashion(3000)
    if fashion is not None:
        yield "Fashion-MNIST 3000", *fashion, 200
    atoms, queries, *_ = data.digits(1200)
    yield "digits 1200", atoms, queries, 200


def timed(function):
    """Seconds and the answer."""
    begin = time.perf_counter()
    answer = function()
    return time.perf_counter() - begin, answer


def learner(gamma, n_nonzero, n_atoms, **parameters):
    coder = kc.KernelMatchingPursuit(Gaussian(gamma=gamma), n_nonzero=n_nonzero)
    return kc.KernelDictionaryLearning(coder, n_atoms, tol=0, **parameters)


def against_dictlearn(name, train, test, n_atoms, n_nonzero, algorithm):
    """Time until its final training error is reached; errors after as many rounds."""
    gamma = 1.0 / data.median_squared_distance(train)
    peer = PeerLearning(
        n_atoms, gamma=gamma, fit_algorithm=algorithm, n_nonzero_coefs=n_nonzero,
        max_iter=ITERATIONS, random_state=0,
    )  # fmt: skip
    theirs, _ = timed(lambda: peer.fit(train))
    target = peer.reconstruction_error(train, squared=True).mean()
    rounds = []

    def reached(progress):
        rounds.append(progress.iteration)
        return 2.0 * progress.objective <= target

    until = learner(gamma, n_nonzero, n_atoms, max_iter=100, callback=reached)
    ours = min(timed(lambda: until.fit(train))[0] for _ in range(3))
    equal = learner(gamma, n_nonzero, n_atoms, max_iter=ITERATIONS)
    seconds, _ = timed(lambda: equal.fit(train))
    facts = {
        "rounds": str(rounds[-1]),
        "error": float(equal.reconstruction_error(train).mean()),
        "peer's error": float(target),
        "held out": float(equal.reconstruction_error(test).mean()),
        "peer's held out": float(peer.reconstruction_error(test, squared=True).mean()),
        f"all {ITERATIONS} rounds s": seconds,
    }
    case = f"{name}, {n_atoms} atoms, {n_nonzero}-sparse"
    peer_name = f"dictlearn {algorithm}"
    return Row("dictionary_learning", case, peer_name, 1, Measured(ours, theirs), facts)


def against_scikit_learn(name, train, n_atoms, alpha=0.05, n_components=300):
    """Nystroem features and mini-batches until its objective; ours with as many landmarks."""
    gamma = 1.0 / data.median_squared_distance(train)

    def peer():
        features = Nystroem(gamma=gamma, n_components=n_components, random_state=0)
        vectors = features.fit_transform(train)
        model = MiniBatchDictionaryLearning(
            n_atoms, alpha=alpha, max_iter=20, fit_algorithm="lars", random_state=0
        ).fit(vectors)
        return features, model

    theirs, (features, model) = timed(peer)
    # Its atoms as combinations of its landmarks; the judge codes with them exactly.
    landmarks = kc.dictionary.PointDictionary(Gaussian(gamma=gamma), features.components_)
    atoms = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    weights = features.normalization_.T @ atoms.T
    judge = kc.KernelSparseCoder(
        atoms=kc.dictionary.CombinationDictionary(landmarks, weights), alpha=alpha
    ).fit(train)
    target = objective(judge, train)

    def reached(progress):
        return progress.step == "codes" and progress.objective <= target

    ours = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(Gaussian(gamma=gamma), alpha=alpha), n_atoms, tol=0,
        n_landmarks=n_components, max_iter=100, callback=reached,
    )  # fmt: skip
    seconds = min(timed(lambda: ours.fit(train))[0] for _ in range(3))
    facts = {"error": ours.objective_history_[-1], "peer's error": float(target)}
    facts["rounds"] = str(ours.n_iter_)
    case = f"{name}, {n_atoms} atoms, alpha {alpha}, {n_components} landmarks"
    measured = Measured(seconds, theirs)
    return Row("dictionary_learning", case, "Nystroem + MiniBatch", 1, measured, facts)


def objective(coder, X):
    """Mean lasso objective of fresh codes."""
    codes = coder.transform(X)
    errors = coder.reconstruction_error(X, codes)
    return float(np.mean(0.5 * errors + coder.alpha * np.abs(codes).sum(axis=1)))


WORKER = """
import json, sys, time
from pathlib import Path
import numpy as np
import kernelcoding as kc
from kernelcoding.kernels import Gaussian
n, path = int(sys.argv[1]), sys.argv[2]
X = np.memmap(path, np.float64, "r", shape=(n, 64))
def make(): return kc.KernelDictionaryLearning(
    kc.KernelSparseCoder(Gaussian(gamma=1 / 64), alpha=0.05), 100, n_landmarks=2000,
    landmarks="random", max_iter=2, tol=0)
kc.KernelDictionaryLearning(kc.KernelSparseCoder(), 10, n_landmarks=50, max_iter=1).fit(X[:200])
start = time.perf_counter()
dl = make().fit(X)
seconds = time.perf_counter() - start
status = Path("/proc/self/status").read_text()  # ru_maxrss would count the parent before exec
peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "objective": dl.objective_history_[-1]}))
"""


def against_size(quick, folder="benchmarks/results"):
    """Time and resident set of processes that fit more and more samples from a mapped file."""
    sizes = (5_000, 10_000, 20_000) if quick else (20_000, 60_000, 200_000)
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, 64))
    os.makedirs(folder, exist_ok=True)
    facts = []
    for size in sizes:
        path = os.path.join(folder, f"samples_{size}.bin")
        X = centres[rng.integers(50, size=size)] + 0.5 * rng.normal(size=(size, 64))
        X.tofile(path)
        command = [sys.executable, "-c", WORKER, str(size), path]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        os.remove(path)
        facts.append(json.loads(done.stdout))
    seconds = [fact["seconds"] for fact in facts]
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    for size, fact in zip(sizes, facts, strict=True):
        expected = seconds[0] * size / sizes[0]
        measured = Measured(fact["seconds"], expected, fact["peak"])
        report = {"exponent in samples": exponent}
        yield Row("dictionary_learning", f"{size} samples, 2000 landmarks", "linear time", 1,
                  measured, report)  # fmt: skip


def rounds_beside(peer, model, X, threads, repeats, clock):
    """As many rounds as the peer."""
    measured, (ours, theirs) = race(
        lambda: model.fit(X), lambda: peer.fit(X), repeats, at_most=30.0, clock=clock
    )
    facts = {
        "error": float(ours.reconstruction_error(X).mean()),
        "peer's error": float(theirs.reconstruction_error(X, squared=True).mean()),
    }
    case = f"digits {len(X)}, {peer.n_components} atoms, ten rounds"
    name = f"dictlearn {peer.fit_algorithm}, ten rounds"
    return Row("dictionary_learning", case, name, threads, measured, facts)


def ten_rounds(repeats):
    """As many rounds as dictlearn: nothing said of threads, and processor time of one thread.

    Then what it costs to say nothing of threads.

    The peer of the last rows is our own fit while BLAS keeps to one thread.
    """
    X, _, y, _ = data.digits(800)
    gamma = 1.0 / data.median_squared_distance(X)
    given = {"gamma": gamma, "n_nonzero_coefs": 5, "max_iter": ITERATIONS, "random_state": 0}
    coder = kc.KernelSparseCoder(Gaussian(gamma), alpha=0.02)
    pursuit = learner(gamma, 5, 200, max_iter=ITERATIONS)
    models = {
        "KernelDictionaryLearning": pursuit,
        "SupervisedKernelCoding": kc.SupervisedKernelCoding(coder, 100, max_iter=5),
        "learn_kernel": kc.KernelSparseCoder(alpha=0.02, atoms=100, learn_kernel=True),
    }
    for algorithm in ("mod", "aksvd"):
        peer = PeerLearning(200, fit_algorithm=algorithm, **given)
        yield rounds_beside(peer, pursuit, X, "default", repeats, time.perf_counter)
        with threadpool_limits(1):
            yield rounds_beside(peer, pursuit, X, 1, repeats, time.process_time)
    for name, model in models.items():

        def alone(model=model):
            with threadpool_limits(1):
                model.fit(X, y)

        measured, _ = race(lambda m=model: m.fit(X, y), alone, repeats)
        yield Row("dictionary_learning", f"digits 800, {name}", "one BLAS thread", "default",
                  measured)  # fmt: skip


def run(quick=False, parts=("threads", "peers", "size")):
    """Rows of the table."""
    if "threads" in parts:
        yield from ten_rounds(3 if quick else 7)
    if "peers" in parts:
        yield from against_peers(quick)
    if "size" in parts:
        yield from against_size(quick)


def against_peers(quick):
    """Seconds until a peer's error is reached."""
    algorithms = ("mod", "aksvd") if quick else ("mod", "aksvd", "ksvd")
    for name, train, test, n_atoms in cases():
        # Compiled before anything is timed, on both sides.
        small = train[: 2 * n_atoms]
        PeerLearning(n_atoms, n_nonzero_coefs=3, max_iter=1, random_state=0).fit(small)
        learner(1.0, 3, n_atoms, max_iter=1).fit(small)
        for n_nonzero in (5, 30):
            for algorithm in algorithms:
                with threadpool_limits(1):
                    yield against_dictlearn(name, train, test, n_atoms, n_nonzero, algorithm)
        with threadpool_limits(1):
            yield against_scikit_learn(name, train, min(n_atoms, 200))
