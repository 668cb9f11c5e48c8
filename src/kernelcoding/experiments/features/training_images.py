"""The images that descriptors are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

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
