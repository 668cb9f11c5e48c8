"""One model with one choice of settings, judged on samples that it was not fitted to."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from sklearn.base import ClassifierMixin

from .choices import Setting
from .folds import Fold

ROUNDING = 1e-9
Build = Callable[[int], ClassifierMixin]  # of the number of training samples


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model did: the part of right labels in every fold, or why it failed."""

    scores: tuple[float, ...]
    seconds: float
    n_judged: int  # labels that were compared
    failure: str = ""

    @property
    def mean(self) -> float:
        """Part of right labels; a model that failed has none."""
        return fmean(self.scores) if self.scores else -1.0

    @property
    def spread(self) -> float:
        """Standard deviation over folds; with one fold, that of a proportion."""
        if len(self.scores) > 1:
            return stdev(self.scores)
        p = max(self.mean, 0.0)
        return float(np.sqrt(p * (1 - p) / max(self.n_judged, 1)))

    def is_told_from(self, other: Trial) -> bool:
        """Whether the same folds say which is better: by more than one standard error.

        One fold, or others, cannot say that two are equal.
        """
        if len(self.scores) < 2 or len(self.scores) != len(other.scores):
            return True
        gaps = [a - b for a, b in zip(self.scores, other.scores, strict=True)]
        return abs(fmean(gaps)) > stdev(gaps) / len(gaps) ** 0.5 + ROUNDING


def tried(build: Build, parts: list[Fold]) -> Trial:
    """Fit a model to every part and compare its labels with the truth.

    Parameters
    ----------
    build : callable
        The number of training samples to an estimator.
    parts : list of Fold
    """
    start, scores = time.perf_counter(), []
    n_judged = sum(len(part.truth) for part in parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what counts here are labels; the last fit says the rest
        try:
            for part in parts:
                model = build(len(part.y)).fit(part.X, part.y)
                scores.append(float(np.mean(model.predict(part.queries) == part.truth)))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return Trial((), time.perf_counter() - start, n_judged, str(error).split("\n")[0])
    return Trial(tuple(scores), time.perf_counter() - start, n_judged)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: a kind of model with its best settings."""

    name: str
    settings: Mapping[str, Setting]
    trial: Trial
    is_peer: bool = False
    at_edge: tuple[str, ...] = ()  # settings whose best value is the last that was tried
