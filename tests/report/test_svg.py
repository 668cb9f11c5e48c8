"""Scales and ticks of charts."""

import math
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernelcoding.report.svg import AxisScale, padded, round_numbers

LARGEST, LEAST = sys.float_info.max, 5e-324


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


def test_ticks_of_tiny_numbers_differ():
    ticks = round_numbers(1e-20, 9e-20, 5)
    np.testing.assert_allclose(ticks, 1e-20 * np.array([2.0, 4, 6, 8]), rtol=1e-12)


def check_scale(values, logarithmic):
    low, high = padded(min(values), max(values), logarithmic)
    scale = AxisScale(low, high, 0.0, 100.0, logarithmic)
    places = [scale(value) for value in sorted(values)]
    ticks = scale.ticks()
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)
    assert all(later >= before - 1e-6 for before, later in pairwise(places))
    assert 1 <= len(ticks) <= 20
    assert all(math.isfinite(tick) and -1.0 <= scale(tick) <= 101.0 for tick in ticks)


@given(st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=4))
@example([1e308, -1e308])
@example([LARGEST, -LARGEST])
@example([LARGEST])
@example([1e308, 1.0000000000000002e308])
@example([LEAST, 0.0])
@example([1e-310, 1e308])
def test_scales_hold_any_floats(values):
    check_scale(values, logarithmic=False)


@given(st.lists(st.floats(LEAST, LARGEST), min_size=1, max_size=4))
@example([1e308, 1e-308])
@example([LARGEST, LEAST])
@example([LARGEST])
@example([LEAST])
@example([1e308, 9e307, 8e305])
def test_scales_of_logarithms_hold_any_positive_floats(values):
    check_scale(values, logarithmic=True)
