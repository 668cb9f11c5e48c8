"""Fisher vectors and colour covariances of a list of images, kept beside the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import LogEuclideanGaussian
from .cache import depends_on
from .definition import Request
from .words import some_of


@dataclass(frozen=True, slots=True)
class Mixture:
    """How images become Fisher vectors."""

    n_components: int
    n_pca: int
    step: int  # pixels between patches
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from
    max_side: int = 512

    @property
    def length(self) -> int:
        """Entries of a vector: means and variances."""
        return 2 * self.n_components * self.n_pca


@dataclass(frozen=True, slots=True)
class Covariance:
    """How images become covariances of colours, derivatives and Gabor magnitudes."""

    max_side: int
    n_images: int  # images that the scales of the channels are learned from


def fisher_vectors(
    request: Request, mixture: Mixture, images: Sequence[Any], paths: Sequence[str]
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


def _fisher_vectors(mixture: Mixture, images: Sequence[Any], n_jobs: int | None) -> NDArray:
    from ..aggregation import FisherVector, ImageAggregator
    from ..images import DenseRootSIFT

    fisher = ImageAggregator(
        DenseRootSIFT(step=mixture.step, max_side=mixture.max_side, n_jobs=n_jobs),
        FisherVector(mixture.n_components, n_pca=mixture.n_pca, n_samples=None, random_state=0),
        n_samples=mixture.n_samples,
        random_state=0,
    )
    fisher.fit(some_of(images, np.arange(len(images)), mixture.n_images))
    return fisher.transform(images).astype(np.float32)


def colour_covariances(
    request: Request, covariance: Covariance, images: Sequence[Any], paths: Sequence[str]
) -> NDArray:
    """Logarithms of region covariances as vectors (n, d), computed once.

    Parameters
    ----------
    request, images, paths
        As in :func:`fisher_vectors`.
    covariance : Covariance

    Returns
    -------
    logarithms : (n, d) float32
        Their Euclidean distances are the log-Euclidean ones.
    """
    return request.cache.array(
        "covariances",
        depends_on(covariance, paths),
        lambda: _colour_covariances(covariance, images, request.n_jobs),
    )


def _colour_covariances(
    covariance: Covariance, images: Sequence[Any], n_jobs: int | None
) -> NDArray:
    from ..images import Channel, Compressed, Derivatives, Gabor, RegionCovariance

    magnitudes: tuple[Channel, ...] = (Derivatives(order=1), Derivatives(order=2), Gabor())
    region = RegionCovariance(
        ["colour", *(Compressed(channel) for channel in magnitudes)],
        embed_mean=True,
        max_side=covariance.max_side,
        n_jobs=n_jobs,
    )
    region.fit(some_of(images, np.arange(len(images)), covariance.n_images))
    return LogEuclideanGaussian().prepare(region.transform(images)).points.astype(np.float32)
