"""What every frame answers, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm

from ...blocks import Answer, Blocks, Worst
from ...codes import Codes, times_codes
from ...dictionary import CombinationDictionary, Dictionary, PointDictionary
from ...stacks import Stack
from .seen import SampleBlock


class Frame:
    """Coordinates of vectors in H, and the samples as seen through them."""

    landmarks: PointDictionary
    n_samples: int
    dimension: int  # numbers in a column
    keeps_samples: bool  # whether all similarities stay in memory between passes
    sample_weight: NDArray | None = None  # (n,) None: one each
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

    def moved(self, landmarks: PointDictionary) -> Frame:
        """The same samples, seen from these landmarks in the space of another kernel."""
        raise NotImplementedError

    @property
    def stack(self) -> Stack | Blocks:
        """The samples themselves: all landmarks, unless a frame has them beside."""
        return self.landmarks.points

    def without_samples(self) -> Frame:
        """What is kept when the samples are gone; coordinates stay as they are."""
        return self

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
        """The sum of the weights of all samples."""
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
