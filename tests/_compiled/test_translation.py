"""Short code for records and arrays means what Python means."""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kernelcoding._compiled import jit

pytestmark = pytest.mark.skipif(
    not hasattr(jit.njit(lambda: 0), "py_func"), reason="nothing is compiled"
)
COMPILERS = {"jit", "linking", "translation"}  # Python themselves
SOURCES = sorted(
    path for path in Path(jit.__file__).parent.glob("*.py") if path.stem not in COMPILERS
)


class Pair(NamedTuple):
    """A record with arrays and without."""

    vector: np.ndarray
    matrix: np.ndarray
    turned: bool
    scale: float


def by_hand(pair, first, last):
    """What :func:`compiled_sum` computes, by Python."""
    pair.vector[0] += 1.0
    pair.matrix[1, 2] = 7
    other = Pair(pair.matrix[1], pair.matrix, not pair.turned, 2.0)
    total = sums(pair, first, last) + 10.0 * sums(other, first, last)
    pair = other
    return total + pair.scale + pair.vector.size


def sums(pair, first, last):
    """Numbers that are different for every mistake in an index."""
    parts = (
        pair.vector[first:last],
        pair.vector[first:],
        pair.matrix[1],
        pair.matrix[2, first:last],
    )
    total = pair.scale if pair.turned else 0.0
    for place, one in enumerate(parts):
        weights = np.arange(1.0, one.size + 1.0) * (place + 1)
        total += float((one * weights).sum()) + 100.0 * one.size
    return total


@pytest.fixture(scope="module")
def compiled_sum():
    """A function that Python calls, with a record, and parts that hand records on."""

    @jit.part(_nrt=False)
    def weighted(vector, factor):
        total = 100.0 * vector.size
        for i in range(vector.size):
            total += vector[i] * (i + 1.0) * factor
        return total

    @jit.part(_nrt=False)
    def sum_up(pair, first, last):
        total = pair.scale if pair.turned else 0.0
        total += weighted(pair.vector[first:last], 1.0) + weighted(pair.vector[first:], 2.0)
        return total + weighted(pair.matrix[1], 3.0) + weighted(pair.matrix[2, first:last], 4.0)

    @jit.part
    def other_pair(pair):
        return Pair(pair.matrix[1], pair.matrix, not pair.turned, 2.0)

    @jit.part
    def both(pair, first, last):
        pair.vector[0] += 1.0
        pair.matrix[1, 2] = 7
        other = other_pair(pair)
        total = sum_up(pair, first, last) + 10.0 * sum_up(other, first, last)
        pair = other
        return total + pair.scale + pair.vector.size

    @jit.compiled
    def whole(pair, first, last):
        return both(pair, first, last)

    return whole


@pytest.mark.parametrize(
    ("first", "last"), [(0, 3), (1, 1), (2, 1), (1, 9), (4, 4), (5, 5), (4, 9)]
)
def test_records_and_indices_mean_what_they_mean_in_python(compiled_sum, first, last):
    def pair():
        rng = np.random.default_rng(0)
        return Pair(rng.random(5), rng.random((3, 5)), True, 0.5)

    ours, theirs = pair(), pair()
    assert compiled_sum(ours, first, last) == pytest.approx(by_hand(theirs, first, last), rel=1e-12)
    np.testing.assert_array_equal(ours.vector, theirs.vector)
    np.testing.assert_array_equal(ours.matrix, theirs.matrix)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_nobody_counts_from_the_end(source):
    """An index below zero would be an address before the array."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Subscript):
            for part in ast.walk(node.slice):
                assert not (
                    isinstance(part, ast.UnaryOp)
                    and isinstance(part.op, ast.USub)
                    and isinstance(part.operand, ast.Constant)
                ), f"{source.name}:{node.lineno}"
