"""Scales and ticks of charts."""

import numpy as np
import pytest

from kernelcoding.report.svg import AxisScale, round_numbers


def test_scales_are_affine_in_the_value_or_its_logarithm():
    assert [AxisScale(10, 20, 0, 100)(v) for v in (10, 15, 20)] == [0, 50, 100]
    assert [AxisScale(1, 100, 50, 0, True)(v) for v in (1, 10, 100)] == pytest.approx([50, 25, 0])
    assert AxisScale(5, 5, 0, 100)(5) == 50


@pytest.mark.parametrize(("low", "high"), [(0, 1), (38.2, 61.7), (-3e-4, 2e-4), (1e5, 9e6)])
def test_ticks_are_round_and_inside(low, high):
    ticks = round_numbers(low, high, 5)
    assert 3 <= len(ticks) <= 7
    assert low <= ticks[0]
    assert ticks[-1] <= high
    step = ticks[1] - ticks[0]
    np.testing.assert_allclose(np.diff(ticks), step)
    assert np.isclose(step / 10 ** np.floor(np.log10(step * 1.0001)), [1, 2, 2.5, 5, 10]).any()


def test_logarithmic_ticks_are_one_two_five():
    assert AxisScale(0.9, 60, 0, 1, True).ticks() == [1, 2, 5, 10, 20, 50]
    assert AxisScale(1, 1e6, 0, 1, True).ticks() == [10.0**p for p in range(7)]
