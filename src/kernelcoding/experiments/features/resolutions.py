"""Patches of one width on an image at several sizes, on it and, if wanted, on its mirror image."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...images.extractor import DescriptorExtractor
from ...images.extras import optional
from ...images.reading import ImageLike, parts_of
from ...images.records import ImageDescriptors
from ...images.sift import Patches, describe_scales, inside, unit_gray

CONTRAST = 0.0025  # patches with less are left out, as by DenseRootSIFT


class ResolutionExtractor(DescriptorExtractor):
    """Patches of one width on an image at several sizes; subclasses say how they are described.

    Parameters
    ----------
    resolutions : sequence of float
        Sizes, as multiples of the image's; those at which it is smaller than a patch are left out.
    width, step : int
        Of the patches, in pixels at each size.
    mirrored : bool
        Whether patches of the mirror image are described, too, in the places they are from: sets
        of descriptors then say nothing of left and right.
    on_error, n_jobs, verbose
        As in :class:`~kernelcoding.images.DenseRootSIFT`.
    """

    def __init__(
        self,
        resolutions: Sequence[float] = (1.0,),
        width: int = 32,
        step: int = 4,
        mirrored: bool = False,
        on_error: str = "raise",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.resolutions = resolutions
        self.width = width
        self.step = step
        self.mirrored = mirrored
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.verbose = verbose

    def describer(self) -> Callable[[ImageLike], ImageDescriptors]:
        """Return the function that describes one image."""
        self.check()
        return self._of_source

    def _of_source(self, source: ImageLike) -> ImageDescriptors:
        image, mask = parts_of(source)
        record = self.of_pixels(image)
        if self.mirrored:
            record = joined(record, seen_back(self.of_pixels(np.ascontiguousarray(image[:, ::-1]))))
        return record if mask is None else inside(record, mask)

    def check(self) -> None:
        """Refuse parameters that are wrong for any image."""

    @abstractmethod
    def of_pixels(self, image: NDArray) -> ImageDescriptors:
        """Descriptors of an image."""


class ResolutionSIFT(ResolutionExtractor):
    """RootSIFT of patches of one width on an image at several sizes."""

    def of_pixels(self, image: NDArray) -> ImageDescriptors:
        """RootSIFT of patches that have contrast."""
        patches = Patches(self.step, (float(self.width),), 1 / 6, CONTRAST, None)

        def describe(scaled: NDArray) -> ImageDescriptors | None:
            if min(scaled.shape) < self.width:
                return None
            return describe_scales([scaled], patches.scales, patches)

        return at_resolutions(unit_gray(image), self.resolutions, describe)


def joined(first: ImageDescriptors, second: ImageDescriptors) -> ImageDescriptors:
    """The patches of both records of one image."""
    return ImageDescriptors(
        np.concatenate([first.descriptors, second.descriptors]),
        np.concatenate([first.positions, second.positions]),
        np.concatenate([first.scales, second.scales]),
        first.shape,
    )


def seen_back(record: ImageDescriptors) -> ImageDescriptors:
    """Patches of a mirror image, where they are in the image itself."""
    positions = record.positions.copy()
    positions[:, 1] = record.shape[1] - 1 - positions[:, 1]
    return replace(record, positions=positions)


def at_resolutions(
    image: NDArray,
    resolutions: Sequence[float],
    describe: Callable[[NDArray], ImageDescriptors | None],
) -> ImageDescriptors:
    """Descriptors of an image at several sizes, their positions in the image as it was.

    Parameters
    ----------
    image : (H, W) or (H, W, channels) float32
    resolutions : sequence of float
        Sizes, as multiples of the image's.
    describe : callable
        Of the image at one size; None where it is smaller than a patch.
    """
    parts = []
    for times in resolutions:
        scaled = resized(image, times)
        found = describe(scaled)
        if found is not None:
            times_of_axes = np.array(image.shape[:2]) / scaled.shape[:2]
            positions = (found.positions + 0.5) * times_of_axes - 0.5
            parts.append((found.descriptors, positions, found.scales / times))
    if not parts:
        raise ValueError(f"is smaller than a patch at every resolution of {resolutions}.")
    descriptors, positions, scales = (np.concatenate(some) for some in zip(*parts, strict=True))
    return ImageDescriptors(descriptors, positions, scales, image.shape[:2])


def resized(image: NDArray, times: float) -> NDArray:
    """An image at another size: cubic interpolation to enlarge, means of areas to shrink."""
    if times == 1:
        return image
    cv2 = optional("cv2")
    size = tuple(max(1, round(times * side)) for side in image.shape[1::-1])
    if times < 1:
        return cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    larger = cv2.resize(image, size, interpolation=cv2.INTER_CUBIC)
    return np.clip(larger, min(0.0, image.min()), max(1.0, image.max()))  # it overshoots
