"""What a result leaves beside its number: pictures as text, nonzeros, time and memory."""

import base64

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from kernelcoding.experiments.running.artifacts import mean_nonzeros
from kernelcoding.experiments.running.png import data_uri
from kernelcoding.experiments.running.resource_usage import measured


@pytest.mark.parametrize("shape", [(30, 20), (30, 20, 3), (200, 130, 3)])
def test_pictures_survive_becoming_text(rng, shape):
    cv2 = pytest.importorskip("cv2")
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    uri = data_uri(pixels)
    head, text = uri.split(",")
    assert head == "data:image/png;base64"
    flag = cv2.IMREAD_GRAYSCALE if len(shape) == 2 else cv2.IMREAD_COLOR
    decoded = cv2.imdecode(np.frombuffer(base64.b64decode(text), np.uint8), flag)
    decoded = decoded if len(shape) == 2 else decoded[..., ::-1]
    if max(shape) <= 48:
        assert_array_equal(decoded, pixels)
    else:
        assert decoded.shape == (40, 26, 3)
        assert_array_equal(decoded[1, 2], pixels[5:10, 10:15].mean(axis=(0, 1)).round())


def test_pictures_that_cannot_be_read_are_none(tmp_path):
    assert data_uri(tmp_path / "missing.png") is None


def test_nonzeros_of_either_kind_of_codes(rng):
    codes = np.where(rng.random((6, 9)) < 0.4, 1.5, 0.0)
    assert mean_nonzeros(codes) == mean_nonzeros(sparse.csr_array(codes)) == (codes != 0).sum() / 6
    assert mean_nonzeros(None) is None


def test_memory_and_time_are_of_the_block_alone():
    with measured() as large:
        block = np.ones(40_000_000)
    del block
    with measured() as small:
        pass
    assert large.peak_memory_mb > 300
    assert 0 < large.seconds < 60
    assert small.peak_memory_mb < large.peak_memory_mb - 250 or small.peak_memory_mb is None
