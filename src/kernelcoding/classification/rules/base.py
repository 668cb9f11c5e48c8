r"""How a classifier of codes is fitted with the dictionary.

A rule adds to the coding objective of each sample a loss of scores f and targets l,

.. math:: \frac1M\sum_i \eta v_i\,\ell(l_i, f_i) + \text{penalty of the classifier},

with :math:`f = W^\top y + b` (linear, max-margin, logistic) or
:math:`f_j = \phi(x)^\top W_j y + b_j` (bilinear).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes
from ...component import Component
from ...dictionary_learning.frames import Frame
from ...selection import counting_rows
from ...validation import check_positive
from ..classifiers import Classifier
from ..losses.ridge import NOTHING

FOLDS = 5


@dataclass(frozen=True, slots=True)
class TrainingCodes:
    """All that a classifier is fitted to."""

    frame: Frame
    codes: Codes  # (M, N)
    targets: NDArray  # (M, S)
    sample_weight: NDArray  # (M,)
    eta: float
    intercept: bool
    rng: np.random.RandomState
    codes_of_landmarks: Callable[[], Codes]

    @property
    def per_sample(self) -> float:
        """The weight of one squared error in the mean objective."""
        return self.eta / len(self.targets)


class Rule(Component):
    """Squared loss; subclasses say which classifier.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Weight of the classifier's penalty. ``"auto"`` takes what predicts best when each training
        sample is left out in turn, once for the first codes and once for the last.
    fit_intercept : bool, default=True
        Whether scores have an intercept b, which costs nothing. The paper has none.
    class_weight : dict or "balanced", default=None
        Weight of the samples of each class in the loss; "balanced" is one over the number of these,
        or over the sum of their weights in ``fit``.
    refit : bool, default=True
        Whether the last classifier is fitted to codes that look at no labels.
    """

    signed = False  # whether targets are one and minus one
    adapts = False  # whether surrogate targets depend on scores
    exact_rounds = True  # whether classifiers are fitted exactly while atoms are learned

    def __init__(
        self,
        rho: float | str = "auto",
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        refit: bool = True,
    ) -> None:
        self.rho = rho
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.refit = refit

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        if self.rho != "auto":
            check_positive("rho", self.rho)

    def loss(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Loss of each sample, (n,)."""
        return 0.5 * np.sum((targets - scores) ** 2, axis=1)

    def surrogate_targets(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Where scores should move: half the squared distance bounds the loss, and is it here."""
        return targets

    def choose_rho(self, data: TrainingCodes) -> float:
        """The weight of the penalty that predicts best on samples left out."""
        raise NotImplementedError

    def fit(
        self,
        data: TrainingCodes,
        rho: float,
        before: Classifier | None = None,
        exact: bool = True,
    ) -> Classifier:
        """The classifier that minimises loss and penalty; given one, at least a better one."""
        raise NotImplementedError

    def fit_with_left_out(
        self, data: TrainingCodes, rho: float, exact: bool = True
    ) -> tuple[Classifier, NDArray]:
        """Both :meth:`fit` and :meth:`left_out`: they may share what is large."""
        return self.fit(data, rho, exact=exact), self.left_out(data, rho)

    def left_out(self, data: TrainingCodes, rho: float) -> NDArray:
        """Scores of samples by classifiers that were fitted without them, (M, S)."""
        n = len(data.targets)
        rows = counting_rows(n, data.sample_weight, above=NOTHING)
        folds = np.zeros(n, np.intp)
        folds[rows] = data.rng.permutation(len(rows)) % min(FOLDS, len(rows))
        scores = np.empty_like(data.targets)
        no_atoms = np.zeros((data.frame.dimension, 0))
        for fold in range(folds.max() + 1):
            sample_weight = np.where(folds == fold, NOTHING, data.sample_weight)
            other = self.fit(replace(data, sample_weight=sample_weight), rho, exact=False)
            for block in data.frame.blocks(no_atoms):
                out = np.flatnonzero(folds[block.rows] == fold)
                codes = data.codes[block.rows][out]
                scores[block.rows.start + out] = other.scores(codes, block.similarity[out])
        return scores
