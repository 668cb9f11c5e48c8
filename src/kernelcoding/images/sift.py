"""Dense RootSIFT as a transformer: images in, one record of descriptors per image out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Memory
from numpy.typing import NDArray
from sklearn.utils.validation import check_memory

from .checks import check_at_least, check_max_side
from .dense_sift import (
    SIZE,
    grid_centers,
    histograms,
    mean_gradient,
    orientation_maps,
    root_sift,
)
from .extractor import DescriptorExtractor
from .extras import optional
from .reading import FULL_SCALE, ImageLike, as_gray, parts_of, shrunk
from .records import ImageDescriptors

GRAY, OPPONENT = "gray", "opponent"
# Red against green, and yellow against blue, as combinations of red, green and blue.
OPPONENTS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
CAMERA_BLUR = 0.5  # standard deviation in pixels that an image has already, as Lowe assumes


@dataclass(frozen=True, slots=True)
class Patches:
    """Which patches are described, and how the image is prepared."""

    step: int
    scales: tuple[float, ...]
    smoothing: float
    contrast_threshold: float
    max_side: int | None
    color: str = GRAY


class DenseRootSIFT(DescriptorExtractor):
    r"""SIFT descriptors of patches on a grid, l1-normalised and square-rooted (RootSIFT).

    A patch is upright and 4 x 4 cells wide, each cell a histogram of 8 gradient directions: 128
    numbers h, clipped as Lowe does, then

    .. math:: \sqrt{h / \|h\|_1},

    a unit vector whose inner products are Hellinger similarities of the histograms.

    Parameters
    ----------
    step : int, default=4
        Pixels from one patch to the next.
    scales : sequence of float, default=(8, 12, 16)
        Widths of the patches in pixels. OpenCV's SIFT describes the same patch for a keypoint of
        ``size = width / 6``: there `size` is the diameter of the detected blob, not of the patch.
        Widths larger than an image are left out for it.
    max_side : int or None, default=512
        Images with a longer side are shrunk to it first. None never shrinks.
    smoothing : float, default=0.0
        The image is smoothed by a Gaussian whose standard deviation is this fraction of the width
        of a cell, blur of half a pixel from the camera included. VLFeat's dense SIFT has 1/6,
        Lowe's detector 1/3, OpenCV 1.6 pixels whatever the width.
    contrast_threshold : float, default=0.0025
        Patches whose mean gradient magnitude, in units of full scale per pixel, is smaller are
        left out: their descriptors are amplified noise. 0 keeps all but constant patches.
    on_error : {"raise", "skip"}, default="raise"
        ``"skip"`` leaves images out that cannot be used; one warning names them, and ``skipped_``
        has their indices. The output then has fewer records than there were images: see
        :func:`kernelcoding.images.readable` for keeping labels in step.
    n_jobs : int, default=None
        Threads over images; None is one, -1 all cores.
    memory : str or joblib.Memory, default=None
        Where to keep the descriptors of each image; the key is its pixels and the parameters.
        Some megabytes per image.
    verbose : int, default=0
        Progress, as joblib shows it.
    color : {"gray", "opponent"}, default="gray"
        What is described: gray values, or beside them red against green and yellow against blue,
        384 numbers that are normalised together: weak colours, which are mostly noise, stay weak.
        Patches are kept for their gray contrast; a gray image has zeros for its colours.

    Attributes
    ----------
    skipped_ : list of int
        Indices of the images that the last ``transform`` skipped.

    Notes
    -----
    Images are paths or arrays, gray or colour, of 8 or 16 bits or floating point in [0, 1], all
    sizes mixed. ``Masked(image, mask)`` in the place of an image keeps
    the patches whose centre is in the mask. An image may have no patch of enough contrast: its
    record is then empty. An image smaller than the narrowest patch is an error.

    The defaults were chosen on the Flickr Material Database, where small sharp patches of several
    widths are best: OpenCV's smoothing of 1.6 pixels costs 8 points of accuracy at a width of 16.

    The descriptors equal those of OpenCV (``smoothing`` aside) to the precision with which it
    stores them, 8 bits per entry. All patches of a scale come from two products with banded
    matrices, see ``kernelcoding.images.dense_sift``.

    References
    ----------
    Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 2004. Arandjelovic and
    Zisserman, "Three things everyone should know to improve object retrieval", CVPR 2012. Van de
    Sande, Gevers and Snoek, "Evaluating color descriptors for object and scene recognition", PAMI
    2010.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import DenseRootSIFT
    >>> image = np.random.default_rng(0).integers(0, 256, (40, 60), dtype=np.uint8)
    >>> record, = DenseRootSIFT(step=8, scales=[16]).fit_transform([image])
    >>> record.descriptors.shape, record.positions[0]
    ((24, 128), array([7., 9.]))
    """

    def __init__(
        self,
        step: int = 4,
        scales: Sequence[float] = (8, 12, 16),
        max_side: int | None = 512,
        smoothing: float = 0.0,
        contrast_threshold: float = 0.0025,
        on_error: str = "raise",
        n_jobs: int | None = None,
        memory: str | Memory | None = None,
        verbose: int = 0,
        color: str = GRAY,
    ) -> None:
        self.step = step
        self.scales = scales
        self.max_side = max_side
        self.smoothing = smoothing
        self.contrast_threshold = contrast_threshold
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.color = color

    def describer(self) -> Callable[[ImageLike], ImageDescriptors]:
        """Return the function that describes one path, array or ``Masked``."""
        patches = self._patches()
        cached = check_memory(self.memory).cache(describe_image)
        return lambda source: cached(*parts_of(source), patches)

    def _patches(self) -> Patches:
        check_at_least("step", self.step, 1, whole=True)
        check_max_side(self.max_side)
        check_at_least("smoothing", self.smoothing, 0)
        check_at_least("contrast_threshold", self.contrast_threshold, 0)
        scales = np.atleast_1d(np.asarray(self.scales, dtype=np.float64))
        if scales.ndim != 1 or not len(scales) or not (scales >= 4).all():
            raise ValueError(
                f"scales must be widths of patches of at least 4 pixels, got {self.scales!r}."
            )
        if self.color not in (GRAY, OPPONENT):
            raise ValueError(f"color must be '{GRAY}' or '{OPPONENT}', got {self.color!r}.")
        return Patches(
            int(self.step),
            tuple(scales.tolist()),
            float(self.smoothing),
            float(self.contrast_threshold),
            self.max_side,
            self.color,
        )


def describe_image(image: NDArray, mask: NDArray | None, patches: Patches) -> ImageDescriptors:
    """Descriptors of the patches of one image."""
    shape = image.shape[:2]
    planes = [shrunk(plane, patches.max_side) for plane in planes_of(image, patches.color)]
    small = planes[0].shape
    factor = np.array(shape) / small
    fitting = [width for width in patches.scales if width <= min(small)]
    if not fitting:
        raise ValueError(
            f"expected an image at least as large as a patch of {min(patches.scales):g} pixels, "
            f"got {small[0]} x {small[1]}: choose smaller scales."
        )
    record = describe_scales(planes, fitting, patches)
    positions = (record.positions + 0.5) * factor - 0.5  # centres of pixels are whole numbers
    record = replace(record, positions=positions, scales=record.scales * factor.mean(), shape=shape)
    return record if mask is None else inside(record, mask)


def unit_gray(image: NDArray) -> NDArray:
    """Gray in [0, 1] as float32; floating-point images must be so already."""
    gray = as_gray(image)
    if gray.min() < 0 or gray.max() > 1 + 1e-6:
        raise ValueError(
            f"expected floating-point pixels between 0 and 1, got {gray.min():.3g} to "
            f"{gray.max():.3g}: divide by the full scale, or pass uint8."
        )
    return gray.astype(np.float32)


def planes_of(image: NDArray, color: str) -> list[NDArray]:
    """Gray, and the opponent colours if they are wanted, (H, W) each."""
    gray = unit_gray(image)
    if color == GRAY:
        return [gray]
    if image.ndim == 2:
        return [gray, np.zeros_like(gray), np.zeros_like(gray)]
    colors = image @ OPPONENTS.T / FULL_SCALE.get(image.dtype, 1.0)
    return [gray, *np.moveaxis(colors.astype(np.float32), -1, 0)]


def describe_scales(
    planes: Sequence[NDArray], widths: Sequence[float], patches: Patches
) -> ImageDescriptors:
    """Descriptors of the patches of several widths that have contrast in the first plane."""
    shape = planes[0].shape
    grids = [[grid_centers(side, width, patches.step) for side in shape] for width in widths]
    counts = [len(rows) * len(columns) for rows, columns in grids]
    found = [
        raw_scales(np.ascontiguousarray(plane), widths, grids, patches.smoothing)
        for plane in planes
    ]
    contrast = found[0][1]
    seen = (contrast >= patches.contrast_threshold) & (contrast > 0)
    kept: NDArray | slice = slice(None) if seen.all() else np.flatnonzero(seen)
    raw = np.hstack([part[kept] for part, _ in found]) if len(found) > 1 else found[0][0][kept]
    positions = np.concatenate(
        [np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2) for grid in grids]
    )
    scales = np.repeat(np.array(widths), counts)
    return ImageDescriptors(root_sift(raw), positions[kept], scales[kept], shape)


def raw_scales(
    plane: NDArray, widths: Sequence[float], grids: Sequence[Sequence[NDArray]], smoothing: float
) -> tuple[NDArray, NDArray]:
    """Histograms of the patches of several widths, (n, 128), and their contrast, (n,)."""
    counts = [len(rows) * len(columns) for rows, columns in grids]
    stops = np.cumsum(counts)
    raw = np.empty((stops[-1], SIZE), dtype=np.float32)
    contrast = np.empty(stops[-1])
    deviation, maps = None, np.empty(0)
    for width, (rows, columns), count, stop in zip(widths, grids, counts, stops, strict=True):
        wanted = blur(smoothing * width / 4)
        if wanted != deviation:  # widths often share their maps
            deviation, maps = wanted, orientation_maps(smoothed(plane, wanted))
        part = slice(stop - count, stop)
        histograms(maps, rows, columns, width, out=raw[part])
        contrast[part] = mean_gradient(raw[part], width)
    return raw, contrast


def blur(deviation: float) -> float:
    """Standard deviation of the smoothing that is left to do beside the camera's own blur."""
    missing = deviation**2 - CAMERA_BLUR**2
    return float(np.sqrt(missing)) if missing > 0.01 else 0.0  # a tenth of a pixel is nothing


def smoothed(gray: NDArray, deviation: float) -> NDArray:
    """Gaussian smoothing."""
    return optional("cv2").GaussianBlur(gray, (0, 0), deviation) if deviation else gray


def inside(record: ImageDescriptors, mask: NDArray) -> ImageDescriptors:
    """The patches whose centre is in the mask."""
    rows, columns = np.clip(record.positions.round().astype(int), 0, np.array(mask.shape) - 1).T
    kept = mask[rows, columns]
    return ImageDescriptors(
        record.descriptors[kept], record.positions[kept], record.scales[kept], record.shape
    )
