"""Fisher vectors of dense RootSIFT of a list of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..cache import depends_on
from ..definition import Request
from .training_images import drawn_images

if TYPE_CHECKING:
    from ...aggregation import ImageAggregator
    from ...images import Masked


@dataclass(frozen=True, slots=True)
class Mixture:
    """How images become Fisher vectors."""

    n_components: int
    n_pca: int
    step: int  # pixels between patches
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from
    max_side: int = 512
    color: str = "gray"

    @property
    def length(self) -> int:
        """Entries of a vector: means and variances."""
        return 2 * self.n_components * self.n_pca


def fisher_vectors(
    request: Request,
    mixture: Mixture,
    images: Sequence[str] | Sequence[Masked],
    paths: Sequence[str],
) -> NDArray:
    """Fisher vectors of dense RootSIFT (n, length), computed once.

    Parameters
    ----------
    request : Request
    mixture : Mixture
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the vectors depend on.

    Returns
    -------
    vectors : (n, length) float32
    """
    return request.cache.array(
        f"fisher-{mixture.n_components}",
        depends_on(mixture, paths),
        lambda: _fisher_vectors(mixture, images, request.n_jobs),
    )


def _fisher_vectors(
    mixture: Mixture, images: Sequence[str] | Sequence[Masked], n_jobs: int | None
) -> NDArray:
    return learned_fisher_vectors(mixture, images, n_jobs).transform(images).astype(np.float32)


def learned_fisher_vectors(
    mixture: Mixture,
    images: Sequence[str] | Sequence[Masked] | Sequence[NDArray],
    n_jobs: int | None,
) -> ImageAggregator:
    """The transformer of images, its mixture learned from some of them.

    Parameters
    ----------
    mixture : Mixture
    images : sequence
        Paths, masked images or arrays.
    n_jobs : int or None
        Threads.
    """
    from ...aggregation import FisherVector, ImageAggregator
    from ...images import DenseRootSIFT

    fisher = ImageAggregator(
        DenseRootSIFT(mixture.step, max_side=mixture.max_side, n_jobs=n_jobs, color=mixture.color),
        FisherVector(mixture.n_components, n_pca=mixture.n_pca, n_samples=None, random_state=0),
        n_samples=mixture.n_samples,
        random_state=0,
    )
    return fisher.fit(drawn_images(images, np.arange(len(images)), mixture.n_images))
