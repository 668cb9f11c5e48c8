r"""Samples with targets attached: explicit coordinates for vectors of :math:`H \times R^S`.

A sample is :math:`(\phi(x), t)`, and inner products are :math:`k(x, z) + t_x^\top t_z`. A column
holds coordinates in an orthonormal basis of the span of the samples in H, and a target part below.
An atom need not be a combination of labelled samples: its first target part comes from regression.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, dense
from ...dictionary import PointDictionary
from ...dictionary_learning.frames import Frame, SampleBlock


class LabelFrame(Frame):
    """Samples as plain vectors: what frames answer is then plain algebra.

    Parameters
    ----------
    landmarks : PointDictionary
        All training samples.
    basis : array of shape (n_landmarks, r)
        Combinations of landmarks that are orthonormal in H.
    similarity : array of shape (n, n_landmarks)
        Of the n samples of this frame and the landmarks.
    targets : array of shape (n, S)
        One per row, multiplied by the square root of its weight in the objective.
    """

    keeps_samples = True

    def __init__(
        self, landmarks: PointDictionary, basis: NDArray, similarity: NDArray, targets: NDArray
    ):
        self.landmarks = landmarks
        self.basis = basis
        self.similarity = similarity
        self.rows = np.hstack([similarity @ basis, targets])
        self.n_samples, self.dimension = self.rows.shape

    @classmethod
    def of(cls, landmarks: PointDictionary) -> LabelFrame:
        """All training samples, without targets."""
        gram = landmarks.facts.double
        return cls(landmarks, landmarks.facts.orthonormal_basis(), gram, np.empty((len(gram), 0)))

    def part(self, members: NDArray) -> LabelFrame:
        """Some samples, without targets, in the same coordinates."""
        targets = np.empty((len(members), 0))
        return LabelFrame(self.landmarks, self.basis, self.similarity[members], targets)

    def with_targets(self, targets: NDArray) -> LabelFrame:
        """The same samples with these targets."""
        return LabelFrame(self.landmarks, self.basis, self.similarity, targets)

    def split(self, vectors: NDArray) -> tuple[NDArray, NDArray]:
        """Coordinates in H, (r, N), and target parts, (S, N)."""
        rank = self.basis.shape[1]
        return vectors[:rank], vectors[rank:]

    # What every frame answers ----------------------------------------------------------------

    def blocks(self, vectors: NDArray) -> Iterator[SampleBlock]:
        """All samples at once."""
        rows = slice(0, self.n_samples)
        own, cross = self.squares(self.rows.T), self.rows @ vectors
        yield SampleBlock(rows, own, self.similarity, cross, self.sample_weight)

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        """The combination of rows."""
        assert loads is not None
        return np.asfortranarray(self.rows.T @ dense(loads))

    def inner(self, left: NDArray, right: NDArray) -> NDArray:
        """Plain products."""
        return left.T @ right

    def squares(self, vectors: NDArray) -> NDArray:
        """Plain squares."""
        return np.einsum("i...,i...->...", vectors, vectors)

    def weights(self, vectors: NDArray) -> NDArray:
        """Back from the basis to the landmarks."""
        return self.basis @ self.split(vectors)[0]

    def samples(self, rows: NDArray) -> NDArray:
        """Rows as columns."""
        return np.asfortranarray(self.rows[rows].T)

    def sum_of(self, rows: NDArray, weights: NDArray) -> NDArray:
        """A combination of rows."""
        return weights @ self.rows[rows]

    def kernel_of(self, rows: NDArray) -> NDArray:
        """Plain products of rows."""
        return self.rows[rows] @ self.rows[rows].T

    def project(self, vector: NDArray) -> NDArray:
        """Products of all rows with a vector."""
        return self.rows @ vector
