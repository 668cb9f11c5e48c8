"""Small samples of four classes, in every space that kernels look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from kernelcoding import Views

N_SAMPLES, N_QUERIES, N_CLASSES = 40, 12, 4


@dataclass(frozen=True)
class Samples:
    """Training samples, their labels, and further samples."""

    X: NDArray | Views | sparse.csr_array
    y: NDArray  # names of classes
    Q: NDArray | Views | sparse.csr_array

    @property
    def indicators(self) -> NDArray:
        """Several labels per sample, none excluding another."""
        numbers = np.unique(self.y, return_inverse=True)[1]
        return np.stack([numbers % 2 == 0, numbers > 1, numbers < 3], axis=1).astype(int)

    @property
    def weight(self) -> NDArray:
        """What each sample counts."""
        return 0.5 + np.arange(len(self.y)) % 3


def _vectors(rng: Generator, numbers: NDArray) -> NDArray:
    centres = 1.5 * rng.normal(size=(N_CLASSES, 6))
    return centres[numbers] + 0.7 * rng.normal(size=(len(numbers), 6))


def _histograms(rng: Generator, numbers: NDArray) -> NDArray:
    counts = np.exp(_vectors(rng, numbers))
    return counts / counts.sum(axis=1, keepdims=True)


def _matrices(rng: Generator, numbers: NDArray) -> NDArray:
    shapes = rng.normal(size=(N_CLASSES, 3, 3))
    parts = rng.normal(size=(len(numbers), 3, 12))
    parts = parts + 0.8 * shapes[numbers] @ parts
    return parts @ parts.transpose(0, 2, 1) / 12


def _subspaces(rng: Generator, numbers: NDArray) -> NDArray:
    centres = rng.normal(size=(N_CLASSES, 6, 2))
    return np.linalg.qr(centres[numbers] + 0.4 * rng.normal(size=(len(numbers), 6, 2)))[0]


def _similarities(rng: Generator, numbers: NDArray) -> NDArray:
    vectors = _vectors(rng, numbers)
    return np.exp(-0.1 * ((vectors[:, None] - vectors[None]) ** 2).sum(-1))


def _kinds(rng: Generator, numbers: NDArray) -> Views:
    parts = {"vectors": _vectors, "matrices": _matrices, "subspaces": _subspaces}
    return Views({name: make(rng, numbers) for name, make in parts.items()})


def _texts(rng: Generator, numbers: NDArray) -> NDArray:
    chances = 0.2 / 3 + 0.7 * np.eye(N_CLASSES) + 0.2 / 30
    chances /= chances.sum(axis=1, keepdims=True)
    texts = ["".join(rng.choice(list("abcd"), 12, p=chances[number])) for number in numbers]
    return np.array(texts, dtype=object)


def _sparse_vectors(rng: Generator, numbers: NDArray) -> sparse.csr_array:
    vectors = _vectors(rng, numbers)
    return sparse.csr_array(np.where(np.abs(vectors) > 0.8, vectors, 0.0))


def _sparse_histograms(rng: Generator, numbers: NDArray) -> sparse.csr_array:
    histograms = _histograms(rng, numbers)
    return sparse.csr_array(np.where(histograms > 0.05, histograms, 0.0))


MAKERS = {
    "vectors": _vectors,
    "histograms": _histograms,
    "matrices": _matrices,
    "subspaces": _subspaces,
    "similarities": _similarities,
    "kinds": _kinds,
    "texts": _texts,
    "sparse vectors": _sparse_vectors,
    "sparse histograms": _sparse_histograms,
}


@cache
def samples(space: str) -> Samples:
    """The samples of a space, the same in every process."""
    rng = np.random.default_rng(list(MAKERS).index(space))
    numbers = np.arange(N_SAMPLES + N_QUERIES) % N_CLASSES
    found = MAKERS[space](rng, numbers)
    if space == "similarities":
        found = found[:, :N_SAMPLES]
    names = np.array(["ash", "birch", "cedar", "doum"])[numbers]
    return Samples(found[:N_SAMPLES], names[:N_SAMPLES], found[N_SAMPLES:])
