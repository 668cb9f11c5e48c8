"""Mean and covariance of the channels of each image, images of one size computed together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from .channel_set import channel_names, stack_channels
from .channels import Channel
from .reading import (
    FULL_SCALE,
    ImageLike,
    Images,
    Unusable,
    as_gray,
    attempts,
    list_of,
    parts_of,
    shrunk,
    warn_of,
)

BATCH = 128  # most images read at a time by each thread
PIXELS = 2**16  # pixels computed at a time: more is no faster, and costs memory

Turn = Callable[[NDArray], NDArray]  # of an image, its first two axes


def as_it_is(image: NDArray) -> NDArray:
    """No turn."""
    return image


def quarter_turns_and_flips() -> tuple[Turn, ...]:
    """The 8 symmetries of a square: four rotations, each with and without a transposition."""
    rotations = [partial(np.rot90, k=number) for number in range(4)]
    return (*rotations, *(partial(_transposed_after, turn) for turn in rotations))


def _transposed_after(turn: Turn, image: NDArray) -> NDArray:
    return np.swapaxes(turn(image), 0, 1)


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of n images with p channels."""

    n_pixels: NDArray  # (n,) that count
    means: NDArray  # (n, p)
    covariances: NDArray  # (n, p, p), divided by n_pixels - 1

    @property
    def mean(self) -> NDArray:
        """Mean of each channel over the pixels of all images, (p,)."""
        return self.n_pixels @ self.means / self.n_pixels.sum()

    @property
    def deviations(self) -> NDArray:
        """Standard deviation of each channel over the pixels of all images, (p,)."""
        within = np.diagonal(self.covariances, axis1=1, axis2=2) * (self.n_pixels - 1)[:, None]
        between = (self.means - self.mean) ** 2 * self.n_pixels[:, None]
        return np.sqrt((within + between).sum(axis=0) / self.n_pixels.sum())


@dataclass(frozen=True, slots=True)
class Region:
    """The pixels of an image that count."""

    image: NDArray  # (H, W), or (H, W, 3) if colours are wanted; float64
    mask: NDArray | None  # (H, W) of bool; None: all count

    @property
    def counted(self) -> NDArray:
        """The mask, (H, W) of bool."""
        return np.ones(self.image.shape[:2], dtype=bool) if self.mask is None else self.mask

    @property
    def kind(self) -> tuple[tuple[int, ...], bool]:
        """Regions of one kind are computed together."""
        return self.image.shape, self.mask is None

    @property
    def n_pixels(self) -> int:
        """How many pixels count."""
        if self.mask is None:
            height, width = self.image.shape[:2]
            return height * width
        return int(np.count_nonzero(self.mask))

    def turned(self, turn: Turn) -> Region:
        """The same pixels in another position."""
        return Region(turn(self.image), None if self.mask is None else turn(self.mask))


