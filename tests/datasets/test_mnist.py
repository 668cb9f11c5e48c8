"""MNIST and Fashion-MNIST: files of one format and the same names, packed or not."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers.trees import idx, idx_files
from kernelcoding import datasets

DEBIAN = Path("/usr/share/datasets/fashion-mnist")


@pytest.fixture
def arrays(rng):
    sizes = {"train": 12, "t10k": 5}
    images = {part: rng.integers(0, 256, (n, 4, 3), dtype=np.uint8) for part, n in sizes.items()}
    labels = {part: rng.integers(0, 10, n).astype(np.uint8) for part, n in sizes.items()}
    return images, labels


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (bytes, "")])
@pytest.mark.parametrize(
    ("name", "below"),
    [("fashion_mnist", "fashion_mnist"), ("fashion_mnist", "fashion-mnist"), ("fashion_mnist", ""),
     ("mnist", "mnist"), ("mnist", "")],
)  # fmt: skip
def test_training_samples_come_first(tmp_path, arrays, pack, ending, name, below):
    idx_files(tmp_path / below, *arrays, pack, ending)
    fetch = getattr(datasets, f"fetch_{name}")
    bunch = fetch(tmp_path)
    images, labels = arrays
    assert_array_equal(bunch.images[bunch.train], images["train"])
    assert_array_equal(bunch.data[bunch.test], images["t10k"].reshape(5, 12))
    assert_array_equal(bunch.target[bunch.test], labels["t10k"])
    assert len(bunch.target_names) == 10
    X, y = fetch(tmp_path, return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)


def test_part_of_a_file_is_refused_by_name(tmp_path, arrays):
    idx_files(tmp_path, *arrays, gzip.compress, ".gz")
    name = tmp_path / "t10k-images-idx3-ubyte.gz"
    name.write_bytes(gzip.compress(idx(arrays[0]["t10k"])[:-1]))
    with pytest.raises(ValueError, match=r"got another or part of one: .*t10k-images"):
        datasets.fetch_fashion_mnist(tmp_path)


def test_each_set_refuses_the_files_of_the_other(tmp_path):
    """Names and sizes are the same; of clothes each class has as many test pictures."""
    even = np.repeat(np.arange(10), 1000).astype(np.uint8)
    uneven = even.copy()
    uneven[0] = 1
    images = {part: np.zeros((n, 1, 1), np.uint8) for part, n in (("train", 12), ("t10k", 10_000))}
    cases = (("mnist", "fashion_mnist", even), ("fashion_mnist", "mnist", uneven))
    for name, other, labels in cases:
        idx_files(tmp_path / name, images, {"train": even[:12], "t10k": labels})
        with pytest.raises(ValueError, match=f"has the files of {other}, not of {name}"):
            getattr(datasets, f"fetch_{name}")(tmp_path / name)
        assert len(getattr(datasets, f"fetch_{other}")(tmp_path / name).data) == 10_012


def test_the_debian_package():
    if not DEBIAN.exists():
        pytest.skip("the package dataset-fashion-mnist is not installed")
    bunch = datasets.fetch_fashion_mnist(DEBIAN)
    assert bunch.images.shape == (70_000, 28, 28)
    assert_array_equal(np.bincount(bunch.target[bunch.test]), 1000)
    assert bunch.target[0] == 9  # the first picture is an ankle boot
