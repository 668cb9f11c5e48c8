r"""Coordinates for vectors of H: where atoms live while they are learned.

Atoms are combinations of landmarks, :math:`\Phi(D) = \Phi(Z) A`. Learning needs sums of vectors and
inner products between them, and both frames offer these through plain arrays, a column per vector:

* :class:`SampleFrame`, the paper's case Z = X: the column holds A and K A, one below the other. No
  inverse of K is ever needed.
* :class:`LandmarkFrame`, few landmarks: coordinates in an orthonormal basis of their span. Samples
  are visited in blocks and need not fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dtrmm

from ..blocks import Answer, Beside, Block, Blocks, Kept, Worst, as_blocks
from ..codes import Codes, dense, is_csr, times, times_codes
from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..dictionary.point_gram import gram_size
from ..kernels.base import Kernel
from ..memory import announce, memory_advice, require_within_budget
from ..stacks import Stack, in_memory, with_type
from .seen import SampleBlock, Seen, seen_from

# Similarities to landmarks are kept between passes up to this many numbers (256 MB), else they are
# computed again in blocks of about BLOCK numbers.
KEPT = 2**25
BLOCK = 2**22


class Frame:
    """Coordinates of vectors in H, and the samples as seen through them."""

    landmarks: PointDictionary
    n_samples: int
    dimension: int  # numbers in a column
    keeps_samples: bool  # whether all similarities stay in memory between passes
    sample_weight: NDArray | None = None  # (n,) what each sample counts; None: one each
    _asked: tuple[NDArray, NDArray] | None = None  # vectors (never changed in place), their gram

    def blocks(self, vectors: NDArray) -> Iterator[SampleBlock]:
        """All samples and their inner products with the vectors."""
        raise NotImplementedError

    def map_reduce(
        self,
        function: Callable[..., Answer],
        vectors: NDArray,
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
    ) -> Answer:
        """Answers of a function of every block (and the state), merged in order."""
        return reduce(merge, (function(block, *state) for block in self.blocks(vectors)))

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        r"""Coordinates of :math:`\Phi(X) P` from ``image = K_ZX P`` (and P, if all is kept)."""
        raise NotImplementedError

    def inner(self, left: NDArray, right: NDArray) -> NDArray:
        """Inner products of the columns of two arrays of coordinates."""
        raise NotImplementedError

    def times(self, vectors: NDArray, matrix: NDArray, loads: Codes | None) -> NDArray:
        r"""``vectors @ matrix``, symmetric; the vectors are :math:`\Phi(X) P`, if P is given."""
        return dsymm(1.0, matrix, vectors, side=1)

    def squares(self, vectors: NDArray) -> NDArray:
        """Squared norms of the columns, never negative."""
        raise NotImplementedError

    def weights(self, vectors: NDArray) -> NDArray:
        """The vectors as combinations of landmarks: A, (n_landmarks, N)."""
        raise NotImplementedError

    def samples(self, rows: NDArray) -> NDArray:
        """Coordinates of (the projections of) samples, one column each."""
        raise NotImplementedError

    def outside(self, X: Stack) -> tuple[NDArray, NDArray]:
        """Coordinates of (the projections of) other samples, and their squared norms in H."""
        raise NotImplementedError

    def sum_of(self, rows: NDArray, weights: NDArray) -> NDArray:
        """Coordinates of a weighted sum of (the projections of) samples, one column."""
        raise NotImplementedError

    def kernel_of(self, rows: NDArray) -> NDArray:
        """Inner products of (the projections of) samples, (n, n)."""
        raise NotImplementedError

    def project(self, vector: NDArray) -> NDArray:
        """Inner products of all samples with one vector, (n,); for frames that keep samples."""
        raise NotImplementedError

    def renewed(self, vectors: NDArray) -> NDArray:
        """The vectors with inner products computed as their dictionary computes them.

        Rounding then decides between identical atoms as it will in ``transform``.
        """
        return vectors

    # What follows from these -----------------------------------------------------------------

    def worst(self, found: Worst, count: int) -> NDArray:
        """Coordinates of (the projections of) the worst samples, one column each."""
        return self.samples(found.rows[:count])

    def weight_of(self, rows: slice) -> NDArray | None:
        """Weights of some samples, (n,); None: one each."""
        return None if self.sample_weight is None else self.sample_weight[rows]

    @property
    def total_weight(self) -> float:
        """What all samples count together."""
        return self.n_samples if self.sample_weight is None else float(self.sample_weight.sum())

    def combine(self, loads: Codes) -> NDArray:
        r"""Coordinates of :math:`\Phi(X) P`."""
        no_atoms = np.zeros((self.dimension, 0))
        image = sum(times_codes(b.similarity.T, loads[b.rows]) for b in self.blocks(no_atoms))
        return self.coordinates(np.asarray(image), loads)

    def gram(self, vectors: NDArray) -> NDArray:
        """Inner products of the columns, symmetric; remembered, as atoms are asked about often."""
        if self._asked is None or self._asked[0] is not vectors:
            gram = self.inner(vectors, vectors)
            gram = 0.5 * (gram + gram.T)
            gram.flags.writeable = False
            self._asked = (vectors, gram)
        return self._asked[1]

    def dictionary(self, vectors: NDArray) -> Dictionary:
        """The vectors as atoms."""
        return CombinationDictionary(self.landmarks, self.weights(vectors))


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


class LandmarkFrame(Frame):
    """Orthonormal coordinates in the span of landmarks.

    Parameters
    ----------
    landmarks : PointDictionary
        Z.
    X : array of shape (n, ...) or Blocks
        The samples; may be memory-mapped, or far away.
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

    def with_samples(self, X: Stack | Blocks | None) -> LandmarkFrame:
        """The same coordinates for other samples, or for none."""
        X = self.landmarks.points[:0] if X is None else X
        return LandmarkFrame(self.landmarks, X, like=self)

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


def sample_frame(kernel: Kernel, X: Stack) -> SampleFrame:
    """The paper's frame; says what to do where the kernel matrix would not fit in memory."""
    needed = 2.0 * len(X) ** 2 * 8  # the matrix and one temporary of its size
    what = f"The kernel matrix of {len(X)} samples"
    advice = (
        "Set n_landmarks (for example 2000): cost and memory are then linear in the number of "
        "samples."
    )
    require_within_budget(gram_size(kernel, len(X), np.dtype(np.float64)), what, advice)
    announce(needed, what, advice, stacklevel=6)
    with memory_advice(advice):
        return SampleFrame(PointDictionary(kernel, X, np.arange(len(X))))
