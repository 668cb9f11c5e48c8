"""Parts of the samples that models are fitted to and judged on, prepared once for all models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.model_selection import (
    GroupShuffleSplit,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    train_test_split,
)

if TYPE_CHECKING:
    import pandas as pd

Samples: TypeAlias = "NDArray | pd.DataFrame"
N_FOLDS = {"quick": 3, "full": 5}
FEW_SAMPLES = 500  # with fewer, five folds are cheap and three are too rough
VERY_FEW_SAMPLES, REPEATS = 200, 3  # with so few, one sample more decides between models
TEST_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Task:
    """Samples, labels, what is done to samples first, and which of them belong together.

    Attributes
    ----------
    X : array or data frame
    y : array
    preparation : transformer or None
        Not fitted; fitted to the training part of every fold.
    groups : array or None
        Samples of one group are never on both sides.
    seed : int
    """

    X: Samples
    y: NDArray
    preparation: TransformerMixin | None = None
    groups: NDArray | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, rows: NDArray) -> Task:
        """Some of the samples."""
        groups = None if self.groups is None else self.groups[rows]
        return Task(taken(self.X, rows), self.y[rows], self.preparation, groups, self.seed)

    def prepared(self, train: NDArray, test: NDArray) -> Fold:
        """One part to learn from and one to be judged on, as models take them."""
        known, new = taken(self.X, train), taken(self.X, test)
        if self.preparation is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # categories that only the other part has
                transformer = clone(self.preparation)
                known, new = transformer.fit_transform(known), transformer.transform(new)
        return Fold(np.asarray(known), self.y[train], np.asarray(new), self.y[test])


@dataclass(frozen=True, slots=True)
class Fold:
    """Samples as models take them."""

    X: NDArray
    y: NDArray
    queries: NDArray
    truth: NDArray


def taken(X: Samples, rows: NDArray | slice) -> Samples:
    """Rows of an array or a table."""
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def drawn(task: Task, n_samples: int) -> Task:
    """At most so many samples, classes in proportion; every class keeps two where it has them."""
    if len(task) <= n_samples:
        return task
    rng = np.random.default_rng(task.seed)
    _, numbers = np.unique(task.y, return_inverse=True)
    order = rng.permutation(len(task))
    rank = np.empty(len(task), dtype=np.int64)  # of a sample within its class, in random order
    for label in range(numbers.max() + 1):
        members = order[numbers[order] == label]
        rank[members] = np.arange(len(members))
    share = rank / np.bincount(numbers)[numbers]
    first = np.lexsort((share, rank >= 2))[:n_samples]
    return task.rows(np.sort(first))


def folds(task: Task, effort: str) -> list[Fold]:
    """Stratified folds, fewer where classes or groups are small."""
    return [task.prepared(*parts) for parts in _splits(task, effort)]


def one_split(task: Task) -> Fold:
    """One stratified split, for comparisons that are not searches."""
    return task.prepared(*split_rows(task))


def split_rows(task: Task) -> tuple[NDArray, NDArray]:
    """Rows of one stratified split: three quarters, and one."""
    if task.groups is not None:
        splitter = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=task.seed)
        return next(splitter.split(task.y, task.y, task.groups))
    counts = np.unique(task.y, return_counts=True)[1]
    stratify = task.y if counts.min() >= 2 else None
    return train_test_split(
        np.arange(len(task)), test_size=TEST_SHARE, random_state=task.seed, stratify=stratify
    )


def _splits(task: Task, effort: str) -> Iterator[tuple[NDArray, NDArray]]:
    counts = np.unique(task.y, return_counts=True)[1]
    wanted = N_FOLDS["full"] if len(task) <= FEW_SAMPLES else N_FOLDS[effort]
    if counts.max() < 2:
        raise ValueError(
            "Every label occurs once, so that nothing can be left out to judge a model by. Is "
            "this the column of labels? --search none fits a model without judging it."
        )
    n_folds = min(wanted, max(2, int(counts.min())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer samples than folds is in some of them
        if task.groups is None:
            repeats = REPEATS if len(task) <= VERY_FEW_SAMPLES else 1
            splitter = RepeatedStratifiedKFold(
                n_splits=n_folds, n_repeats=repeats, random_state=task.seed
            )
            yield from splitter.split(np.zeros(len(task)), task.y)
            return
        n_groups = np.unique(task.groups).size
        if n_groups < 2:
            raise ValueError("--groups: all rows are of one group, and none can be left out.")
        grouped = StratifiedGroupKFold(min(n_folds, n_groups), shuffle=True, random_state=task.seed)
        yield from grouped.split(np.zeros(len(task)), task.y, task.groups)
