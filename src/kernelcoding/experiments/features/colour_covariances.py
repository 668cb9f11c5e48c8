"""Covariances of colours, derivatives and Gabor magnitudes, as vectors of their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels import LogEuclideanGaussian
from ..cache import depends_on
from ..definition import Request
from .training_images import drawn_images

if TYPE_CHECKING:
    from ...images import Masked


@dataclass(frozen=True, slots=True)
class Covariance:
    """How images become covariances of colours, derivatives and Gabor magnitudes."""

    max_side: int
    n_images: int  # images that the scales of the channels are learned from


def colour_covariances(
    request: Request,
    covariance: Covariance,
    images: Sequence[str] | Sequence[Masked],
    paths: Sequence[str],
) -> NDArray:
    """Logarithms of region covariances as vectors (n, d), computed once.

    Parameters
    ----------
    request, images, paths
        As in :func:`~.fisher_vectors.fisher_vectors`.
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
    covariance: Covariance, images: Sequence[str] | Sequence[Masked], n_jobs: int | None
) -> NDArray:
    from ...images import Channel, Compressed, Derivatives, Gabor, RegionCovariance

    magnitudes: tuple[Channel, ...] = (Derivatives(order=1), Derivatives(order=2), Gabor())
    region = RegionCovariance(
        ["colour", *(Compressed(channel) for channel in magnitudes)],
        embed_mean=True,
        max_side=covariance.max_side,
        n_jobs=n_jobs,
    )
    region.fit(drawn_images(images, np.arange(len(images)), covariance.n_images))
    return LogEuclideanGaussian().prepare(region.transform(images)).points.astype(np.float32)
