"""Fashion-MNIST: the files of MNIST, packed or not."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers.trees import write
from kernelcoding import datasets

DEBIAN = Path("/usr/share/datasets/fashion-mnist")


def idx(values):
    """An array in MNIST's format."""
    head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return head + values.tobytes()


@pytest.fixture
def arrays(rng):
    sizes = {"train": 12, "t10k": 5}
    images = {part: rng.integers(0, 256, (n, 4, 3), dtype=np.uint8) for part, n in sizes.items()}
    labels = {part: rng.integers(0, 10, n).astype(np.uint8) for part, n in sizes.items()}
    return images, labels


def put(folder, arrays, pack=gzip.compress, ending=".gz"):
    images, labels = arrays
    for part in images:
        write(folder / f"{part}-images-idx3-ubyte{ending}", pack(idx(images[part])))
        write(folder / f"{part}-labels-idx1-ubyte{ending}", pack(idx(labels[part])))


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (bytes, "")])
@pytest.mark.parametrize("below", ["fashion_mnist", "fashion-mnist", ""])
def test_training_samples_come_first(tmp_path, arrays, pack, ending, below):
    put(tmp_path / below, arrays, pack, ending)
    bunch = datasets.fetch_fashion_mnist(tmp_path)
    images, labels = arrays
    assert_array_equal(bunch.images[bunch.train], images["train"])
    assert_array_equal(bunch.data[bunch.test], images["t10k"].reshape(5, 12))
    assert_array_equal(bunch.target[bunch.test], labels["t10k"])
    assert len(bunch.target_names) == 10
    X, y = datasets.fetch_fashion_mnist(tmp_path, return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)


def test_part_of_a_file_is_refused_by_name(tmp_path, arrays):
    put(tmp_path, arrays)
    name = tmp_path / "t10k-images-idx3-ubyte.gz"
    name.write_bytes(gzip.compress(idx(arrays[0]["t10k"])[:-1]))
    with pytest.raises(ValueError, match=r"got another or part of one: .*t10k-images"):
        datasets.fetch_fashion_mnist(tmp_path)


def test_the_debian_package():
    if not DEBIAN.exists():
        pytest.skip("the package dataset-fashion-mnist is not installed")
    bunch = datasets.fetch_fashion_mnist(DEBIAN)
    assert bunch.images.shape == (70_000, 28, 28)
    assert_array_equal(np.bincount(bunch.target[bunch.test]), 1000)
    assert bunch.target[0] == 9  # the first picture is an ankle boot
