"""Scores that are linear in a code: ridge regression, largest margin, logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..classifiers import Classifier, LinearClassifier
from ..losses import hinge, logistic, ridge
from .base import Rule, TrainingCodes

# Penalties of the hinge that are tried, in units of that of the squared error.
FACTORS = np.array([1.0, 10.0, 100.0, 1e3, 1e4])


class LinearRule(Rule):
    r"""Ridge regression on codes: half the squared error, :math:`\tfrac\rho2\|W\|^2`.

    Parameters
    ----------
    rho, fit_intercept, class_weight, refit
        As in :class:`~kernelcoding.classification.rules.base.Rule`.
    """

    def choose_rho(self, data: TrainingCodes) -> float:
        """By leaving out each sample in turn, in closed form."""
        regularization = ridge.best_regularization(
            data.codes, data.targets, data.sample_weight, data.intercept, data.rng
        )
        return regularization * data.per_sample

    def fit(
        self,
        data: TrainingCodes,
        rho: float,
        before: Classifier | None = None,
        exact: bool = True,
    ) -> LinearClassifier:
        """One linear system."""
        weights, bias = ridge.fit(
            data.codes, data.targets, data.sample_weight, rho / data.per_sample, data.intercept
        )
        return LinearClassifier(weights, bias, 0.5 * rho * float(np.sum(weights**2)))

    def left_out(self, data: TrainingCodes, rho: float) -> NDArray:
        """In closed form."""
        return ridge.left_out(
            data.codes, data.targets, data.sample_weight, rho / data.per_sample, data.intercept
        )


class MaxMarginRule(LinearRule):
    r"""Squared hinge of each class against the rest, :math:`\tfrac\rho2\|W\|^2`.

    Parameters
    ----------
    rho, fit_intercept, class_weight, refit
        As in :class:`~kernelcoding.classification.rules.base.Rule`.
    """

    signed = adapts = True
    left_out = Rule.left_out
    _minimise: Callable[..., tuple[NDArray, NDArray]] = staticmethod(hinge.fit)

    def choose_rho(self, data: TrainingCodes) -> float:
        """From the best for squared errors upwards, by the loss of samples left out.

        The hinge looks at few samples, and needs a larger penalty than a squared error.
        """
        best, rho = np.inf, super().choose_rho(data)
        seed = data.rng.randint(2**31 - 1)  # all are judged on the same folds
        for trial in rho * FACTORS:
            same = replace(data, rng=np.random.RandomState(seed))
            scores = self.left_out(same, trial)
            missed = float(data.sample_weight @ self.loss(scores, data.targets))
            if missed > best:
                break
            best, rho = missed, trial
        return float(rho)

    def loss(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Squares of what is missing to the margin."""
        return hinge.loss(scores, targets)

    def surrogate_targets(self, scores: NDArray, targets: NDArray) -> NDArray:
        """The margin, or where the scores are beyond it already."""
        return hinge.surrogate_targets(scores, targets)

    def quadratic(self, scores: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Curvatures of each loss, and minima of the parabolas that they look like, (n, S) each."""
        return hinge.quadratic(scores, targets)

    def fit(
        self,
        data: TrainingCodes,
        rho: float,
        before: Classifier | None = None,
        exact: bool = True,
    ) -> LinearClassifier:
        """Newton's method; a few cheap steps from the classifier before, or if these will do."""
        start = (before.weights, before.bias) if isinstance(before, LinearClassifier) else None
        weights, bias = self._minimise(
            data.codes,
            data.targets,
            data.sample_weight,
            rho / data.per_sample,
            data.intercept,
            start,
            exact and before is None,
        )
        return LinearClassifier(weights, bias, 0.5 * rho * float(np.sum(weights**2)))


class LogisticRule(MaxMarginRule):
    r"""Logistic loss of each class against the rest, :math:`\tfrac\rho2\|W\|^2`.

    Parameters
    ----------
    rho, fit_intercept, class_weight, refit
        As in :class:`~kernelcoding.classification.rules.base.Rule`.
    """

    _minimise = staticmethod(logistic.fit)

    def loss(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Four times the usual one."""
        return logistic.loss(scores, targets)

    def surrogate_targets(self, scores: NDArray, targets: NDArray) -> NDArray:
        """A step along the slope: the curvature is at most one."""
        return logistic.surrogate_targets(scores, targets)

    def quadratic(self, scores: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Parabolas of the same slope and curvature."""
        return logistic.quadratic(scores, targets)
