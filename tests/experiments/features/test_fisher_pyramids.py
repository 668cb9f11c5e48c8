"""Fisher vectors of cells, against descriptors and mixtures of the library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding.aggregation import FisherVector
from kernelcoding.experiments.cache import Cache
from kernelcoding.experiments.definition import Request
from kernelcoding.experiments.features.fisher_pyramids import (
    FisherPyramid,
    cell_vectors,
    fisher_pyramids,
)
from kernelcoding.experiments.features.resolutions import ResolutionSIFT, resized
from kernelcoding.images import DenseRootSIFT, Masked

pytest.importorskip("cv2")


@pytest.fixture
def images(rng):
    return [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(6)]


def test_each_resolution_is_dense_sift_of_the_resized_image(images):
    (record,) = ResolutionSIFT((2.0, 1.0, 0.5, 0.1), width=16, step=8).transform(images[:1])
    gray = images[0].astype(np.float32) / 255
    expected = []
    for times in (2.0, 1.0, 0.5):  # at a tenth the image is smaller than a patch
        dense = DenseRootSIFT(step=8, scales=[16], smoothing=1 / 6, max_side=None)
        expected += dense.transform([resized(gray, times)])
    sizes = [len(part) for part in expected]
    assert_allclose(
        record.descriptors, np.concatenate([p.descriptors for p in expected]), atol=1e-5
    )
    doubled = record.positions[: sizes[0]]
    assert_allclose(doubled, (expected[0].positions + 0.5) / 2 - 0.5)
    assert_array_equal(record.scales, np.repeat([8.0, 16.0, 32.0], sizes))
    assert record.shape == (48, 64)


def test_masks_and_small_images(images):
    mask = np.zeros((48, 64), bool)
    mask[:, :30] = True
    (record,) = ResolutionSIFT((1.0,), 16, 8).transform([Masked(images[0], mask)])
    assert len(record)
    assert (record.positions[:, 1] < 30).all()
    with pytest.raises(ValueError, match="smaller than a patch at every resolution"):
        ResolutionSIFT((0.2,), 16, 8).transform(images)


def test_cells_have_the_fisher_vectors_of_their_patches(images):
    records = ResolutionSIFT((1.0, 0.5), 16, 4).transform(images)
    fisher = FisherVector(2, n_pca=4, random_state=0).fit([r.descriptors for r in records])
    found = cell_vectors(fisher, records[0], ((1, 1), (3, 1)))
    rows = (records[0].positions[:, 0] + 0.5) / 48
    parts = [rows >= 0, rows < 1 / 3, (rows >= 1 / 3) & (rows < 2 / 3), rows >= 2 / 3]
    expected = np.concatenate(
        [fisher.transform([records[0].descriptors[part]])[0] for part in parts]
    )
    assert_allclose(found, expected / 2, rtol=1e-5, atol=1e-7)  # four unit vectors
    assert_allclose(np.linalg.norm(found), 1.0)


def test_a_cell_without_patches_is_zero(images):
    mask = np.zeros((48, 64), bool)
    mask[:14] = True
    (record,) = ResolutionSIFT((1.0,), 16, 4).transform([Masked(images[0], mask)])
    records = ResolutionSIFT((1.0,), 16, 4).transform(images)
    fisher = FisherVector(2, n_pca=4, random_state=0).fit([r.descriptors for r in records])
    found = cell_vectors(fisher, record, ((3, 1),)).reshape(3, -1)
    assert_allclose(np.linalg.norm(found, axis=1), [1.0, 0.0, 0.0])


def test_vectors_are_computed_once_from_images_that_may_be_seen(tmp_path, images):
    paths = [str(tmp_path / f"{number}.png") for number in range(6)]
    for path in paths:
        open(path, "wb").close()
    request = Request(None, False, Cache(tmp_path / "cache"))
    how = FisherPyramid(2, 4, 8, 16, (1.0,), ((1, 1),), n_samples=60, n_images=3)
    among = np.array([0, 2, 3, 5])
    vectors = fisher_pyramids(request, how, images, paths, among)
    assert vectors.shape == (6, 16)
    assert_array_equal(fisher_pyramids(request, how, None, paths, among), vectors)
    changed = [image if index in among else image[::-1] for index, image in enumerate(images)]
    other = Request(None, False, Cache(tmp_path / "other"))
    again = fisher_pyramids(other, how, changed, paths, among)
    assert_array_equal(again[among], vectors[among])
