"""The images and descriptors that codebooks and mixtures are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...images.extractor import DescriptorExtractor
from ...images.reading import ImageLike
from ...images.records import ImageDescriptors

Image = TypeVar("Image")


def drawn_images(images: Sequence[Image], among: NDArray, n_images: int) -> list[Image]:
    """Some of the images, in their order; the draw is always the same.

    Parameters
    ----------
    images : sequence
        All images.
    among : array of int
        Those that may be drawn.
    n_images : int
        How many are drawn, at most.
    """
    few = np.random.default_rng(0).permutation(among)[:n_images]
    return [images[index] for index in np.sort(few)]


def drawn_descriptors(
    extractor: DescriptorExtractor, images: Sequence[ImageLike], n_samples: int
) -> list[NDArray]:
    """About equally many descriptors of each image, always the same ones.

    Parameters
    ----------
    extractor : DescriptorExtractor
    images : sequence
        What it takes.
    n_samples : int
        Descriptors in all, at most a few more.
    """
    share = -(-n_samples // len(images))

    def draw(index: int, record: ImageDescriptors) -> NDArray:
        order = np.random.default_rng(index).permutation(len(record))
        return record.descriptors[order[:share]]

    return extractor.map(images, draw)[0]
