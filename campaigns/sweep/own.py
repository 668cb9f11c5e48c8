"""Parts that a user might have written: a kernel, a prior, a coder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernelcoding.coders import BaseKernelCoder
from kernelcoding.dictionary import Dictionary
from kernelcoding.formulations import BaseFormulation
from kernelcoding.kernels.names import KernelLike
from kernelcoding.problem import CodingProblem


def own_kernel(X: NDArray, Z: NDArray) -> NDArray:
    """A rational quadratic."""
    return 1.0 / (1.0 + 0.1 * ((X[:, None] - Z[None]) ** 2).sum(-1))


def own_distance(X: NDArray, Z: NDArray) -> NDArray:
    """Squared distances of the counts of letters of texts."""
    left, right = (
        np.array([[text.count(letter) for letter in "abcd"] for text in part]) for part in (X, Z)
    )
    return ((left[:, None] - right[None]) ** 2).sum(axis=-1).astype(float)


class OwnPrior(BaseEstimator):
    """Huber's function of every coefficient, with a value and a proximal map only."""

    def value(self, codes: NDArray) -> NDArray:
        """Quadratic up to 0.1, then linear."""
        size = np.abs(codes)
        return np.where(size <= 0.1, 5.0 * codes**2, size - 0.05).sum(axis=1)

    def prox(self, points: NDArray, scale: float) -> NDArray:
        """The quadratic's map near zero, the linear one's beyond."""
        inside = points / (1.0 + 10.0 * scale)
        outside = points - scale * np.sign(points)
        return np.where(np.abs(inside) <= 0.1, inside, outside)


class Nearest(BaseFormulation):
    """Weights of the nearest atoms, in proportion to one over their squared distance."""

    nonnegative = True

    def __init__(self, n_nearest: int) -> None:
        self.n_nearest = n_nearest

    def code(self, problem: CodingProblem) -> NDArray:
        """The n nearest by distance; a sample that is an atom is that atom."""
        distances = problem.squared_distances()
        order = np.argsort(distances, axis=1, kind="stable")
        far = np.take_along_axis(distances, order, axis=1)
        weights = 1.0 / np.maximum(far, 1e-12 * np.maximum(far[:, -1:], 1e-300))
        weights[:, self.n_nearest :] = 0.0
        codes = np.zeros_like(distances)
        np.put_along_axis(codes, order, weights / weights.sum(axis=1, keepdims=True), axis=1)
        return codes


class OwnCoder(BaseKernelCoder):
    """A coder with a parameter of its own and few of the others."""

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: int | NDArray | Dictionary | None = None,
        n_nearest: int = 3,
        init: str = "k-means++",
        learn_kernel: object = False,
        sparse_output: bool = False,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.n_nearest = n_nearest
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output

    def formulation(self) -> Nearest:
        """What a code is."""
        return Nearest(self.n_nearest)
