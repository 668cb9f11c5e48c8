"""Compile everything once: small models that call each compiled function as users' models do.

``python -m kernelcoding.warming`` fills the cache on disk that all processes of a host share.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from .aggregation import FisherVector
from .classification import ResidualClassifier, SupervisedKernelCoding
from .coders import (
    KernelBagOfWords,
    KernelCoder,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from .constraints import Free, NonNegative, Simplex, SumToOne
from .dictionary_learning import KernelDictionaryLearning
from .priors import GroupL1

__all__ = ["steps", "warm_up_here"]

N_SAMPLES, N_FEATURES = 40, 6
QUESTIONS = ("transform", "predict", "reconstruction_error")
SPARSE = "sparse samples"


def steps() -> Iterator[tuple[str, Callable[[], None]]]:
    """What there is to compile: a name for people, and a call that compiles it."""
    for title, models in _models().items():
        for dtype in (np.float64, np.float32):
            precision = "double" if dtype is np.float64 else "single"
            X = _samples(np.dtype(dtype))
            use = partial(_use, models, sparse.csr_array(X) if title == SPARSE else X)
            yield f"{title}, {precision} precision", use
    yield "passes over large dictionaries", _use_single_values


def warm_up_here() -> None:
    """Compile everything in this process and leave it in the cache on disk."""
    for _, compile_it in steps():
        compile_it()


def _models() -> dict[str, list[BaseEstimator]]:
    return {**_coders(), **_learners()}


def _coders() -> dict[str, list[BaseEstimator]]:
    constraints = (Free(), NonNegative(), SumToOne(), Simplex())
    of_two = GroupL1(np.arange(8) // 2)
    groups = [KernelCoder("rbf", atoms=8, prior=of_two, constraint=one) for one in constraints]
    return {
        "distances and active sets": [
            KernelSparseCoder("rbf", positive=positive, sparse_output=csr, alpha=alpha)
            for positive in (False, True)
            for csr in (False, True)
            for alpha in (1e-3, 0.1)
        ],
        "sums to one": [KernelCoder("rbf", constraint=one) for one in (SumToOne(), Simplex())],
        "histograms and other distances": [
            KernelSparseCoder(kernel, sparse_output=True)
            for kernel in ("laplacian", "chi2", "linear", "poly")
        ],
        SPARSE: [
            KernelSparseCoder(kernel, atoms=8) for kernel in ("linear", "rbf", "laplacian", "chi2")
        ],
        "neighbours": [
            KernelLLC("rbf", n_neighbors=5),
            KernelLLC("rbf", n_neighbors=5, sparse_output=True),
            KernelLLC("rbf", n_neighbors=None, atoms=8),
        ],
        "soft assignment": [
            KernelBagOfWords("rbf"),
            KernelBagOfWords("rbf", n_neighbors=4),
            KernelBagOfWords("rbf", assignment="hard"),
            FisherVector(n_components=2, random_state=0),
        ],
        "pursuit": [
            KernelMatchingPursuit("rbf", n_nonzero=3, selection=one, sparse_output=csr)
            for one in ("omp", "ols")
            for csr in (False, True)
        ],
        "groups": [KernelSparseCoder("rbf", groups="y"), *groups],
    }


def _learners() -> dict[str, list[BaseEstimator]]:
    return {
        "dictionaries": [
            KernelDictionaryLearning(KernelSparseCoder("rbf"), n_atoms=6, max_iter=2),
            KernelDictionaryLearning(KernelLLC("rbf"), n_atoms=8, n_landmarks=20, max_iter=2),
        ],
        "classifiers": [
            ResidualClassifier(KernelSparseCoder("rbf")),
            *(
                SupervisedKernelCoding(
                    KernelSparseCoder("rbf"), n_atoms=6, classifier=one, max_iter=2
                )
                for one in ("linear", "bilinear", "max-margin")
            ),
            SupervisedKernelCoding(
                KernelSparseCoder("rbf"), n_atoms=6, training="task-driven", max_iter=1
            ),
        ],
    }


def _use(models: list[BaseEstimator], X: NDArray | sparse.csr_array) -> None:
    # Memory maps, and what other processes send, cannot be written to: another type for Numba.
    fixed, y = X.copy(), np.arange(N_SAMPLES) % 3
    parts = ("data", "indices", "indptr")
    for part in [getattr(fixed, one) for one in parts] if sparse.issparse(X) else [fixed]:
        part.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two rounds of learning do not converge
        for model, samples in itertools.product(models, (X, fixed)):
            in_sets = isinstance(model, FisherVector)
            fitted = clone(model).fit([samples] if in_sets else samples, y)
            for question, asked in itertools.product(QUESTIONS, (X, fixed)):
                if hasattr(fitted, question):
                    getattr(fitted, question)([asked] if in_sets else asked)


def _use_single_values() -> None:
    # What working sets call: a dictionary beyond the budget would take longer than compiling.
    from ._compiled.exponential import single_exponential

    single_exponential(np.zeros((2, 8), np.float32))


def _samples(dtype: np.dtype) -> NDArray:
    return np.random.default_rng(0).random((N_SAMPLES, N_FEATURES)).astype(dtype)


if __name__ == "__main__":
    warm_up_here()
