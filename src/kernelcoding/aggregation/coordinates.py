r"""Landmark (Nyström) coordinates: vectors of H as plain vectors.

With landmarks Z and an orthonormal basis :math:`\Phi(Z)\Psi` of their span, the coordinates of x
are :math:`c(x) = \Psi^\top k(Z, x)`: those of the projection of :math:`\phi(x)` on the span. Then
:math:`c(x)^\top c(z)` is at most the projection's error away from k(x, z), and equals it when
either of the two is (a combination of) landmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..coders.base import with_kernel_object
from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..dictionary.building import choose_landmarks, given_landmarks
from ..dictionary.choosing import named_choice
from ..kernels import Kernel, as_kernel
from ..kernels.names import KernelLike
from ..validation import check_count
from .base import SetTransformer, descriptors_per_block
from .residuals import SharedBlock, residual_sums
from .sets import DescriptorBlock, DescriptorSets


class LandmarkCoordinates:
    """The orthonormal coordinates that landmarks span."""

    def __init__(self, landmarks: PointDictionary) -> None:
        self.landmarks = landmarks
        self.basis = landmarks.facts.orthonormal_basis()

    def __call__(self, X: NDArray) -> NDArray:
        """Coordinates of samples, (n, dimension)."""
        return self.similarities(X) @ self.basis

    def similarities(self, X: NDArray) -> NDArray:
        """Inner products of samples with the landmarks, (n, n_landmarks)."""
        return self.landmarks.cross(X.astype(np.float64, copy=False))

    def dictionary(self, vectors: NDArray) -> CombinationDictionary:
        """Vectors given by their coordinates, one per row, as combinations of landmarks."""
        return CombinationDictionary(self.landmarks, self.basis @ vectors.T)

    def residual_sums(
        self, blocks: Iterable[SharedBlock], n_sets: int, words: Dictionary
    ) -> NDArray:
        """Coordinates of weighted residuals from each word, (n_sets, n_words, dimension).

        Blocks are as in :func:`~kernelcoding.aggregation.residuals.residual_sums`, with
        similarities as points: sums are much fewer than descriptors, so the basis comes last.
        """
        assert isinstance(words, CombinationDictionary)
        images = np.ascontiguousarray((self.landmarks.facts.double @ words.weights).T)
        return residual_sums(blocks, n_sets, images) @ self.basis


class KernelSetTransformer(SetTransformer):
    """An aggregator that works in the span of landmarks in H."""

    kernel: KernelLike
    n_landmarks: int | None
    landmarks: str | ArrayLike

    kernel_: Kernel
    coordinates_: LandmarkCoordinates

    def _descriptor_ndim(self) -> int:
        return as_kernel(self.kernel).input_ndim or 2

    def _check_parameters(self) -> None:
        if as_kernel(self.kernel).uses_index:
            raise ValueError(
                "a precomputed kernel has no descriptors to aggregate: use a kernel of samples, "
                "or a function f(X, Z) -> (n, m)."
            )
        if self.n_landmarks is not None:
            check_count("n_landmarks", self.n_landmarks)
        if isinstance(self.landmarks, str):
            named_choice(self.landmarks, "landmarks")

    def _coordinates(
        self, sample: NDArray, random_state: np.random.RandomState
    ) -> LandmarkCoordinates:
        """Resolve the kernel on a sample of descriptors, and choose landmarks from it."""
        self.kernel_ = as_kernel(self.kernel).resolve(sample)
        if not isinstance(self.landmarks, str):
            landmarks = given_landmarks(self.kernel_, self.landmarks, sample)
        elif self.n_landmarks is None:
            landmarks = PointDictionary(self.kernel_, sample, np.arange(len(sample)))
        else:
            landmarks = choose_landmarks(
                self.kernel_,
                sample,
                self.n_landmarks,
                named_choice(self.landmarks, "landmarks"),
                random_state,
            )
        return LandmarkCoordinates(landmarks)

    def _seen(self, sets: DescriptorSets) -> Iterator[tuple[NDArray, DescriptorBlock]]:
        """Similarities of all descriptors to the landmarks, block by block."""
        n_landmarks = self.coordinates_.landmarks.n_atoms
        for block in sets.blocks(descriptors_per_block(2 * n_landmarks)):
            yield self.coordinates_.similarities(block.descriptors), block

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))
