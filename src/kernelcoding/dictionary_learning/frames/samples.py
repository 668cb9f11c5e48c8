"""The frame of the paper, Z = X: every training sample is a landmark, and K is kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, dense, is_csr, times
from ...dictionary import PointDictionary
from ...stacks import with_type
from .base import Frame
from .seen import SampleBlock


class SampleFrame(Frame):
    """Every training sample is a landmark; a column is A over K A."""

    keeps_samples = True
    _crossed: tuple[NDArray, NDArray] | None = None  # vectors, and their lower half by rows

    def __init__(self, samples: PointDictionary):
        self.landmarks = samples
        self.n_samples = samples.n_atoms
        self.dimension = 2 * self.n_samples
        self.kernel_matrix = _kernel_matrix(samples)

    def blocks(self, vectors: NDArray) -> Iterator[SampleBlock]:
        """All samples at once: their inner products are half of the coordinates."""
        kernel = self.kernel_matrix
        rows = slice(0, self.n_samples)
        if self._crossed is None or self._crossed[0] is not vectors:
            self._crossed = (vectors, np.ascontiguousarray(vectors[self.n_samples :]))
        cross = self._crossed[1]
        yield SampleBlock(rows, np.diag(kernel), kernel, cross, self.sample_weight)

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        """P over K P."""
        assert loads is not None
        columns = np.empty((self.dimension, image.shape[1]), order="F")
        columns[: self.n_samples] = dense(loads.T).T  # by columns, as they are kept
        columns[self.n_samples :] = image
        return columns

    def times(self, vectors: NDArray, matrix: NDArray, loads: Codes | None) -> NDArray:
        """A over K A times the matrix; P is most of the time sparse, A then is not looked at."""
        if not is_csr(loads):
            return super().times(vectors, matrix, loads)
        columns = np.empty(vectors.shape, order="F")
        columns[: self.n_samples] = times(loads, matrix)
        lower = slice(self.n_samples, None)
        np.matmul(matrix, vectors[lower].T, out=columns[lower].T)  # as both lie in memory
        return columns

    def inner(self, left: NDArray, right: NDArray) -> NDArray:
        """A' (K B)."""
        return left[: self.n_samples].T @ right[self.n_samples :]

    def squares(self, vectors: NDArray) -> NDArray:
        """Diagonal of A' (K A)."""
        n = self.n_samples
        return np.maximum(np.einsum("i...,i...->...", vectors[:n], vectors[n:]), 0.0)

    def weights(self, vectors: NDArray) -> NDArray:
        """The upper half."""
        return np.ascontiguousarray(vectors[: self.n_samples])

    def samples(self, rows: NDArray) -> NDArray:
        """Unit vectors over columns of K."""
        columns = np.zeros((2 * self.n_samples, len(rows)), order="F")
        columns[rows, np.arange(len(rows))] = 1.0
        columns[self.n_samples :] = self.kernel_matrix[:, rows]
        return columns

    def sum_of(self, rows: NDArray, weights: NDArray) -> NDArray:
        """The weights over their image."""
        column = np.zeros(self.dimension)
        column[rows] = weights
        column[self.n_samples :] = weights @ self.kernel_matrix[rows]
        return column

    def kernel_of(self, rows: NDArray) -> NDArray:
        """A block of K."""
        return self.kernel_matrix[np.ix_(rows, rows)]

    def renewed(self, vectors: NDArray) -> NDArray:
        """A over a new K A: updates leave their rounding in the old one."""
        weights = self.weights(vectors)
        return self.coordinates(self.kernel_matrix @ weights, weights)

    def moved(self, landmarks: PointDictionary) -> SampleFrame:
        """The samples are the landmarks."""
        frame = SampleFrame(landmarks)
        frame.sample_weight = self.sample_weight
        return frame

    def project(self, vector: NDArray) -> NDArray:
        """K a, the lower half."""
        return vector[self.n_samples :]


def _kernel_matrix(samples: PointDictionary) -> NDArray:
    """Inner products of samples, computed in double precision.

    Rounded to single precision, K of few features has negative eigenvalues, and atoms learn to
    have such directions: the objective would rise.
    """
    if samples.facts.dtype == np.float64 or samples.kernel.uses_index:
        return samples.facts.double
    points = with_type(samples.points, np.float64)
    return PointDictionary(samples.kernel, points, samples.index).facts.double
