"""Descriptors that experiments keep, against the library's own."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import logm
from scipy.spatial.distance import pdist

from kernelcoding.aggregation import FisherVector, ImageAggregator
from kernelcoding.experiments.cache import Cache
from kernelcoding.experiments.definition import Request
from kernelcoding.experiments.features.colour_covariances import Covariance, colour_covariances
from kernelcoding.experiments.features.fisher_vectors import Mixture, fisher_vectors
from kernelcoding.experiments.features.texture import (
    TurnedCovariance,
    TurnedFisher,
    turned_covariances,
    turned_fisher_vectors,
)
from kernelcoding.images import Compressed, DenseRootSIFT, Derivatives, Gabor, RegionCovariance

N = 8
MIXTURE = Mixture(n_components=3, n_pca=5, step=6, n_samples=160, n_images=4)
COVARIANCE = Covariance(max_side=24, n_images=5)


@pytest.fixture
def photographs(tmp_path, rng):
    """Images, and files that stand for them."""
    paths = [tmp_path / f"{number}.jpg" for number in range(N)]
    for path in paths:
        path.write_bytes(path.name.encode())
    images = [rng.integers(0, 256, (40, 48, 3), dtype=np.uint8) for _ in paths]
    return images, [str(path) for path in paths]


@pytest.fixture
def request_of(tmp_path):
    return Request(None, False, Cache(tmp_path / "cache"))


def test_fisher_vectors_are_of_a_mixture_of_some_images(photographs, request_of):
    images, paths = photographs
    vectors = fisher_vectors(request_of, MIXTURE, images, paths)
    assert vectors.shape == (N, MIXTURE.length)
    assert MIXTURE.length == 30
    few = np.sort(np.random.default_rng(0).permutation(N)[:4])
    fisher = FisherVector(3, n_pca=5, n_samples=None, random_state=0)
    expected = ImageAggregator(DenseRootSIFT(step=6), fisher, n_samples=160, random_state=0)
    expected.fit([images[index] for index in few])
    assert_allclose(vectors, expected.transform(images), rtol=1e-5, atol=1e-7)


def test_distances_of_covariances_are_log_euclidean(photographs, request_of):
    images, paths = photographs
    logarithms = colour_covariances(request_of, COVARIANCE, images, paths)
    magnitudes = (Derivatives(order=1), Derivatives(order=2), Gabor())
    channels = ["colour", *(Compressed(channel) for channel in magnitudes)]
    region = RegionCovariance(channels, embed_mean=True, max_side=24)
    few = np.sort(np.random.default_rng(0).permutation(N)[:5])
    matrices = region.fit([images[index] for index in few]).transform(images)
    assert matrices.shape == (N, 28, 28)
    roots = np.stack([logm(matrix).ravel() for matrix in matrices])
    assert_allclose(pdist(logarithms), pdist(roots), rtol=1e-4)


def test_descriptors_are_computed_once(photographs, request_of):
    images, paths = photographs
    for compute, how in ((fisher_vectors, MIXTURE), (colour_covariances, COVARIANCE)):
        first = compute(request_of, how, images, paths)
        assert_array_equal(compute(request_of, how, None, paths), first)
        with pytest.raises(TypeError):  # other settings are other descriptors
            compute(request_of, replace(how, n_images=3), None, paths)


def test_textures_are_described_alike_in_every_position(tmp_path, rng, request_of):
    cv2 = pytest.importorskip("cv2")
    image = rng.integers(0, 256, (24, 24), dtype=np.uint8)
    others = [rng.integers(0, 256, (24, 24), dtype=np.uint8) for _ in range(4)]
    paths = []
    for number, pixels in enumerate((image, np.rot90(image), image[::-1], image.T, *others)):
        paths.append(str(tmp_path / f"{number}.png"))
        cv2.imwrite(paths[-1], pixels)
    fisher = TurnedFisher(replace(MIXTURE, n_components=2, n_images=8, n_samples=80), enlarged=2)
    covariances = turned_covariances(request_of, TurnedCovariance(5), paths)
    vectors = turned_fisher_vectors(request_of, fisher, paths)
    assert vectors.shape == (8, fisher.mixture.length)
    assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    for found in (covariances, vectors):
        assert_allclose(found[1:4], np.tile(found[0], (3, 1)), rtol=1e-3, atol=1e-4)
        assert np.abs(found[4] - found[0]).max() > 1e-2
    # A position of the first image weighs as much as any other: the mean of eight vectors.
    assert_array_equal(turned_covariances(request_of, TurnedCovariance(5), paths), covariances)
