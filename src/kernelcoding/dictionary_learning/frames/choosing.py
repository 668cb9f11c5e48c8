"""Which frame a set of samples gets: the paper's, or that of few landmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dictionary import PointDictionary
from ...dictionary.point_gram import gram_size
from ...kernels.base import Kernel
from ...memory import announce, memory_advice, require_within_budget
from ...stacks import Stack
from .base import Frame
from .landmarks import LandmarkFrame
from .samples import SampleFrame


def frame_of(
    kernel: Kernel,
    X: Stack,
    landmarks: PointDictionary | None,
    sample_weight: NDArray | None = None,
) -> Frame:
    """Coordinates in the span of landmarks; without any, of all samples, where they fit in memory.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : stack or Blocks
        The samples.
    landmarks : PointDictionary or None
        None: every sample is one.
    sample_weight : array of shape (n,), default=None
    """
    frame: Frame = _of_all_samples(kernel, X) if landmarks is None else LandmarkFrame(landmarks, X)
    frame.sample_weight = sample_weight
    return frame


def _of_all_samples(kernel: Kernel, X: Stack) -> SampleFrame:
    """The paper's frame; says what to do where the kernel matrix would not fit in memory."""
    needed = 2.0 * len(X) ** 2 * 8  # the matrix and one temporary of its size
    what = f"The kernel matrix of {len(X)} samples"
    advice = (
        "Set n_landmarks (for example 2000): cost and memory are then linear in the number of "
        "samples."
    )
    require_within_budget(gram_size(kernel, len(X), np.dtype(np.float64)), what, advice)
    announce(needed, what, advice, stacklevel=7)
    with memory_advice(advice):
        return SampleFrame(PointDictionary(kernel, X, np.arange(len(X))))
