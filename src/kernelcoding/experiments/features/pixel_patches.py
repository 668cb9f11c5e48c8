"""Pixels of small patches, their contrast apart: texture at its finest.

Nothing is measured but the pixels themselves (Varma and Zisserman, "A statistical approach to
material classification using image patch exemplars", PAMI 2009).
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ...images.records import ImageDescriptors
from ...images.sift import unit_gray
from .resolutions import ResolutionExtractor, at_resolutions

NOISE = 0.01  # contrast, of full scale, that is no more than noise


class PixelPatches(ResolutionExtractor):
    """Gray values of patches, less their mean, over their contrast; and its logarithm."""

    def of_pixels(self, image: NDArray) -> ImageDescriptors:
        """Pixels of all patches."""
        return at_resolutions(
            unit_gray(image),
            self.resolutions,
            lambda scaled: pixels_of(scaled, self.width, self.step),
        )


def pixels_of(gray: NDArray, width: int, step: int) -> ImageDescriptors | None:
    """Patches on a grid, row by row, each with twice the logarithm of its contrast at the end.

    Parameters
    ----------
    gray : (H, W) float32
    width, step : int

    Returns
    -------
    record : ImageDescriptors or None
        None where the image is smaller than a patch.
    """
    if min(gray.shape) < width:
        return None
    windows = sliding_window_view(gray, (width, width))[::step, ::step]
    patches = windows.reshape(-1, width**2).astype(np.float32)
    patches -= patches.mean(axis=1, keepdims=True)
    contrast = np.sqrt(np.mean(patches**2, axis=1, keepdims=True))
    corners = [step * np.arange(count) for count in windows.shape[:2]]
    positions = np.stack(np.meshgrid(*corners, indexing="ij"), axis=-1).reshape(-1, 2)
    return ImageDescriptors(
        np.hstack([patches / (contrast + NOISE), 2 * np.log(contrast + NOISE / 2)]),
        positions + (width - 1) / 2,
        np.full(len(patches), float(width)),
        gray.shape,
    )
