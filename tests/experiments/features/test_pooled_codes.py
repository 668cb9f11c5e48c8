"""Pooled codes of patches, against coders of the library and pooling by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding import KernelLLC
from kernelcoding.experiments.cache import Cache
from kernelcoding.experiments.definition import Request
from kernelcoding.experiments.features.pooled_codes import (
    LOCAL,
    SPARSE,
    PooledCodes,
    pooled_codes,
)
from kernelcoding.experiments.features.training_images import drawn_descriptors
from kernelcoding.images import DenseRootSIFT
from kernelcoding.images.codebook import lloyd

pytest.importorskip("cv2")
SMALL = PooledCodes(LOCAL, 6, 8, (16.0,), (1, 2), n_samples=60, n_images=3)


@pytest.fixture
def request_of(tmp_path):
    return Request(None, False, Cache(tmp_path / "cache"))


@pytest.fixture
def images(tmp_path, rng):
    cv2 = pytest.importorskip("cv2")
    paths = [str(tmp_path / f"{number}.png") for number in range(5)]
    for path in paths:
        cv2.imwrite(path, rng.integers(0, 256, (48, 64), dtype=np.uint8))
    return paths


def test_local_codes_are_the_largest_of_each_cell(request_of, images):
    found = pooled_codes(request_of, SMALL, images, images, np.arange(3))
    extractor = DenseRootSIFT(step=8, scales=(16.0,))
    words = lloyd(np.concatenate(drawn_descriptors(extractor, images[:3], 60)), 6, 0)
    record = extractor.transform(images[-1:])[0]  # an image that words were not learned from
    codes = KernelLLC("linear", atoms=words).fit(words).transform(record.descriptors)
    below, right = ((record.positions + 0.5) / np.array([48, 64]) >= 0.5).T
    cells = [np.ones(len(record), bool), ~below & ~right, ~below & right, below & ~right]
    cells.append(below & right)
    expected = np.concatenate([codes[cell].max(axis=0) for cell in cells])
    assert_allclose(found[-1], expected / np.linalg.norm(expected), atol=1e-5)


def test_sparse_codes_are_of_learned_atoms_and_have_no_sign(request_of, images):
    found = pooled_codes(
        request_of, replace(SMALL, codes=SPARSE), images, images, np.arange(len(images))
    )
    assert found.shape == (5, 30)
    assert found.min() >= 0
    assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-5)
    whole, cells = found[:, :6], found[:, 6:].reshape(5, 4, 6)
    assert_allclose(whole, cells.max(axis=1))  # the largest of the image is that of a cell


def test_drawn_descriptors_are_the_same_again(images):
    extractor = DenseRootSIFT(step=8, scales=(16.0,))
    once, again = (drawn_descriptors(extractor, images, 20) for _ in range(2))
    assert [len(part) for part in once] == [4] * 5
    for one, other in zip(once, again, strict=True):
        assert_array_equal(one, other)
