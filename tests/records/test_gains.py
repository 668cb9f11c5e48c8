"""Gains over controls: paired, and only where both were run."""

import numpy as np
import pytest

from helpers import records
from kernelcoding.records import gain_over, gains_of, tables_of
from kernelcoding.records.parsing import result_of


def results(method, values, **changes):
    lines = [records.result("x", "t", method, s, v, **changes) for s, v in values.items()]
    return [result_of(line, "") for line in lines]


def test_paired_differences_against_numpy(rng):
    ours, control = rng.normal(80, 3, size=(2, 6))
    gain = gain_over(
        results("a", dict(enumerate(ours))),
        results("a, control", dict(reversed([*enumerate(control)]))),  # in any order
    )
    differences = ours - control
    assert gain.mean == pytest.approx(differences.mean(), rel=1e-12)
    assert gain.error == pytest.approx(differences.std(ddof=1) / np.sqrt(6), rel=1e-12)
    assert gain.count == 6


def test_splits_that_one_of_them_lacks_do_not_count():
    ours = results("a", {0: 90.0, 1: 91.0, 2: None, 3: 99.0})
    control = results("a, control", {0: 89.0, 1: 89.0, 2: 50.0, 4: 10.0})
    gain = gain_over(ours, control)
    assert (gain.mean, gain.count) == (1.5, 2)
    assert gain.error == pytest.approx(0.5)  # of differences 1 and 2
    assert gain_over(ours[:1], control).error is None
    assert gain_over(ours[3:], control) is None
    assert gain_over(results("a", {0: 1.7e308}), results("b", {0: -1.7e308})) is None


def test_rows_find_their_controls_at_their_number_of_atoms():
    shift = {50: 1.0, 100: 3.0}
    found = [
        result
        for size, more in shift.items()
        for name, value in {"a": 80.0 + more, "plain": 80.0, "b": 70.0}.items()
        for result in results(
            name, {0: value}, size=size, control_of="a" if name == "plain" else None
        )
    ]
    rows = tables_of(found)["t"]
    gains = {(r.method, r.size): g and g.mean for r, g in zip(rows, gains_of(rows), strict=True)}
    assert gains == {
        ("a", 50): 1.0, ("a", 100): 3.0, ("plain", 50): None, ("plain", 100): None,
        ("b", 50): None, ("b", 100): None,
    }  # fmt: skip
