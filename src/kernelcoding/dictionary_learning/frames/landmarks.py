"""The frame of few landmarks: samples are visited in blocks, in memory or far away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrmm

from ...blocks import Answer, Beside, Block, Blocks, Kept, Worst, as_blocks
from ...codes import Codes
from ...dictionary import PointDictionary
from ...stacks import Stack, in_memory
from .base import Frame
from .seen import SampleBlock, Seen, seen_from

# Similarities to landmarks are kept between passes up to this many numbers (256 MB), else they are
# computed again in blocks of about BLOCK numbers.
KEPT = 2**25
BLOCK = 2**22


class LandmarkFrame(Frame):
    """Orthonormal coordinates in the span of landmarks.

    Parameters
    ----------
    landmarks : PointDictionary
        Z.
    X : array of shape (n, ...) or Blocks
        The samples; may be memory-mapped, or far away.
    like : Frame, default=None
        One of the same landmarks, whose basis is taken over.
    """

    beside: Beside = ()  # arrays that go with the samples, one row each
    basis: NDArray  # (n_landmarks, p)
    triangular: bool = False  # whether the basis is upper triangular (then in Fortran's order)

    def __init__(self, landmarks: PointDictionary, X: Stack | Blocks, like: Frame | None = None):
        self.landmarks = landmarks
        if isinstance(like, LandmarkFrame):
            self.triangular = like.triangular
            self.basis = np.asfortranarray(like.basis) if self.triangular else like.basis
        else:
            factor = landmarks.facts.triangular_basis
            self.triangular = factor is not None
            self.basis = landmarks.facts.orthonormal_basis() if factor is None else factor
        self.X = X
        self.n_samples = len(X)
        self.dimension = self.basis.shape[1]
        few = self.n_samples * landmarks.n_atoms <= KEPT
        self.keeps_samples = few and self.visited.at_hand
        self._kept: SampleBlock | None = None
        if self.keeps_samples and self.n_samples > 0:
            no_atoms = np.zeros((landmarks.n_atoms, 0))
            whole = Block(slice(0, self.n_samples), self.visited[:], (None,))
            self._kept = seen_from(landmarks, whole, no_atoms)

    @property
    def visited(self) -> Blocks:
        """The samples, wherever they are."""
        return as_blocks(self.X)

    def with_samples(self, X: Stack | Blocks) -> LandmarkFrame:
        """The same coordinates for other samples."""
        return LandmarkFrame(self.landmarks, X, like=self)

    def without_samples(self) -> LandmarkFrame:
        """The same coordinates for no samples."""
        return self.with_samples(self.landmarks.points[:0])

    def moved(self, landmarks: PointDictionary) -> LandmarkFrame:
        """Another basis for the same samples."""
        frame = LandmarkFrame(landmarks, self.X)
        frame.sample_weight = self.sample_weight
        return frame

    @property
    def stack(self) -> Stack | Blocks:
        """In memory or far away."""
        return self.X

    @property
    def _step(self) -> int:
        """Samples whose similarities are computed at once."""
        return max(16, BLOCK // self.landmarks.n_atoms)

    def blocks(self, vectors: NDArray) -> Iterator[SampleBlock]:
        """Samples in blocks; similarities are computed anew unless they are few."""
        weights = self._seen(vectors)
        if self._kept is not None:
            cross = self._kept.similarity @ weights
            yield replace(self._kept, cross=cross, weight=self.sample_weight, beside=self.beside)
            return
        for start in range(0, self.n_samples, self._step):
            rows = slice(start, min(start + self._step, self.n_samples))
            beside = (
                self.weight_of(rows),
                *(None if one is None else one[rows] for one in self.beside),
            )
            yield seen_from(self.landmarks, Block(rows, self.visited[rows], beside), weights)

    def map_reduce(
        self,
        function: Callable[..., Answer],
        vectors: NDArray,
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
    ) -> Answer:
        """Where the samples are: in another process, perhaps."""
        if self._kept is not None:
            return super().map_reduce(function, vectors, state, merge)
        weights = self.weights(vectors)
        return self.visited.map_reduce(
            Seen(function, carried=not self.visited.at_hand),
            (self.landmarks, weights, *state),
            merge,
            (self.sample_weight, *self.beside),
            self._step,
            weights.nbytes,
        )

    def map_keep(
        self,
        function: Callable[..., Answer],
        vectors: NDArray,
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
        split: Callable[[Answer], tuple[Any, Answer]],
    ) -> tuple[Answer, Kept]:
        """The same; what ``split`` takes off an answer stays where the samples are."""
        weights, beside = self.weights(vectors), (self.sample_weight, *self.beside)
        seen = Seen(function, carried=not self.visited.at_hand)
        given = (self.landmarks, weights, *state)
        return self.visited.map_keep(seen, given, merge, split, beside, self._step, weights.nbytes)

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        """The image in the orthonormal basis."""
        return self._projected(image)

    def _projected(self, cross: NDArray) -> NDArray:
        """Coordinates of vectors from their inner products with the landmarks."""
        if self.triangular and cross.ndim == 2 and cross.size:
            return dtrmm(1.0, self.basis, cross, trans_a=1)
        return np.asfortranarray(self.basis.T @ cross)

    def _seen(self, vectors: NDArray) -> NDArray:
        """What the samples' similarities are multiplied by to give inner products."""
        return self.weights(vectors)

    def inner(self, left: NDArray, right: NDArray) -> NDArray:
        """Plain products: the basis is orthonormal."""
        return left.T @ right

    def squares(self, vectors: NDArray) -> NDArray:
        """Plain squares."""
        return np.einsum("i...,i...->...", vectors, vectors)

    def weights(self, vectors: NDArray) -> NDArray:
        """Back from the basis to the landmarks."""
        if self.triangular and vectors.ndim == 2 and vectors.size:
            return dtrmm(1.0, self.basis, vectors)
        return self.basis @ vectors

    def samples(self, rows: NDArray) -> NDArray:
        """Projections of the samples on the span of the landmarks."""
        return self.coordinates(self._rows(rows).T, None)

    def outside(self, X: Stack) -> tuple[NDArray, NDArray]:
        """Projections of other samples, and squared norms before they were projected."""
        own, cross = self.landmarks.similarities(in_memory(X))
        return self._projected(cross.T.astype(np.float64)), own.astype(np.float64)

    def _rows(self, rows: NDArray | slice) -> NDArray:
        if self._kept is not None:
            return self._kept.similarity[rows]
        return self.landmarks.cross(self.visited[rows]).astype(np.float64)

    def worst(self, found: Worst, count: int) -> NDArray:
        """From the samples that were carried here, where they were far away."""
        if found.samples is None:
            return super().worst(found, count)
        cross = self.landmarks.cross(found.samples[:count]).astype(np.float64)
        return self._projected(cross.T)

    def sum_of(self, rows: NDArray, weights: NDArray) -> NDArray:
        """Projection of the weighted sum."""
        return self.coordinates(weights @ self._rows(rows), None)

    def kernel_of(self, rows: NDArray) -> NDArray:
        """Inner products of projections."""
        projections = self.samples(rows)
        return projections.T @ projections

    def project(self, vector: NDArray) -> NDArray:
        """Inner products with a vector of the span."""
        return self._rows(slice(None)) @ self._seen(vector)
