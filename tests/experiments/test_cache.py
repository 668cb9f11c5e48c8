"""Arrays beside the records: computed once for what they depend on."""

import os

import numpy as np
import pytest

from kernelcoding.experiments.cache import Cache, identities


def test_arrays_are_computed_once_for_what_they_depend_on(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return np.arange(6.0).reshape(2, 3) + len(calls)

    cache = Cache(tmp_path / "cache")
    first = cache.array("words", ["a", "b"], compute)
    np.testing.assert_array_equal(cache.array("words", ["a", "b"], compute), first)
    assert len(calls) == 1
    assert not (cache.array("words", ["ab"], compute) == first).any()
    with pytest.raises(ZeroDivisionError):
        cache.array("words", ["c"], lambda: 1 / 0)
    assert len(list((tmp_path / "cache").iterdir())) == 2  # nothing half-made is left


def test_a_changed_file_is_another_dependency(tmp_path):
    file = tmp_path / "image.png"
    file.write_bytes(b"1")
    before = identities([str(file)])
    assert identities([str(file)]) == before
    file.write_bytes(b"22")
    assert identities([str(file)]) != before
    os.utime(file, ns=(1, 1))
    assert identities([str(file)]) == [f"{tmp_path.name}/image.png 2 1"]


def test_other_pixels_are_another_dependency(rng):
    pixels = rng.integers(0, 256, (4, 6, 5), dtype=np.uint8)
    assert identities(pixels) == identities(pixels.copy())
    others = pixels.copy()
    others[-1, 2, 3] ^= 1
    variants = (others, pixels.reshape(4, 5, 6), pixels.view(np.int8))
    assert len({identities(one)[0] for one in (pixels, *variants)}) == 4
