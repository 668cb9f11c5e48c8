"""Samples in blocks: every row once, in order, with what goes beside it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelcoding.blocks import ArrayBlocks, Worst, as_blocks


def seen(block, factor):
    return [(block.rows, factor * block.samples, block.beside)]


@pytest.mark.parametrize("step", [None, 1, 3, 7, 100])
def test_every_row_is_visited_once_and_in_order(step, rng):
    X, weight = rng.normal(size=(7, 2)), rng.uniform(size=7)
    blocks = ArrayBlocks(X, first=40)
    found = blocks.map_reduce(seen, (2.0,), list.__add__, (weight, None), step)
    assert_array_equal(np.vstack([samples for _, samples, _ in found]), 2.0 * X)
    assert_array_equal(np.concatenate([beside[0] for *_, beside in found]), weight)
    assert all(beside[1] is None for *_, beside in found)
    rows = np.concatenate([np.arange(rows.start, rows.stop) for rows, *_ in found])
    assert_array_equal(rows, 40 + np.arange(7))
    assert all(len(samples) <= (step or 7) for _, samples, _ in found)


def test_answers_are_merged_from_the_left():
    answer = ArrayBlocks(np.arange(6.0)).map_reduce(
        lambda block: str(int(block.samples[0])), (), lambda left, right: f"({left}{right})", (), 2
    )
    assert answer == "((02)4)"


def test_memory_maps_are_read_block_by_block(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(12.0).reshape(6, 2))
    mapped = as_blocks(np.load(tmp_path / "X.npy", mmap_mode="r"))
    kinds = mapped.map_reduce(lambda block: {type(block.samples)}, (), set.union, (), 2)
    assert kinds == {np.ndarray}
    assert_array_equal(mapped[np.array([5, 0])], [[10.0, 11.0], [0.0, 1.0]])
    assert as_blocks(mapped) is mapped


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_the_worst_samples_of_two_parts_are_the_worst_of_all(cut, rng):
    errors = rng.integers(4, size=10) / 3.0  # many are equal: the first rows count
    samples = rng.normal(size=(10, 2))
    order = sorted(range(10), key=lambda row: (-errors[row], row))[:5]
    parts = [
        Worst.of(errors[:cut], 5, 0, samples[:cut]),
        Worst.of(errors[cut:], 5, cut, samples[cut:]),
    ]
    for left, right in (parts, parts[::-1]):
        found = left.merged(right, 5)
        assert_array_equal(found.rows, order)
        assert_array_equal(found.errors, errors[order])
        assert_array_equal(found.samples, samples[order])
