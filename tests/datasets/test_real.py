"""The forms in which real data are kept here, against what is known of the originals."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import trees
from kernelcoding import datasets


def test_yaleb_faces():
    trees.real("yaleb", "faces_48x42.npz")
    bunch = datasets.fetch_yaleb(trees.SHARED, download_if_missing=False)
    assert bunch.images.shape == (2414, 48, 42)
    assert_array_equal(bunch.data, bunch.images.reshape(2414, -1))
    # 64 lights for most people; the original lacks 18 recordings of 7 of them
    assert np.bincount(bunch.target).max() == 64
    assert 38 * 64 - len(bunch.data) == 18
    for file, label in zip(bunch.files, bunch.target, strict=True):
        assert file.startswith(bunch.target_names[label])
    assert "yaleB14" not in bunch.target_names


def test_yaleb_random_faces_are_a_linear_image_of_the_faces(rng):
    trees.real("yaleb", "random_faces_504.npz")
    faces = datasets.fetch_yaleb(trees.SHARED)
    bunch = datasets.fetch_yaleb(trees.SHARED, features="random_faces")
    assert_array_equal(bunch.files, faces.files)
    assert_array_equal(bunch.target, faces.target)
    assert_array_equal(bunch.target_names, faces.target_names)
    assert (len(bunch.train), len(bunch.test)) == (1216, 1198)
    assert_array_equal(np.sort(np.r_[bunch.train, bunch.test]), np.arange(2414))
    # Projections keep distances: those of features and of images rise together.
    pick = rng.choice(2414, (2, 300))
    features, pixels = (
        np.linalg.norm(X[pick[0]].astype(float) - X[pick[1]].astype(float), axis=1)
        for X in (bunch.data, faces.data)
    )
    assert np.corrcoef(features, pixels)[0, 1] > 0.95


def test_virus_copies_are_those_with_equal_pixels():
    cv2 = pytest.importorskip("cv2")
    trees.real("virus", "images")
    bunch = datasets.fetch_virus(trees.SHARED)
    assert_array_equal(np.bincount(bunch.target), np.full(15, 100))
    pixels = np.stack([cv2.imread(path, cv2.IMREAD_UNCHANGED) for path in bunch.data])
    assert pixels.shape == (1500, 41, 41)
    _, of_pixels = np.unique(pixels.reshape(1500, -1), axis=0, return_inverse=True)
    groups = bunch.groups
    assert_array_equal(groups[:, None] == groups, of_pixels[:, None] == of_pixels)
    copied = np.flatnonzero(np.bincount(groups)[groups] > 1)
    assert len(copied) == 6
    assert_array_equal(bunch.target[copied], 1)


def test_fmd():
    trees.real("fmd", "image")
    bunch = datasets.fetch_fmd(trees.SHARED, download_if_missing=False)
    assert_array_equal(np.bincount(bunch.target), np.full(10, 100))
    for image, mask, file in zip(bunch.data, bunch.masks, bunch.files, strict=True):
        assert image.endswith(f"image/{file}")
        assert mask.endswith(f"mask/{file}")
    cv2 = pytest.importorskip("cv2")
    for row in (0, 123, 999):
        shapes = {cv2.imread(path[row]).shape for path in (bunch.data, bunch.masks)}
        assert shapes == {(384, 512, 3)}


def test_scene15_through_both_doors():
    folder = trees.real("scene15")
    bunch = datasets.fetch_scene15(trees.SHARED)
    assert (len(bunch.train), len(bunch.test)) == (1498, 750)
    assert len(bunch.target_names) == 15
    indoor = datasets.fetch_mit_indoor(folder)
    assert indoor.data == bunch.data
    assert_array_equal(indoor.target, bunch.target)
    for path, label in zip(bunch.data, bunch.target, strict=True):
        assert Path(path).parent.name == bunch.target_names[label]
    on_disk = sum(1 for _ in (folder / "Images").glob("*/*"))
    assert len(bunch.data) == on_disk


def test_voc_words():
    trees.real("voc2007", "six_class_bow.mat")
    X, y = datasets.fetch_voc2007_words(trees.SHARED, return_X_y=True)
    assert X.shape == (1530, 240)
    assert_array_equal(np.unique(y), np.arange(6))
    assert len(datasets.fetch_voc2007_words(trees.SHARED).target_names) == 6
