"""Ways of dividing samples: random halves of the classes, folds, official lists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..definition import Dataset, Folds, Split

FOLD_SEED = 7


def stratified_folds(target: NDArray, n_folds: int, seed: int = FOLD_SEED) -> Folds:
    """Folds of a training part with one label per sample.

    Parameters
    ----------
    target : (m,) array
        Labels of the training part.
    n_folds : int
    seed : int

    Returns
    -------
    folds : tuple of (fitted, asked)
        Positions in the training part.
    """
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return tuple(folds.split(np.zeros(len(target)), target))


def halves(
    n_folds: int, n_train: int | None = None, first_seed: int = 0
) -> Callable[[Dataset, int], Split]:
    """Random halves of each class, or a number of samples of each.

    Parameters
    ----------
    n_folds : int
        Of the training part, for cross-validation.
    n_train : int, default=None
        Training samples per class; None is half of them.
    first_seed : int, default=0
        Seed of the first split.

    Returns
    -------
    make : callable of a data set and a number
    """

    def make(dataset: Dataset, number: int) -> Split:
        seed = first_seed + number
        rng = np.random.default_rng(seed)
        chosen = np.zeros(len(dataset.target), dtype=bool)
        for label in np.unique(dataset.target):
            own = np.flatnonzero(dataset.target == label)
            count = len(own) // 2 if n_train is None else min(n_train, len(own) - 1)
            chosen[rng.permutation(own)[:count]] = True
        train, test = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        folds = stratified_folds(dataset.target[train], n_folds)
        return Split(number, seed, train, test, folds)

    return make


def official(n_folds: int) -> Callable[[Dataset, int], Split]:
    """The lists ``train`` and ``test`` of a data set, cross-validation in the first.

    Parameters
    ----------
    n_folds : int

    Returns
    -------
    make : callable of a data set and a number
    """

    def make(dataset: Dataset, number: int) -> Split:
        train, test = dataset.parts["train"], dataset.parts["test"]
        return Split(
            number, number, train, test, stratified_folds(dataset.target[train], n_folds, number)
        )

    return make


def with_validation(dataset: Dataset, number: int) -> Split:
    """The lists ``train``, ``val`` and ``test``: settings are chosen on the second.

    Parameters
    ----------
    dataset : Dataset
    number : int

    Returns
    -------
    split : Split
        Training part: train and val; one fold.
    """
    first, second = dataset.parts["train"], dataset.parts["val"]
    positions = np.arange(len(first) + len(second))
    fold = (positions[: len(first)], positions[len(first) :])
    train = np.concatenate([first, second])
    return Split(number, number, train, dataset.parts["test"], (fold,))


def grouped_folds(
    numbers: Callable[[NDArray, NDArray, int, int], NDArray], n_splits: int, n_folds: int
) -> Callable[[Dataset, int], Split]:
    """Folds that keep groups together, and folds of the same kind within the training part.

    Parameters
    ----------
    numbers : callable
        ``numbers(target, groups, count, seed)`` is the fold of each sample.
    n_splits, n_folds : int
        Folds of all samples, and of a training part.

    Returns
    -------
    make : callable of a data set and a number
    """

    def make(dataset: Dataset, number: int) -> Split:
        assert dataset.groups is not None
        of_sample = numbers(dataset.target, dataset.groups, n_splits, 0)
        train, test = np.flatnonzero(of_sample != number), np.flatnonzero(of_sample == number)
        inner = numbers(dataset.target[train], dataset.groups[train], n_folds, FOLD_SEED)
        folds = tuple(
            (np.flatnonzero(inner != fold), np.flatnonzero(inner == fold))
            for fold in range(n_folds)
        )
        return Split(number, 0, train, test, folds)

    return make


def shuffled_folds(target: NDArray, groups: NDArray, count: int, seed: int) -> NDArray:
    """Random folds with the classes in equal parts.

    Parameters
    ----------
    target, groups : (n,) arrays
    count, seed : int

    Returns
    -------
    numbers : (n,) array
    """
    numbers = np.empty(len(target), dtype=int)
    folds = StratifiedKFold(count, shuffle=True, random_state=seed)
    for fold, (_, asked) in enumerate(folds.split(target, target)):
        numbers[asked] = fold
    return together(numbers, groups)


def contiguous_folds(target: NDArray, groups: NDArray, count: int, seed: int) -> NDArray:
    """Blocks of neighbouring files of each class.

    Parameters
    ----------
    target, groups : (n,) arrays
    count : int
    seed : int
        Not used: there is one such division.

    Returns
    -------
    numbers : (n,) array
    """
    numbers = np.empty(len(target), dtype=int)
    for label in np.unique(target):
        own = np.flatnonzero(target == label)
        numbers[own] = np.arange(len(own)) * count // len(own)
    return together(numbers, groups)


def together(numbers: NDArray, groups: NDArray) -> NDArray:
    """All members of a group in the fold of the first.

    Parameters
    ----------
    numbers, groups : (n,) arrays

    Returns
    -------
    numbers : (n,) array
    """
    _, first, of_group = np.unique(groups, return_index=True, return_inverse=True)
    return numbers[first][of_group]
