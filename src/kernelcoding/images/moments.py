"""Mean and covariance of the channels of each image, images of one size computed together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from .channel_set import channel_names, stack_channels
from .channels import Channel
from .reading import FULL_SCALE, Unusable, as_gray, attempts, list_of, read_image, warn_of

BATCH = 128  # most images read at a time by each thread
PIXELS = 2**16  # pixels computed at a time: more is no faster, and costs memory


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of n images with p channels."""

    n_pixels: NDArray  # (n,)
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


def image_moments(
    sources: Any, channels: Sequence[Channel], *, on_error: str, n_jobs: int | None
) -> tuple[Moments, list[int]]:
    """Moments of all images that can be used, and the indices of those that were skipped.

    Parameters
    ----------
    sources : list of paths or arrays
        See :mod:`kernelcoding.images.reading`.
    channels : list of Channel
        What is computed at each pixel.
    on_error : {"raise", "skip"}
        ``"skip"`` leaves failures out and names them in one warning.
    n_jobs : int, optional
        Threads: None is one, -1 all cores.
    """
    listed = list_of(sources)
    wants_colour = any(channel.colour for channel in channels)
    attempt = attempts(lambda _, source: pixels_of(source, wants_colour), on_error)
    n_threads = effective_n_jobs(n_jobs)
    step = BATCH if n_threads == 1 else min(BATCH, -(-len(listed) // (4 * n_threads)))

    def describe(start: int) -> tuple[Moments, list[Unusable]]:
        batch = enumerate(listed[start : start + step], start)
        images = [attempt(index, source) for index, source in batch]
        kept = [image for image in images if not isinstance(image, Unusable)]
        failures = [image for image in images if isinstance(image, Unusable)]
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
    require_finite(moments, channels)
    return moments, [failure.index for failure in failures]


def require_finite(moments: Moments, channels: Sequence[Channel]) -> None:
    """Refuse channels of a user's own that are not numbers; pixels were checked before."""
    variances = np.diagonal(moments.covariances, axis1=1, axis2=2)
    finite = np.isfinite(variances).all(axis=0)
    if not finite.all():
        named = zip(channel_names(channels), finite, strict=True)
        bad = [name for name, is_finite in named if not is_finite]
        raise ValueError(f"Channels {bad} are NaN or infinite at some pixels: bound them.")


def pixels_of(source: Any, colour: bool) -> NDArray:
    """One image as float64, (H, W), or (H, W, 3) if colours are wanted."""
    image = read_image(source)
    if image.shape[0] * image.shape[1] < 2:
        raise ValueError("expected at least 2 pixels, got one: a covariance needs more.")
    if not colour:
        return as_gray(image)
    if image.ndim == 2:
        image = np.repeat(image[..., np.newaxis], 3, axis=2)
    return image / FULL_SCALE.get(image.dtype, 1.0)


def batch_moments(images: Sequence[NDArray], channels: Sequence[Channel]) -> Moments:
    """Moments of images of any sizes, those of one size together."""
    n_channels = len(channel_names(channels))
    means = np.empty((len(images), n_channels))
    covariances = np.empty((len(images), n_channels, n_channels))
    same_size = defaultdict(list)
    for position, image in enumerate(images):
        same_size[image.shape].append(position)
    for shape, positions in same_size.items():
        step = max(1, PIXELS // (shape[0] * shape[1]))
        for start in range(0, len(positions), step):
            some = positions[start : start + step]
            stack = np.stack([images[position] for position in some])
            means[some], covariances[some] = stack_moments(stack_channels(channels, stack))
    n_pixels = np.array([image.shape[0] * image.shape[1] for image in images], dtype=float)
    return Moments(n_pixels, means, covariances)


def stack_moments(values: NDArray) -> tuple[NDArray, NDArray]:
    """Means (n, p) and covariances (n, p, p) over the pixels of (n, p, H, W), which is used up."""
    n_images, n_channels, height, width = values.shape
    flat = values.reshape(n_images, n_channels, height * width)
    means = flat.mean(axis=2)
    flat -= means[:, :, np.newaxis]
    return means, flat @ flat.transpose(0, 2, 1) / (height * width - 1)


def joined(parts: Sequence[Moments]) -> Moments:
    """All parts as one, in order."""
    return Moments(
        np.concatenate([part.n_pixels for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.covariances for part in parts]),
    )
