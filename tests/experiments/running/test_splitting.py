"""Ways of dividing samples: every sample once, copies together, official lists as they are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelcoding.experiments.definition import Dataset
from kernelcoding.experiments.running.splitting import (
    contiguous_folds,
    grouped_folds,
    halves,
    official,
    shuffled_folds,
    with_validation,
)


def check_partition(split, n):
    assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(n))
    for fitted, asked in split.folds:
        assert_array_equal(np.sort(np.concatenate([fitted, asked])), np.arange(len(split.train)))


def test_halves_are_halves_of_every_class():
    y = np.repeat(np.arange(5), [10, 12, 9, 20, 11])
    dataset = Dataset(np.zeros((62, 1)), y, tuple("abcde"))
    splits = [halves(3)(dataset, number) for number in range(4)]
    for split in splits:
        check_partition(split, 62)
        assert_array_equal(np.bincount(y[split.train]), [5, 6, 4, 10, 5])
        asked = np.sort(np.concatenate([fold[1] for fold in split.folds]))
        assert_array_equal(asked, np.arange(30))
    assert len({split.train.tobytes() for split in splits}) == 4
    assert_array_equal(halves(3)(dataset, 2).train, splits[2].train)
    assert_array_equal(np.bincount(y[halves(3, 7)(dataset, 0).train]), np.full(5, 7))


@pytest.mark.parametrize("numbers", [shuffled_folds, contiguous_folds])
def test_folds_keep_copies_together_and_classes_balanced(numbers):
    y = np.repeat(np.arange(3), 40)
    groups = np.arange(120)
    groups[[7, 33]] = 7
    groups[[50, 61, 79]] = 50
    dataset = Dataset(np.zeros((120, 1)), y, tuple("abc"), groups=groups)
    make = grouped_folds(numbers, 10, 4)
    tests = []
    for number in range(10):
        split = make(dataset, number)
        check_partition(split, 120)
        assert not set(groups[split.train]) & set(groups[split.test])
        assert abs(np.bincount(y[split.test], minlength=3) - 4).max() <= 2
        inner = groups[split.train]
        for fitted, asked in split.folds:
            assert not set(inner[fitted]) & set(inner[asked])
        tests.append(split.test)
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(120))


def test_contiguous_folds_are_blocks():
    y = np.repeat(np.arange(2), 20)
    assert_array_equal(contiguous_folds(y, np.arange(40), 5, 0), np.tile(np.repeat(range(5), 4), 2))
    assert (np.diff(shuffled_folds(y, np.arange(40), 5, 0)) < 0).any()


def test_official_lists_are_taken_as_they_are():
    parts = {"train": np.array([4, 0, 2, 5]), "val": np.array([1, 3]), "test": np.array([7, 6])}
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    dataset = Dataset(np.zeros((8, 1)), y, ("a", "b"), parts=parts)
    split = official(2)(dataset, 0)
    assert_array_equal(split.train, parts["train"])
    assert_array_equal(split.test, parts["test"])
    split = with_validation(dataset, 0)
    assert_array_equal(split.train, [4, 0, 2, 5, 1, 3])
    ((fitted, asked),) = split.folds
    assert_array_equal(split.train[fitted], parts["train"])
    assert_array_equal(split.train[asked], parts["val"])
