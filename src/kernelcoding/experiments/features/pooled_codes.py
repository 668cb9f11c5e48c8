"""Codes of dense RootSIFT, pooled in the cells of images: ScSPM and LLC with a pyramid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from ...coders import KernelLLC, KernelSparseCoder
from ...dictionary_learning import KernelDictionaryLearning
from ...images.reading import ImageLike
from ..cache import depends_on
from ..definition import Request
from .training_images import drawn_descriptors, drawn_images

LOCAL, SPARSE = "LLC", "SC"


@dataclass(frozen=True, slots=True)
class PooledCodes:
    """How images become pooled codes of their patches."""

    codes: str  # LOCAL: over words of k-means; SPARSE: over learned atoms
    n_atoms: int
    step: int  # pixels between patches
    scales: tuple[float, ...]  # widths of patches
    levels: tuple[int, ...]  # cells along a side, per level
    n_samples: int  # descriptors that atoms are learned from
    n_images: int  # images they are drawn from
    n_neighbors: int = 5  # of LLC
    alpha: float = 0.075  # of sparse codes: ScSPM's 0.15 beside an error that is not halved
    rounds: int = 5  # of learning sparse atoms


def pooled_codes(
    request: Request,
    how: PooledCodes,
    images: Sequence[ImageLike],
    paths: Sequence[str] | NDArray,
    among: NDArray,
) -> NDArray:
    """Largest codes in all cells, one cell after the other (n, cells x atoms), computed once.

    Parameters
    ----------
    request : Request
    how : PooledCodes
    images : sequence
        Paths, masked images, or pixels.
    paths : sequence of str, or array
        Files that the codes depend on, or the pixels of all images.
    among : array of int
        Images that atoms may be learned from.
    """
    return request.cache.array(
        f"pooled-{how.codes}",
        depends_on((how, among.tolist()), paths),
        lambda: _pooled_codes(how, images, among, request.n_jobs),
    )


def _pooled_codes(
    how: PooledCodes, images: Sequence[ImageLike], among: NDArray, n_jobs: int | None
) -> NDArray:
    from ...aggregation import ImageAggregator, SpatialPyramid
    from ...images import DenseRootSIFT

    extractor = DenseRootSIFT(step=how.step, scales=how.scales, n_jobs=n_jobs)
    few = drawn_images(images, among, how.n_images)
    drawn = np.concatenate(drawn_descriptors(extractor, few, how.n_samples))
    pyramid = SpatialPyramid(
        _coder(how, drawn),
        how.levels,
        how="max" if how.codes == LOCAL else "absolute_max",
        n_samples=None,
    )
    pooled = ImageAggregator(extractor, pyramid, n_samples=how.n_samples, random_state=0)
    return pooled.fit(few).transform(images).astype(np.float32)


def _coder(how: PooledCodes, descriptors: NDArray) -> TransformerMixin:
    """Words of k-means and their neighbours, or sparse codes over atoms that were learned."""
    if how.codes == LOCAL:
        from ...images.codebook import lloyd

        words = lloyd(descriptors, how.n_atoms, 0)
        return KernelLLC("linear", atoms=words, n_neighbors=min(how.n_neighbors, how.n_atoms))
    # As many landmarks as atoms span the descriptors: atoms are as free as without.
    return KernelDictionaryLearning(
        KernelSparseCoder("linear", alpha=how.alpha),
        n_atoms=how.n_atoms,
        n_landmarks=how.n_atoms,
        max_iter=how.rounds,
        random_state=0,
    )
