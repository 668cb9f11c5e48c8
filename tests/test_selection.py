"""The compiled selection is a stable sort, cut short."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelcoding.selection import smallest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [1, 2, 5, 10, 33, 64, 100, 200])
def test_smallest_is_a_stable_sort(rng, dtype, n_smallest):
    smooth = rng.normal(size=(130, 100)).astype(dtype)
    for scores in (smooth, np.round(smooth), np.sort(smooth)[:, ::-1], np.zeros_like(smooth)):
        expected = np.argsort(scores, axis=1, kind="stable")[:, :n_smallest]
        assert_array_equal(smallest(scores, n_smallest), expected)


def test_the_lower_index_comes_first_among_equals():
    scores = np.array([[2.0, 1.0, 2.0, 1.0, 3.0], [5.0, 5.0, 5.0, 5.0, 5.0]])
    assert_array_equal(smallest(scores, 3), [[1, 3, 0], [0, 1, 2]])
    assert_array_equal(smallest(scores, 9), [[1, 3, 0, 2, 4], [0, 1, 2, 3, 4]])
