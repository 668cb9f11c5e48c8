"""Local colour statistics, patch by patch from their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding.experiments.features.colour_statistics import ColourStatistics
from kernelcoding.images import Masked
from kernelcoding.images.sift import planes_of

pytest.importorskip("cv2")


@pytest.fixture
def images(rng):
    return [rng.integers(0, 256, (41, 54, 3), dtype=np.uint8) for _ in range(5)]


def statistics(colours, center, width):
    """Of one patch: cell by cell, means of the channels, then their standard deviations."""
    top, left = (np.array(center) - (width - 1) / 2).astype(int)
    patch = colours[top : top + width, left : left + width]
    assert patch.shape[:2] == (width, width)
    cells = [
        cell
        for rows in np.split(patch.astype(np.float64), 4, axis=0)
        for cell in np.split(rows, 4, axis=1)
    ]
    return np.concatenate([np.r_[cell.mean((0, 1)), cell.std((0, 1))] for cell in cells])


@pytest.mark.parametrize(("width", "step"), [(16, 4), (12, 5)])
def test_every_patch_is_described_by_its_own_cells(images, width, step):
    (record,) = ColourStatistics((1.0,), width, step).transform(images[:1])
    colours = np.stack(planes_of(images[0], "opponent"), axis=2)
    expected = [statistics(colours, center, width) for center in record.positions]
    assert_allclose(record.descriptors, expected, atol=2e-3)  # deviations of single precision
    counts = [(side - width) // step + 1 for side in (41, 54)]
    assert len(record) == np.prod(counts)
    assert record.shape == (41, 54)


def test_smaller_sizes_see_larger_patches(images):
    (record,) = ColourStatistics((1.0, 0.5, 0.1), 16, 4).transform(images[:1])
    assert_array_equal(np.unique(record.scales), [16.0, 32.0])
    constant = np.full((64, 64, 3), [200, 100, 50], np.uint8)
    (found,) = ColourStatistics((1.0, 0.5), 16, 8).transform([constant])
    assert_allclose(found.descriptors, np.tile(found.descriptors[0], (len(found), 1)), atol=1e-5)
    assert_allclose(found.descriptors.reshape(-1, 16, 6)[:, :, 3:], 0.0, atol=1e-3)


def test_masks_gray_images_and_widths(images):
    mask = np.zeros((41, 54), bool)
    mask[:, :20] = True
    (record,) = ColourStatistics((1.0,), 16, 4).transform([Masked(images[0], mask)])
    assert len(record)
    assert (record.positions[:, 1] < 20).all()
    (gray,) = ColourStatistics((1.0,), 16, 4).transform([images[0][:, :, 0]])
    of_channels = gray.descriptors.reshape(-1, 16, 2, 3)
    assert_array_equal(of_channels[..., 1:], 0.0)
    assert of_channels[..., 0].any()
    with pytest.raises(ValueError, match="multiple of 4"):
        ColourStatistics(width=10).fit(images)
    with pytest.raises(ValueError, match="smaller than a patch at every resolution"):
        ColourStatistics((0.1,)).transform(images)
