"""Fitting a model, and its answers about samples, with codes computed only once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier

from ...classification import ResidualClassifier
from ...codes import Codes
from .classifiers import Encoded, SampledAtoms
from .metrics import Answers, Metric
from .without_labels import LearnedWithoutLabels


def encoder_of(model: BaseEstimator) -> BaseEstimator | None:
    """The part of a model that makes codes, or None."""
    if isinstance(model, SampledAtoms):
        model = model.classifier_
    if isinstance(model, LearnedWithoutLabels):
        model = model.rule_
    if isinstance(model, ResidualClassifier):
        return model.coder_
    if isinstance(model, Encoded):
        return model.encoder_
    # Estimators that learn a dictionary with its classifier make codes themselves.
    return model if hasattr(model, "dictionary_") and hasattr(model, "transform") else None


def fit_to_the_end(model: BaseEstimator, X: NDArray, y: NDArray) -> BaseEstimator:
    """Fit a model, and refuse one whose fit was interrupted.

    Learning that is interrupted keeps its best dictionary, which is what an interactive user
    wants; as the result of an experiment it would be a wrong number.

    Parameters
    ----------
    model : estimator
    X, y : arrays
        Training samples and targets.

    Returns
    -------
    model : estimator

    Raises
    ------
    KeyboardInterrupt
        If learning was interrupted.
    """
    model.fit(X, y)
    parts = model.estimators_ if isinstance(model, OneVsRestClassifier) else [model]
    if any(getattr(encoder_of(part), "status_", None) == "interrupted" for part in parts):
        raise KeyboardInterrupt
    return model


def answers_with_codes(
    model: BaseEstimator, X: NDArray, metric: Metric, n_classes: int
) -> tuple[Answers, Codes | None]:
    """Answers, and the codes that led to them if the model looks at codes alone, else None.

    Parameters
    ----------
    model, X, metric, n_classes
        As in :func:`answers_of`.

    Returns
    -------
    answers : Answers
    codes : array of shape (n, n_atoms), or None
    """
    if isinstance(model, Encoded):
        codes = model.encoder_.transform(X)
        return answers_of(model.head_, codes, metric, n_classes), codes
    if isinstance(model, ResidualClassifier) and metric.wants == "predictions":
        codes = model.coder_.transform(X)
        return Answers(model.predict_from_codes(X, codes), None), codes
    return answers_of(model, X, metric, n_classes), None


def answers_of(model: BaseEstimator, X: Codes, metric: Metric, n_classes: int) -> Answers:
    """Predictions or scores of a fitted model, as the metric wants them.

    Parameters
    ----------
    model : fitted classifier
    X : array
        Samples, or codes of them.
    metric : Metric
    n_classes : int
        Classes of the data set, of which the model may have seen fewer.

    Returns
    -------
    answers : Answers
    """
    if metric.wants == "predictions":
        return Answers(model.predict(X), None)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    known = np.asarray(model.classes_)
    if scores.shape[1] == n_classes:
        return Answers(None, scores)
    everything = np.full((len(scores), n_classes), scores.min() - 1.0)
    everything[:, known] = scores
    return Answers(None, everything)