def image_moments(
    sources: Images,
    channels: Sequence[Channel],
    *,
    max_side: int | None = None,
    on_error: str,
    n_jobs: int | None,
    turns: Sequence[Turn] = (as_it_is,),
) -> tuple[Moments, list[int]]:
    """Moments of all images that can be used, and the indices of those that were skipped.

    Parameters
    ----------
    sources : list of paths, arrays or ``Masked``
        See :mod:`kernelcoding.images.reading`.
    channels : list of Channel
        What is computed at each pixel.
    max_side : int, optional
        Larger images are shrunk to it.
    on_error : {"raise", "skip"}
        ``"skip"`` leaves failures out and names them in one warning.
    n_jobs : int, optional
        Threads: None is one, -1 all cores.
    turns : sequence of callables
        Each image counts once in each of these positions, one after the other.
    """
    listed = list_of(sources)
    wants_colour = any(channel.colour for channel in channels)

    def read(_: int, source: ImageLike) -> Region:
        return region_of(source, wants_colour, max_side)

    attempt = attempts(read, on_error)
    n_threads = effective_n_jobs(n_jobs)
    step = BATCH if n_threads == 1 else min(BATCH, -(-len(listed) // (4 * n_threads)))

    def describe(start: int) -> tuple[Moments, list[Unusable]]:
        batch = enumerate(listed[start : start + step], start)
        regions = [attempt(index, source) for index, source in batch]
        usable = [region for region in regions if not isinstance(region, Unusable)]
        kept = [region.turned(turn) for region in usable for turn in turns]
        failures = [region for region in regions if isinstance(region, Unusable)]
        return batch_moments(kept, channels), failures

    # With several threads of ours, BLAS keeps to one of its own.
    with nullcontext() if n_threads == 1 else threadpool_limits(1):
        answers = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(describe)(start) for start in range(0, len(listed), step)
        )
    failures = [failure for _, some in answers for failure in some]
    warn_of(failures, len(listed))
    if len(failures) == len(listed):
        raise ValueError("Expected at least one image that can be used, got none.")
    moments = joined([some for some, _ in answers])
    require_finite_channels(moments, channels)
    return moments, [failure.index for failure in failures]


def require_finite_channels(moments: Moments, channels: Sequence[Channel]) -> None:
    """Refuse channels of a user's own that are not numbers; pixels were checked before."""
    variances = np.diagonal(moments.covariances, axis1=1, axis2=2)
    finite = np.isfinite(variances).all(axis=0)
    if not finite.all():
        named = zip(channel_names(channels), finite, strict=True)
        bad = [name for name, is_finite in named if not is_finite]
        raise ValueError(f"Channels {bad} are NaN or infinite at some pixels: bound them.")


def region_of(source: ImageLike, colour: bool, max_side: int | None) -> Region:
    """The pixels of one image that count, shrunk."""
    image, mask = parts_of(source)
    if colour and image.ndim == 2:
        image = np.repeat(image[..., np.newaxis], 3, axis=2)
    pixels = image / FULL_SCALE.get(image.dtype, 1.0) if colour else as_gray(image)
    pixels = shrunk(np.asarray(pixels, dtype=np.float64), max_side)
    if mask is not None:
        mask = shrunk(mask.astype(np.float64), max_side) > 0.5
    region = Region(pixels, mask)
    if region.n_pixels < 2:
        raise ValueError(
            f"expected at least 2 pixels that count, got {region.n_pixels}: a covariance needs "
            "more."
        )
    return region


def batch_moments(regions: Sequence[Region], channels: Sequence[Channel]) -> Moments:
    """Moments of images of any sizes, those of one kind together."""
    n_channels = len(channel_names(channels))
    means = np.empty((len(regions), n_channels))
    covariances = np.empty((len(regions), n_channels, n_channels))
    same_kind = defaultdict(list)
    for position, region in enumerate(regions):
        same_kind[region.kind].append(position)
    for (shape, whole), positions in same_kind.items():
        step = max(1, PIXELS // (shape[0] * shape[1]))
        for start in range(0, len(positions), step):
            some = positions[start : start + step]
            values = stack_channels(channels, np.stack([regions[i].image for i in some]))
            masks = None if whole else np.stack([regions[i].counted for i in some])
            means[some], covariances[some] = stack_moments(values, masks)
    n_pixels = np.array([region.n_pixels for region in regions], dtype=float)
    return Moments(n_pixels, means, covariances)


def stack_moments(values: NDArray, masks: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Means (n, p) and covariances (n, p, p) over the pixels of (n, p, H, W), which is used up."""
    n_images, n_channels, height, width = values.shape
    flat = values.reshape(n_images, n_channels, height * width)
    if masks is None:
        means = flat.mean(axis=2)
        flat -= means[:, :, np.newaxis]
        return means, flat @ flat.transpose(0, 2, 1) / (height * width - 1)
    inside = masks.reshape(n_images, height * width)
    counts = np.count_nonzero(inside, axis=1).astype(float)
    flat *= inside[:, np.newaxis]
    means = flat.sum(axis=2) / counts[:, np.newaxis]
    flat -= means[:, :, np.newaxis]
    flat *= inside[:, np.newaxis]
    return means, flat @ flat.transpose(0, 2, 1) / (counts - 1)[:, np.newaxis, np.newaxis]


def joined(parts: Sequence[Moments]) -> Moments:
    """All parts as one, in order."""
    return Moments(
        np.concatenate([part.n_pixels for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.covariances for part in parts]),
    )
