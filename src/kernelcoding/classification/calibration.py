"""Probabilities from scores, calibrated on samples that the classifier was not fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from .labels import Labels

CERTAIN = 20.0  # log odds of a label that all samples or none have


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
        self.sigmoids: list[tuple[float, float]] = []  # slope and intercept, class by class
        if labels.multilabel:
            self.sigmoids = [
                _sigmoid(scores[:, j], labels.members[:, j]) for j in range(scores.shape[1])
            ]
        else:
            self.temperature = temperature(scores, labels.members)

    def probabilities(self, scores: NDArray) -> NDArray:
        """Probabilities of the classes, (n, S)."""
        if not self.labels.multilabel:
            return softmax(self.temperature * scores, axis=1)
        slopes, intercepts = np.array(self.sigmoids).T
        return expit(scores * slopes + intercepts)


def temperature(scores: NDArray, members: NDArray, smoothing: bool = False) -> float:
    """The factor that makes the labels most likely.

    Parameters
    ----------
    scores : array of shape (n, S)
    members : array of shape (n, S)
        True at the class of each sample.
    smoothing : bool, default=False
        Whether one more sample, which all classes share, is counted: samples that are all
        classified rightly then do not make the factor as large as can be (as in Platt's sigmoids).
    """
    n_samples = len(scores)

    def loss(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * scores, axis=1)
        total = -float(np.sum(logs[members]))
        return (total - smoothing * float(np.mean(logs))) / n_samples

    scale = float(np.std(scores)) or 1.0
    centre = -np.log(scale)
    found = minimize_scalar(loss, bounds=(centre - 5.0, centre + 7.0), method="bounded")
    return float(np.exp(found.x))


def _sigmoid(scores: NDArray, members: NDArray) -> tuple[float, float]:
    """Platt's sigmoid; a constant where all samples agree."""
    if members.all() or not members.any():
        return 0.0, CERTAIN if members[0] else -CERTAIN
    from sklearn.linear_model import LogisticRegression

    scale = float(np.std(scores)) or 1.0
    model = LogisticRegression(C=1e3).fit(scores[:, None] / scale, members)
    return float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
