"""Fisher vectors of local colour statistics: how bright and colourful the cells of patches are.

SIFT looks at directions of gradients and forgets colours. Means and standard deviations of colours
in the 4 x 4 cells of a patch (Clinchant, Csurka, Perronnin and Renders, "XRCE's participation to
ImagEval", 2007) are what it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...images.extras import optional
from ...images.reading import ImageLike, parts_of
from ...images.records import ImageDescriptors
from ...images.sift import OPPONENT, inside, planes_of
from ..cache import depends_on
from ..definition import Request
from .fisher_pyramids import ResolutionExtractor, at_resolutions, cell_vectors
from .training_images import drawn_descriptors, drawn_images

CELLS = 4  # along each side of a patch
WHOLE = ((1, 1),)


@dataclass(frozen=True, slots=True)
class ColourMixture:
    """How images become Fisher vectors of local colour statistics."""

    n_components: int
    n_pca: int
    step: int  # pixels between patches, at every resolution
    width: int  # of patches, at every resolution
    resolutions: tuple[float, ...]
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from

    @property
    def length(self) -> int:
        """Entries of a vector: means and variances."""
        return 2 * self.n_components * self.n_pca


class ColourStatistics(ResolutionExtractor):
    """Means and standard deviations of gray and opponent colours in the 16 cells of patches.

    Four divides the width of the patches.
    """

    def describer(self) -> Callable[[ImageLike], ImageDescriptors]:
        """Return the function that describes one image."""
        if self.width % CELLS:
            raise ValueError(f"width must be a multiple of {CELLS}, got {self.width}.")
        return self._describe

    def _describe(self, source: ImageLike) -> ImageDescriptors:
        image, mask = parts_of(source)
        colours = np.stack(planes_of(image, OPPONENT), axis=2)
        record = at_resolutions(
            colours, self.resolutions, lambda scaled: patches_of(scaled, self.width, self.step)
        )
        return record if mask is None else inside(record, mask)


def patches_of(colours: NDArray, width: int, step: int) -> ImageDescriptors | None:
    """Statistics of patches on a grid: by cell, first means, then deviations of the channels.

    Parameters
    ----------
    colours : (H, W, 3) float32
    width, step : int

    Returns
    -------
    record : ImageDescriptors or None
        Of 96 numbers per patch; None where the image is smaller than a patch.
    """
    if min(colours.shape[:2]) < width:
        return None
    cv2, cell = optional("cv2"), width // CELLS
    means, squares = (cv2.boxFilter(part, -1, (cell, cell)) for part in (colours, colours**2))
    deviations = np.sqrt(np.maximum(squares - means**2, 0))
    both = np.concatenate([means, deviations], axis=2)
    corners = [
        (side - width) % step // 2 + np.arange(0, side - width + 1, step)
        for side in colours.shape[:2]
    ]
    # A box filter of even width reaches one pixel further to the left.
    middles = [number * cell + cell // 2 for number in range(CELLS)]
    cells = [
        both[np.ix_(corners[0] + down, corners[1] + right)]
        for down, right in product(middles, middles)
    ]
    descriptors = np.concatenate(cells, axis=2).reshape(-1, len(cells) * both.shape[2])
    positions = np.stack(np.meshgrid(*corners, indexing="ij"), axis=-1).reshape(-1, 2)
    return ImageDescriptors(
        descriptors,
        positions + (width - 1) / 2,
        np.full(len(descriptors), float(width)),
        colours.shape[:2],
    )


def colour_fisher_vectors(
    request: Request, how: ColourMixture, images: Sequence[ImageLike], paths: Sequence[str]
) -> NDArray:
    """Fisher vectors of local colour statistics (n, length), of unit norm, computed once.

    Parameters
    ----------
    request : Request
    how : ColourMixture
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the vectors depend on.
    """
    return request.cache.array(
        "colour-fisher",
        depends_on(how, paths),
        lambda: _colour_fisher_vectors(how, images, request.n_jobs),
    )


def _colour_fisher_vectors(
    how: ColourMixture, images: Sequence[ImageLike], n_jobs: int | None
) -> NDArray:
    from ...aggregation import FisherVector

    extractor = ColourStatistics(how.resolutions, how.width, how.step, n_jobs=n_jobs)
    few = drawn_images(images, np.arange(len(images)), how.n_images)
    fisher = FisherVector(how.n_components, n_pca=how.n_pca, n_samples=None, random_state=0)
    fisher.fit(drawn_descriptors(extractor, few, how.n_samples))
    vectors, _ = extractor.map(images, lambda _, record: cell_vectors(fisher, record, WHOLE))
    return np.stack(vectors).astype(np.float32)
