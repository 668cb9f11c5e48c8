"""What an experiment is: data, splits, tables of methods. No computation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..kernels import Kernel
from .cache import Cache

PAPER = "Harandi and Salzmann, Kernel Coding: General Formulation and Special Cases"
Settings = Mapping[str, Any]  # one value per name: numbers mostly, of the type the name asks for
Space = Mapping[str, Sequence[Any]]  # the values to search, by name
Numbers = Mapping[tuple[str, int | None], float]  # by method and size, in percent
Folds = tuple[tuple[NDArray, NDArray], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Where data sets are, and how descriptors are computed from them."""

    data_home: str | os.PathLike[str] | None
    download: bool  # whether a missing set may be downloaded
    cache: Cache  # of descriptors
    n_jobs: int | None = None  # threads


@dataclass(frozen=True, slots=True)
class Dataset:
    """What all splits of an experiment share."""

    samples: Any  # array, or what the views make arrays of
    target: NDArray  # (n,) numbers of classes, or (n, S) 1 where a class is there
    names: tuple[str, ...]  # of the S classes
    ignored: NDArray | None = None  # (n, S), True: not counted when the class is scored
    groups: NDArray | None = None  # (n,), equal for samples that must not be separated
    pictures: Sequence[str] | NDArray | None = None  # n paths or arrays, to look at
    parts: Mapping[str, NDArray] = field(default_factory=dict)  # official lists, as indices


@dataclass(frozen=True, slots=True)
class Split:
    """Indices of samples; folds are positions in the training part."""

    number: int
    seed: int
    train: NDArray
    test: NDArray
    folds: Folds


@dataclass(frozen=True, slots=True)
class Splits:
    """A way of dividing the samples, a number of times."""

    count: int
    make: Callable[[Dataset, int], Split]


@dataclass(frozen=True, slots=True)
class Method:
    """How a value is computed.

    ``build(settings, n_atoms)`` makes an estimator from one point of the search space; with a
    ``head``, the estimator makes codes and ``head(settings)`` the classifier of codes. The entry
    ``width`` of the space is the kernel's, in units of one over the training part's median
    statistic. With a kernel, estimators get Gram matrices (a stack for several kernels), without
    one the samples of the view.
    """

    name: str
    build: Callable[[Settings, int], BaseEstimator]
    space: Space = field(default_factory=dict)
    kernel: Kernel | tuple[Kernel, ...] | None = None
    view: str = "samples"
    head: Callable[[Settings], BaseEstimator] | None = None
    head_space: Space = field(default_factory=dict)
    requires: str | None = None  # a package; without it the method is left out
    control_of: str | None = None  # the method of which this one is the control


@dataclass(frozen=True, slots=True)
class Table:
    """Methods to be compared, with the numbers of the paper by (method, size)."""

    name: str
    methods: tuple[Method, ...]
    splits: str = "splits"
    sizes: tuple[int | None, ...] = (None,)  # numbers of atoms; None: every training sample
    paper: Numbers = field(default_factory=dict)
    anchors: tuple[Method, ...] = ()  # beside curves: methods without a number of atoms

    def columns(self) -> Iterator[tuple[int | None, Method]]:
        """Every method at every size, then those that have none."""
        for size in self.sizes:
            for method in self.methods:
                yield size, method
        for method in self.anchors:
            yield None, method


@dataclass(frozen=True, slots=True)
class Cell:
    """One value to be computed."""

    table: Table
    method: Method
    size: int | None
    split: int

    @property
    def key(self) -> str:
        """What identifies the value in the file of records."""
        return f"{self.table.name}/{self.method.name}/{self.size}/{self.split}"

    @property
    def paper(self) -> float | None:
        """The number in the paper, if there is one."""
        return self.table.paper.get((self.method.name, self.size))


SampleView = Callable[[Dataset, Split], NDArray]  # how estimators see the samples


def raw_samples(dataset: Dataset, split: Split) -> NDArray:
    """The view that changes nothing."""
    return dataset.samples


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything a run needs to know."""

    name: str
    title: str
    protocol: str
    metric: str  # a name in metrics.METRICS
    load: Callable[[Request], Dataset]
    splits: Mapping[str, Splits]
    tables: tuple[Table, ...]
    views: Mapping[str, SampleView] = field(default_factory=lambda: {"samples": raw_samples})
    quick: bool = False

    def cells(self) -> Iterator[Cell]:
        """All values, split by split."""
        longest = max(family.count for family in self.splits.values())
        for split in range(longest):
            for table in self.tables:
                if split < self.splits[table.splits].count:
                    for size, method in table.columns():
                        yield Cell(table, method, size, split)


@dataclass(frozen=True, slots=True)
class Variants:
    """The full experiment and its small version."""

    full: Experiment
    quick: Experiment
