"""Local colour statistics: how bright and colourful the cells of patches are.

SIFT looks at directions of gradients and forgets colours. Means and standard deviations of colours
in the 4 x 4 cells of a patch (Clinchant, Csurka, Perronnin and Renders, "XRCE's participation to
ImagEval", 2007) are what it leaves out.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...images.extras import optional
from ...images.records import ImageDescriptors
from ...images.sift import OPPONENT, planes_of
from .resolutions import ResolutionExtractor, at_resolutions

CELLS = 4  # along each side of a patch


class ColourStatistics(ResolutionExtractor):
    """Means and standard deviations of gray and opponent colours in the 16 cells of patches.

    Four divides the width of the patches.
    """

    def check(self) -> None:
        """Refuse a width that has no four cells."""
        if self.width % CELLS:
            raise ValueError(f"width must be a multiple of {CELLS}, got {self.width}.")

    def of_pixels(self, image: NDArray) -> ImageDescriptors:
        """Statistics of all patches."""
        colours = np.stack(planes_of(image, OPPONENT), axis=2)
        return at_resolutions(
            colours, self.resolutions, lambda scaled: patches_of(scaled, self.width, self.step)
        )


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
