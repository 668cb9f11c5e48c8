"""Fisher vectors of patches: pixels from their definition, mirror images, and every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding.experiments.cache import Cache
from kernelcoding.experiments.definition import Request
from kernelcoding.experiments.features.patch_vectors import (
    EXTRACTORS,
    PatchVectors,
    patch_vectors,
)
from kernelcoding.experiments.features.pixel_patches import PixelPatches
from kernelcoding.images import Masked

pytest.importorskip("cv2")


@pytest.fixture
def images(rng):
    return [rng.integers(0, 256, (41, 54, 3), dtype=np.uint8) for _ in range(5)]


def test_pixels_without_mean_and_contrast(images):
    gray = images[0].mean(axis=2).astype(np.uint8)
    (record,) = PixelPatches((1.0,), 9, 4).transform([gray])
    assert len(record) == 9 * 12
    for center, found in zip(record.positions.astype(int), record.descriptors, strict=True):
        top, left = center - 4
        patch = gray[top : top + 9, left : left + 9].astype(np.float64).ravel() / 255
        contrast = patch.std()
        assert_allclose(found[:-1], (patch - patch.mean()) / (contrast + 0.01), atol=1e-4)
        assert_allclose(found[-1], 2 * np.log(contrast + 0.005), atol=1e-4)


def test_constant_and_small_images():
    (record,) = PixelPatches((1.0, 0.5, 0.1), 9, 3).transform([np.full((30, 30), 77, np.uint8)])
    assert_array_equal(np.unique(record.scales), [9.0, 18.0])
    assert_allclose(record.descriptors[:, :-1], 0.0, atol=1e-4)
    assert_allclose(record.descriptors[:, -1], 2 * np.log(0.005), atol=1e-3)
    with pytest.raises(ValueError, match="smaller than a patch at every resolution"):
        PixelPatches((1.0,), 9, 3).transform([np.zeros((8, 30), np.uint8)])


@pytest.mark.parametrize(("kind", "width"), [("gradients", 16), ("colours", 16), ("pixels", 9)])
def test_mirrored_descriptors_are_those_of_the_image_and_of_its_mirror_image(images, kind, width):
    mask = np.zeros((41, 54), bool)
    mask[:, :23] = True
    turned = Masked(images[0][:, ::-1], mask[:, ::-1])
    extractor = EXTRACTORS[kind]((1.0, 0.5), width, 3)
    single, other = extractor.transform([Masked(images[0], mask), turned])
    (both,) = extractor.set_params(mirrored=True).transform([Masked(images[0], mask)])
    assert len(single) > 0
    assert len(both) == len(single) + len(other)
    assert (both.positions[:, 1] < 23).all()
    assert both.shape == single.shape
    assert_array_equal(both.descriptors[: len(single)], single.descriptors)
    assert_array_equal(both.positions[: len(single)], single.positions)
    assert_array_equal(both.descriptors[len(single) :], other.descriptors)
    columns = 53 - other.positions[:, 1]
    assert_allclose(both.positions[len(single) :], np.c_[other.positions[:, 0], columns])


@pytest.mark.parametrize(("kind", "width"), [("gradients", 16), ("colours", 16), ("pixels", 9)])
def test_vectors_of_images_and_mirror_images_are_equal(images, kind, width, tmp_path):
    how = PatchVectors(kind, 2, 4, 4, width, (1.0,), n_samples=600, n_images=5, mirrored=True)
    request = Request(None, False, Cache(tmp_path))
    found = patch_vectors(request, how, [*images, images[0][:, ::-1]], [])
    assert found.shape == (6, how.length) == (6, 16)
    assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-5)
    assert_allclose(found[5], found[0], atol=2e-4)
    assert np.abs(found[1] - found[0]).max() > 0.01
    assert_array_equal(patch_vectors(request, how, None, []), found)


def test_an_image_without_contrast_has_a_vector_of_zeros(images, tmp_path):
    how = PatchVectors("gradients", 2, 4, 4, 16, (1.0,), n_samples=600, n_images=6)
    constant = np.full((41, 54, 3), 90, np.uint8)
    found = patch_vectors(Request(None, False, Cache(tmp_path)), how, [*images, constant], [])
    assert_array_equal(found[5], 0.0)
