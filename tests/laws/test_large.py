"""Beyond the memory budget nothing as large as a Gram matrix is allocated: parts, or a refusal."""

import gc
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding import constraints, gram, priors, problem
from kernelcoding.classification.residuals import class_residuals
from kernelcoding.coders import coding
from kernelcoding.dictionary import choosing
from kernelcoding.dictionary_learning import starts
from kernelcoding.kernels import Gaussian, Laplacian, Sigmoid
from kernelcoding.solvers import pursuit, working_set

N, FEW, TINY = 1500, 80, 1e-5  # samples; those of a first call, which compiles; gigabytes
HALF = N**2 * 8 / 2  # bytes: half of a Gram matrix
WIDE = Gaussian(1.0)  # a median would be that of many pairs


def learning(**parameters):
    return kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(WIDE, alpha=0.1), n_atoms=6, max_iter=2, **parameters
    )


WORKS = {
    "sparse": kc.KernelSparseCoder(WIDE, alpha=0.1),
    "sparse, Laplacian": kc.KernelSparseCoder(Laplacian(1.0), alpha=0.1),
    "positive": kc.KernelSparseCoder(WIDE, alpha=0.1, positive=True),
    "local coordinates": kc.KernelLCC(WIDE, alpha=0.1),
    "elastic net": kc.KernelCoder(
        WIDE, prior=priors.ElasticNet(), constraint=constraints.Free(), alpha=0.1
    ),
    "simplex": kc.KernelCoder(WIDE, prior=priors.NoPrior(), constraint=constraints.Simplex()),
    "candidates": kc.KernelSparseCoder(WIDE, n_candidates=20),
    "neighbours": kc.KernelLLC(WIDE, n_neighbors=5),
    "soft words": kc.KernelBagOfWords(WIDE),
    "hard words": kc.KernelBagOfWords(WIDE, assignment="hard"),
    "pursuit": kc.KernelMatchingPursuit(WIDE, n_nonzero=3),
    "means": kc.KernelSparseCoder(WIDE, atoms=4, init="kernel-k-means"),
    "spread": kc.KernelSparseCoder(WIDE, atoms=4),
    "leverage": kc.KernelSparseCoder(WIDE, atoms=4, init="leverage"),
    "greedy": kc.KernelSparseCoder(WIDE, atoms=4, init="greedy"),
    "learned": learning(n_landmarks=20),
    "learned, means": learning(n_landmarks=20, init="kernel-k-means"),
    "learned, classes": learning(n_landmarks=20, per_class=True),
    "residuals": kc.ResidualClassifier(kc.KernelSparseCoder(WIDE, alpha=0.1)),
    "residuals, neighbours": kc.ResidualClassifier(kc.KernelLLC(WIDE, n_neighbors=5)),
    "residuals, soft words": kc.ResidualClassifier(kc.KernelBagOfWords(WIDE)),
    "residuals, learned": kc.ResidualClassifier(learning(n_landmarks=20)),
    "residuals, means": kc.ResidualClassifier(
        kc.KernelSparseCoder(WIDE, atoms=4, init="kernel-k-means", alpha=0.1)
    ),
    "supervised": kc.SupervisedKernelCoding(
        kc.KernelSparseCoder(WIDE, alpha=0.1), n_atoms=6, n_landmarks=20, max_iter=2
    ),
    "outliers": kc.KernelOutlierDetector(kc.KernelSparseCoder(WIDE, atoms=10, alpha=0.1)),
    "pairs": kc.KernelDictionaryPairLearning(WIDE, n_atoms=6, n_landmarks=20, max_iter=2),
    "landmark map": kc.LandmarkMap(WIDE, n_landmarks=20),
}
REFUSED = {
    "groups": kc.KernelSparseCoder(WIDE, groups="y"),
    "exact LLC": kc.KernelLLC(WIDE, n_neighbors=None),
    "ridge": kc.KernelCoder(WIDE, prior=priors.Ridge(), constraint=constraints.Free()),
    "indefinite": kc.KernelSparseCoder(Sigmoid(gamma=1.0, coef0=-1.0)),
    "indefinite means": kc.KernelBagOfWords(Sigmoid(gamma=1.0), atoms=4, init="kernel-k-means"),
    "learned": learning(),
    "supervised": kc.SupervisedKernelCoding(kc.KernelSparseCoder(WIDE), n_atoms=6),
    "outliers": kc.KernelOutlierDetector(kc.KernelSparseCoder(WIDE)),
    "pairs": kc.KernelDictionaryPairLearning(WIDE, n_atoms=6),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces of a Gram matrix that are much smaller than this one."""
    for module, name, size in [
        (choosing, "MAX_LLOYD_ROUNDS", 2),
        (starts, "SMALL", N),  # first atoms are chosen among all samples
        (gram, "TILE", 2**16),
        (problem, "TILE", 2**16),
        (pursuit, "ROOM", 2**16),
        (class_residuals, "LARGE_BLOCK", 2**14),
        (working_set, "CHUNK", 4),
        (coding, "BLOCK_SIZE", 2**12),
    ]:
        monkeypatch.setattr(module, name, size)


def samples(n):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.random((n, 4)) + 0.3 * y[:, None], y


def used(estimator, X, y):
    """Everything that a user would call."""
    if isinstance(estimator, kc.KernelDictionaryLearning) and not estimator.per_class:
        y = None  # with labels, first atoms are chosen class by class
    estimator.fit(X, y)
    for method in ("transform", "predict", "decision_function"):
        if hasattr(estimator, method):
            getattr(estimator, method)(X[:6] + 0.01)
    return estimator


def peak(function):
    """The largest number of bytes that were allocated at a time."""
    gc.collect()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", WORKS)
def test_parts_are_enough(name):
    with kc.memory_budget(TINY), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        used(clone(WORKS[name]), *samples(FEW))
        assert peak(lambda: used(clone(WORKS[name]), *samples(N))) < HALF


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_all_is_refused_before_it_is_allocated(name):
    def refused():
        with pytest.raises(MemoryError, match=r"budget .* (Use fewer atoms|Set n_landmarks)"):
            used(clone(REFUSED[name]), *samples(N))

    with kc.memory_budget(TINY), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert peak(refused) < HALF
