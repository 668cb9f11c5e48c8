"""Textures that have no up: descriptors that do not change when an image is turned or flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from ...kernels import LogEuclideanGaussian
from ..cache import depends_on
from ..definition import Request
from .fisher_vectors import Mixture, learned_fisher_vectors
from .training_images import drawn_images


@dataclass(frozen=True, slots=True)
class TurnedCovariance:
    """How images become log-Euclidean means of the covariances of their 8 positions."""

    n_images: int  # images that the scales of the channels are learned from


@dataclass(frozen=True, slots=True)
class TurnedFisher:
    """How images become means of the Fisher vectors of their 8 positions."""

    mixture: Mixture
    enlarged: int  # times


def turned_covariances(
    request: Request, covariance: TurnedCovariance, paths: Sequence[str]
) -> NDArray:
    """Logarithms of covariances with means as vectors (n, d), computed once.

    Parameters
    ----------
    request : Request
    covariance : TurnedCovariance
    paths : sequence of str
        The images.
    """

    def compute() -> NDArray:
        from ...images import RegionCovariance

        region = RegionCovariance(embed_mean=True, symmetry="square", n_jobs=request.n_jobs)
        region.fit(drawn_images(paths, np.arange(len(paths)), covariance.n_images))
        return LogEuclideanGaussian().prepare(region.transform(paths)).points

    return request.cache.array("turned-covariances", depends_on(covariance, paths), compute)


def turned_fisher_vectors(request: Request, fisher: TurnedFisher, paths: Sequence[str]) -> NDArray:
    """Means of Fisher vectors over the 8 positions, of unit norm (n, d), computed once.

    Parameters
    ----------
    request, paths
        As in :func:`turned_covariances`.
    fisher : TurnedFisher
    """

    def compute() -> NDArray:
        from ...images.moments import quarter_turns_and_flips

        images = [enlarged_image(path, fisher.enlarged) for path in paths]
        model = learned_fisher_vectors(fisher.mixture, images, request.n_jobs)
        total = sum(
            model.transform([turn(image) for image in images]) for turn in quarter_turns_and_flips()
        )
        return normalize(total).astype(np.float32)

    return request.cache.array("turned-fisher", depends_on(fisher, paths), compute)


def enlarged_image(path: str, times: int) -> NDArray:
    """An image with so many times the side, by cubic interpolation; gray, in [0, 1]."""
    from ...images.extras import optional
    from ...images.reading import parts_of
    from ...images.sift import unit_gray

    gray = unit_gray(parts_of(path)[0])
    height, width = gray.shape
    cv2 = optional("cv2")
    size = (times * width, times * height)
    return np.clip(cv2.resize(gray, size, interpolation=cv2.INTER_CUBIC), 0, 1)
