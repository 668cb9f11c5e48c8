"""Fisher vectors of SIFT at many resolutions, in cells of the image: VLFeat's public pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...images.extractor import DescriptorExtractor
from ...images.extras import optional
from ...images.reading import ImageLike, parts_of
from ...images.records import ImageDescriptors
from ...images.sift import Patches, describe_scales, inside, unit_gray
from ..cache import depends_on
from ..definition import Request
from .training_images import drawn_descriptors, drawn_images

if TYPE_CHECKING:
    from ...aggregation import FisherVector
CONTRAST = 0.0025  # patches with less are left out, as by DenseRootSIFT


@dataclass(frozen=True, slots=True)
class FisherPyramid:
    """How images become Fisher vectors of their cells."""

    n_components: int
    n_pca: int
    step: int  # pixels between patches, at every resolution
    width: int  # of patches, at every resolution
    resolutions: tuple[float, ...]  # 2: the image is enlarged to twice its side first
    cells: tuple[tuple[int, int], ...]  # rows and columns of each grid
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from


class ResolutionExtractor(DescriptorExtractor):
    """Patches of one width on an image at several sizes; subclasses say how they are described.

    Parameters
    ----------
    resolutions : sequence of float
        Sizes, as multiples of the image's; those at which it is smaller than a patch are left out.
    width, step : int
        Of the patches, in pixels at each size.
    on_error, n_jobs, verbose
        As in :class:`~kernelcoding.images.DenseRootSIFT`.
    """

    def __init__(
        self,
        resolutions: Sequence[float] = (1.0,),
        width: int = 32,
        step: int = 4,
        on_error: str = "raise",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.resolutions = resolutions
        self.width = width
        self.step = step
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.verbose = verbose


class ResolutionSIFT(ResolutionExtractor):
    """RootSIFT of patches of one width on an image at several sizes."""

    def describer(self) -> Callable[[ImageLike], ImageDescriptors]:
        """Return the function that describes one image."""
        patches = Patches(self.step, (float(self.width),), 1 / 6, CONTRAST, None)
        return lambda source: _described(source, tuple(self.resolutions), patches)


def _described(
    source: ImageLike, resolutions: tuple[float, ...], patches: Patches
) -> ImageDescriptors:
    image, mask = parts_of(source)

    def describe(scaled: NDArray) -> ImageDescriptors | None:
        if min(scaled.shape) < patches.scales[0]:
            return None
        return describe_scales([scaled], patches.scales, patches)

    record = at_resolutions(unit_gray(image), resolutions, describe)
    return record if mask is None else inside(record, mask)


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


def fisher_pyramids(
    request: Request,
    how: FisherPyramid,
    images: Sequence[ImageLike],
    paths: Sequence[str],
    among: NDArray,
) -> NDArray:
    """Fisher vectors of all cells, one after the other, of unit norm (n, d), computed once.

    Parameters
    ----------
    request : Request
    how : FisherPyramid
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the vectors depend on.
    among : array of int
        Images that the mixture may be learned from.
    """
    return request.cache.array(
        "fisher-pyramid",
        depends_on((how, among.tolist()), paths),
        lambda: _fisher_pyramids(how, images, among, request.n_jobs),
    )


def _fisher_pyramids(
    how: FisherPyramid,
    images: Sequence[ImageLike],
    among: NDArray,
    n_jobs: int | None,
) -> NDArray:
    from ...aggregation import FisherVector

    extractor = ResolutionSIFT(how.resolutions, how.width, how.step, n_jobs=n_jobs)
    few = drawn_images(images, among, how.n_images)
    fisher = FisherVector(how.n_components, n_pca=how.n_pca, n_samples=None, random_state=0)
    fisher.fit(drawn_descriptors(extractor, few, how.n_samples))
    vectors, _ = extractor.map(images, lambda _, record: cell_vectors(fisher, record, how.cells))
    return np.stack(vectors).astype(np.float32)


def cell_vectors(
    fisher: FisherVector, record: ImageDescriptors, cells: tuple[tuple[int, int], ...]
) -> NDArray:
    """Fisher vectors of the cells of one image, each of unit norm or zero, together of unit norm.

    Parameters
    ----------
    fisher : FisherVector
        Fitted.
    record : ImageDescriptors
    cells : tuple of (rows, columns)
        Grids.
    """
    finest = np.lcm.reduce(cells)  # its cells make up those of every grid
    places = (record.positions + 0.5) / np.array(record.shape)
    along = np.clip(np.floor(places * finest), 0, finest - 1).astype(int)
    numbers = along[:, 0] * finest[1] + along[:, 1]
    parts = [record.descriptors[numbers == number] for number in range(np.prod(finest))]
    layout = np.arange(np.prod(finest)).reshape(finest)
    unions = [
        cell.ravel().tolist()
        for rows, columns in cells
        for row in np.split(layout, rows)
        for cell in np.split(row, columns, axis=1)
    ]
    vectors = fisher.transform_unions(parts, unions).astype(float)
    return vectors.ravel() / max(np.linalg.norm(vectors), np.finfo(float).tiny)
