r"""What a dictionary is: points, or combinations :math:`\Phi(Z)A` of landmarks.

A dictionary answers three questions about samples: how similar they are to the atoms
(:meth:`Dictionary.cross`), to themselves (:meth:`Dictionary.similarities`), and which atoms are
nearest (:meth:`Dictionary.nearest`). Coders never know which kind they hold.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .gram import GramFacts
from .kernels.base import Kernel
from .selection import smallest

# Eigenvalues more negative than this fraction of the largest are not rounding (in float32: than
# the number of atoms times its precision).
INDEFINITE = 1e-10


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest atoms of n samples, nearest first."""

    indices: NDArray  # (n, m)
    cross: NDArray  # (n, m)  k(x_i, d_j) at those atoms
    self_similarity: NDArray  # (n,)
    # (n,) sum of squared distances that ridges are relative to, where not those of these numbers
    trace: NDArray | None = None


class Dictionary:
    """N atoms in the Hilbert space of a kernel."""

    kernel: Kernel

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        raise NotImplementedError

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        raise NotImplementedError

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.gram.shape[0]

    @cached_property
    def facts(self) -> GramFacts:
        """What follows from the Gram matrix alone, computed on demand."""
        return GramFacts(self.gram)

    def cross(self, X: NDArray) -> NDArray:
        """Inner products of samples and atoms, (n, N)."""
        return self.similarities(X)[1]

    def nearest(self, X: NDArray, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample in H."""
        self_similarity, cross = self.similarities(X)
        if self.gram.shape != (cross.shape[1],) * 2:  # compiled code trusts it
            raise ValueError(
                f"{cross.shape[1]} atoms do not go with a Gram matrix of {self.gram.shape}."
            )
        indices = smallest(np.diag(self.gram) - 2.0 * cross, n_neighbors)
        return Neighbours(indices, np.take_along_axis(cross, indices, axis=1), self_similarity)


class PointDictionary(Dictionary):
    """Atoms that are samples: points of the input space.

    Parameters
    ----------
    kernel : Kernel
        Resolved: its parameters are numbers.
    points : array of shape (N, ...)
        The atoms.
    index : array of shape (N,), default=None
        Which training samples the atoms are, where they are; precomputed kernels need it.
    """

    def __init__(self, kernel: Kernel, points: NDArray, index: NDArray | None = None):
        self.kernel = kernel
        self.points = points
        self.index = index
        self._prepared = kernel.prepare(points, index)
        self.gram_before_clipping = _finite(kernel.between(self._prepared, self._prepared))
        self._basis = None if kernel.is_positive_definite else self._positive_part()

    @cached_property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N), with the negative spectrum (if any) clipped."""
        if self._basis is None:
            return self.gram_before_clipping
        gram = self._basis.T @ self.gram_before_clipping @ self._basis
        gram = self._basis @ (0.5 * (gram + gram.T)) @ self._basis.T
        return 0.5 * (gram + gram.T)

    def _positive_part(self) -> NDArray | None:
        """Eigenvectors of the positive spectrum, where there is a negative one to drop."""
        gram = self.gram_before_clipping
        values, vectors = linalg.eigh(gram)
        cutoff = max(INDEFINITE, len(gram) * float(np.finfo(gram.dtype).eps)) * values[-1]
        if values[-1] >= 0 and values[0] >= -cutoff:
            return None
        if values[-1] <= 0:
            raise ValueError(
                f"The kernel {self.kernel!r} has no positive eigenvalue on these atoms: it is not "
                "a similarity. Use a positive definite kernel or other parameters."
            )
        warnings.warn(
            f"The kernel {self.kernel!r} is indefinite on these atoms (eigenvalues from "
            f"{values[0]:.3g} to {values[-1]:.3g}): the negative part of its spectrum is clipped. "
            "Use a positive definite kernel to avoid this.",
            UserWarning,
            stacklevel=2,
        )
        return vectors[:, values > cutoff]

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        prepared = self.kernel.prepare(X)
        cross = _finite(self.kernel.between(prepared, self._prepared))
        self_similarity = self.kernel.diagonal_of(prepared)
        unknown = np.isnan(self_similarity)
        if self._basis is None and not unknown.any():
            return self_similarity, cross
        if self._basis is not None:
            cross = (cross @ self._basis) @ self._basis.T
        return self._completed(self_similarity, cross), cross

    def _completed(self, self_similarity: NDArray, cross: NDArray) -> NDArray:
        """The given k(x, x), raised where needed to what the cross-similarities imply.

        The projection of a sample on the span of the atoms has a known norm, the least that a
        positive definite kernel allows. It stands in where k(x, x) is unknown (a precomputed row
        does not tell) or too small (a clipped kernel).
        """
        projected = np.einsum("ij,ij->i", self.facts.solve(cross.astype(np.float64)), cross)
        return np.fmax(self_similarity, projected)

    def nearest(self, X: NDArray, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample in H.

        For a kernel that falls with a distance the nearest atoms are chosen by that distance,
        and only their kernel values are computed.
        """
        if not self.kernel.is_radial or self._basis is not None:
            return super().nearest(X, n_neighbors)
        prepared = self.kernel.prepare(X)
        statistic = self.kernel.statistic(prepared, self._prepared)
        if statistic.shape[1] != len(self.gram):  # compiled code trusts it
            raise ValueError(
                f"{statistic.shape[1]} atoms do not go with a Gram matrix of {self.gram.shape}."
            )
        indices = smallest(statistic, n_neighbors)
        cross = self.kernel.profile(np.take_along_axis(statistic, indices, axis=1))
        return Neighbours(indices, cross, self.kernel.diagonal_of(prepared))


class CombinationDictionary(Dictionary):
    r"""Atoms that are combinations of landmarks, :math:`\Phi(D) = \Phi(Z) A`.

    Parameters
    ----------
    landmarks : PointDictionary
        Z, as a dictionary of points.
    weights : array of shape (n_landmarks, N)
        A, one column an atom.
    """

    def __init__(self, landmarks: PointDictionary, weights: NDArray):
        self.landmarks = landmarks
        self.weights = weights
        self.kernel = landmarks.kernel

    @property
    def n_atoms(self) -> int:
        """Number of atoms, without their Gram matrix."""
        return self.weights.shape[1]

    @cached_property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        gram = self.weights.T @ (self.landmarks.gram @ self.weights)
        return 0.5 * (gram + gram.T)

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        self_similarity, cross = self.landmarks.similarities(X)
        return self_similarity, cross @ self.weights.astype(cross.dtype, copy=False)


def _finite(similarities: NDArray) -> NDArray:
    if not np.all(np.isfinite(similarities)):
        raise ValueError(
            "The kernel returned NaN or infinite similarities. Rescale the samples or change the "
            "kernel's parameters."
        )
    return similarities
