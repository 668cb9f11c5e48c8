"""What estimators are given: samples, Gram matrices at a width, or stacks of Gram matrices.

Training and test part are kept apart: the search for settings is handed a `TrainingInputs`, in
which there is nothing of the test part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...kernels import Kernel
from ...kernels.widths import median_width


@dataclass(frozen=True, slots=True)
class TrainingInputs:
    """The training part at one width; ``pairwise``: rows and columns are samples."""

    values: NDArray
    pairwise: bool

    def fitted(self, rows: NDArray) -> NDArray:
        """What an estimator is fitted to."""
        return self.values[np.ix_(rows, rows)] if self.pairwise else self.values[rows]

    def asked(self, rows: NDArray, fitted: NDArray) -> NDArray:
        """What it is asked about, when it was fitted to ``fitted``."""
        return self.values[np.ix_(rows, fitted)] if self.pairwise else self.values[rows]


class SampleInputs:
    """Samples as they are."""

    def __init__(self, train: NDArray, test: NDArray):
        self.train, self.test = train, test

    def training(self, width: float | None) -> TrainingInputs:
        """The training samples."""
        return TrainingInputs(self.train, pairwise=False)

    def queries(self, width: float | None) -> NDArray:
        """The test samples."""
        return self.test


class GramInputs:
    """Gram matrices of one kernel: pair statistics once, the profile at every width."""

    def __init__(self, kernel: Kernel, train: NDArray, test: NDArray):
        self.kernel, self.train, self.test = kernel, train, test

    @cached_property
    def _prepared(self) -> Any:  # each family of kernels has its own form
        return self.kernel.prepare(self.train)

    @cached_property
    def _statistic(self) -> NDArray:
        return self.kernel.statistic(self._prepared, self._prepared)

    @cached_property
    def _unit(self) -> float:
        return median_width(self._statistic[np.triu_indices(len(self.train), 1)])

    def _at(self, width: float | None) -> Kernel:
        if width is None:
            return self.kernel
        return clone(self.kernel).set_params(gamma=width * self._unit)

    def training(self, width: float | None) -> TrainingInputs:
        """Similarities of training samples."""
        return TrainingInputs(self._at(width).profile(self._statistic), pairwise=True)

    def queries(self, width: float | None) -> NDArray:
        """Similarities of test samples to training samples."""
        kernel = self._at(width)
        statistic = kernel.statistic(kernel.prepare(self.test), self._prepared)
        return kernel.profile(statistic, overwrite=True)


class GramStackInputs:
    """Gram matrices of several kernels, each with the mean of its diagonal as unit."""

    def __init__(self, kernels: tuple[Kernel, ...], train: NDArray, test: NDArray):
        self.kernels = [kernel.resolve(train) for kernel in kernels]
        self.train, self.test = train, test

    @cached_property
    def _grams(self) -> list[NDArray]:
        return [kernel(self.train) for kernel in self.kernels]

    @cached_property
    def _units(self) -> NDArray:
        # The sigmoid kernel's diagonal may be negative: its size is what counts.
        return np.array([abs(np.diag(gram).mean()) for gram in self._grams])

    def training(self, width: float | None) -> TrainingInputs:
        """Similarities (m, m, kernels)."""
        return TrainingInputs(np.stack(self._grams, axis=2) / self._units, pairwise=True)

    def queries(self, width: float | None) -> NDArray:
        """Similarities (n, m, kernels)."""
        grams = [kernel(self.test, self.train) for kernel in self.kernels]
        return np.stack(grams, axis=2) / self._units


EstimatorInputs = SampleInputs | GramInputs | GramStackInputs


def inputs_for(
    kernel: Kernel | tuple[Kernel, ...] | None, train: NDArray, test: NDArray
) -> EstimatorInputs:
    """What the estimators of a method with this kernel, these kernels, or none are given.

    Parameters
    ----------
    kernel : Kernel, tuple of Kernel, or None
    train, test : arrays
        Samples.

    Returns
    -------
    inputs : SampleInputs, GramInputs or GramStackInputs
    """
    if kernel is None:
        return SampleInputs(train, test)
    if isinstance(kernel, tuple):
        return GramStackInputs(kernel, train, test)
    return GramInputs(kernel, train, test)
