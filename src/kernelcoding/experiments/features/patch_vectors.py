"""Fisher vectors of one kind of patches at several resolutions, one per image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...images.reading import ImageLike
from ..cache import depends_on
from ..definition import Request
from .colour_statistics import ColourStatistics
from .fisher_pyramids import cell_vectors
from .pixel_patches import PixelPatches
from .resolutions import ResolutionExtractor, ResolutionSIFT
from .training_images import drawn_descriptors, drawn_images

WHOLE = ((1, 1),)
GRADIENTS, COLOURS, PIXELS = "gradients", "colours", "pixels"
EXTRACTORS: Mapping[str, type[ResolutionExtractor]] = {
    GRADIENTS: ResolutionSIFT,
    COLOURS: ColourStatistics,
    PIXELS: PixelPatches,
}


@dataclass(frozen=True, slots=True)
class PatchVectors:
    """How images become Fisher vectors of their patches."""

    kind: str  # of patches: a name of EXTRACTORS
    n_components: int
    n_pca: int
    step: int  # pixels between patches, at every resolution
    width: int  # of patches, at every resolution
    resolutions: tuple[float, ...]
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from
    mirrored: bool = False  # whether the mirror image is described, too

    @property
    def length(self) -> int:
        """Entries of a vector: means and variances."""
        return 2 * self.n_components * self.n_pca


def patch_vectors(
    request: Request, how: PatchVectors, images: Sequence[ImageLike], paths: Sequence[str]
) -> NDArray:
    """Fisher vectors (n, length), of unit norm, computed once.

    Parameters
    ----------
    request : Request
    how : PatchVectors
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the vectors depend on.
    """
    return request.cache.array(
        "patch-vectors",
        depends_on(how, paths),
        lambda: _patch_vectors(how, images, request.n_jobs),
    )


def _patch_vectors(how: PatchVectors, images: Sequence[ImageLike], n_jobs: int | None) -> NDArray:
    from ...aggregation import FisherVector

    extractor = EXTRACTORS[how.kind](
        how.resolutions, how.width, how.step, how.mirrored, n_jobs=n_jobs
    )
    few = drawn_images(images, np.arange(len(images)), how.n_images)
    fisher = FisherVector(how.n_components, n_pca=how.n_pca, n_samples=None, random_state=0)
    fisher.fit(drawn_descriptors(extractor, few, how.n_samples))
    vectors, _ = extractor.map(images, lambda _, record: cell_vectors(fisher, record, WHOLE))
    return np.stack(vectors).astype(np.float32)
