"""Probabilities from scores, calibrated on samples that the classifier was not fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from .labels import Labels


class Calibration:
    """How scores become probabilities.

    Parameters
    ----------
    labels : Labels
        Of the training samples.
    scores : array of shape (M, S)
        Of the training samples, by classifiers that were fitted without them.
    """

    def __init__(self, labels: Labels, scores: NDArray):
        self.labels = labels
        self.temperature = 1.0
        self.sigmoids: list[LogisticRegression | float] = []
        if labels.multilabel:
            self.sigmoids = [
                _sigmoid(scores[:, j], labels.members[:, j]) for j in range(scores.shape[1])
            ]
        else:
            self.temperature = _temperature(scores, labels.members)

    def probabilities(self, scores: NDArray) -> NDArray:
        """Probabilities of the classes, (n, S)."""
        if not self.labels.multilabel:
            return softmax(self.temperature * scores, axis=1)
        columns = [
            np.full(len(scores), known)
            if isinstance(known, float)
            else known.predict_proba(column[:, None])[:, 1]
            for known, column in zip(self.sigmoids, scores.T, strict=True)
        ]
        return np.column_stack(columns)


def _temperature(scores: NDArray, members: NDArray) -> float:
    """The factor that makes the labels most likely."""

    def loss(log_factor: float) -> float:
        return -float(np.mean(log_softmax(np.exp(log_factor) * scores, axis=1)[members]))

    scale = float(np.std(scores)) or 1.0
    centre = -np.log(scale)
    found = minimize_scalar(loss, bounds=(centre - 5.0, centre + 7.0), method="bounded")
    return float(np.exp(found.x))


def _sigmoid(scores: NDArray, members: NDArray) -> LogisticRegression | float:
    """Platt's sigmoid; a constant where all samples agree."""
    if members.all() or not members.any():
        return float(members[0])
    scale = float(np.std(scores)) or 1.0
    return LogisticRegression(C=1e3 / scale**2).fit(scores[:, None], members)
