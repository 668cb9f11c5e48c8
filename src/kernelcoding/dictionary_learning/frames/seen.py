"""Samples as learning sees them: their inner products with landmarks and with atoms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Beside, Block
from ...dictionary import PointDictionary
from ...stacks import Stack


@dataclass(frozen=True, slots=True)
class SampleBlock:
    """Some samples: inner products with themselves, with the landmarks, and with vectors."""

    rows: slice
    self_similarity: NDArray  # (n,)
    similarity: NDArray  # (n, n_landmarks)
    cross: NDArray  # (n, N)
    weight: NDArray | None = None  # (n,) None: one each
    samples: Stack | None = None  # (n, ...) themselves, where they are not at hand later
    beside: Beside = ()  # the same rows of what goes with the samples

    def every(self, stride: int) -> SampleBlock:
        """The first sample and each of the stride-th after it."""
        some = slice(None, None, stride)
        return SampleBlock(
            slice(self.rows.start, self.rows.stop, stride),
            self.self_similarity[some],
            self.similarity[some],
            self.cross[some],
            None if self.weight is None else self.weight[some],
            None if self.samples is None else self.samples[some],
            tuple(None if one is None else one[some] for one in self.beside),
        )


def seen_from(
    landmarks: PointDictionary, block: Block, weights: NDArray, carried: bool = False
) -> SampleBlock:
    """Some samples as seen from landmarks, and from combinations of these.

    Parameters
    ----------
    landmarks : PointDictionary
    block : Block
        Samples, and beside them their weights first.
    weights : array of shape (n_landmarks, N)
        The combinations.
    carried : bool, default=False
        Whether the samples go with what is known of them.
    """
    self_similarity, similarity = landmarks.similarities(block.samples)
    if landmarks.kernel.uses_index:  # the training matrix itself: its diagonal is known
        index = np.arange(block.rows.start, block.rows.stop)
        prepared = landmarks.kernel.prepare(block.samples, index)
        self_similarity = np.fmax(self_similarity, landmarks.kernel.diagonal_of(prepared))
    similarity = similarity.astype(np.float64, copy=False)
    return SampleBlock(
        block.rows,
        self_similarity.astype(np.float64),
        similarity,
        similarity @ weights,
        block.beside[0],
        block.samples if carried else None,
        block.beside[1:],
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """A function of samples as seen from landmarks, to be called with plain blocks."""

    function: Callable[..., Any]
    carried: bool

    def __call__(
        self, block: Block, landmarks: PointDictionary, weights: NDArray, *state: Any
    ) -> Any:
        """The function's answer for these samples."""
        return self.function(seen_from(landmarks, block, weights, self.carried), *state)
