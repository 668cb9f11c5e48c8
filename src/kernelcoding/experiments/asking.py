"""Fitting a model, and asking it about samples with its codes computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..classification import ResidualClassifier
from .metrics import Answers, Metric
from .models import Encoded, SampledAtoms


def encoder_of(model: Any) -> Any:
    """The part of a model that makes codes, or None."""
    if isinstance(model, SampledAtoms):
        model = model.classifier_
    if isinstance(model, ResidualClassifier):
        return model.coder_
    if isinstance(model, Encoded):
        return model.encoder_
    # Estimators that learn a dictionary with its classifier make codes themselves.
    return model if hasattr(model, "dictionary_") and hasattr(model, "transform") else None


def fit(model: Any, X: NDArray, y: NDArray) -> Any:
    """The model, fitted to the end.

    Learning that is interrupted keeps its best dictionary, which is what a user at the keyboard
    wants; as a result of an experiment it would be a wrong number.

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
    if getattr(encoder_of(model), "status_", None) == "interrupted":
        raise KeyboardInterrupt
    return model


def ask_with_codes(model: Any, X: NDArray, metric: Metric, n_classes: int) -> tuple[Answers, Any]:
    """Answers, and the codes that led to them if the model judges codes alone, else None.

    Parameters
    ----------
    model, X, metric, n_classes
        As in :func:`ask`.

    Returns
    -------
    answers : Answers
    codes : array of shape (n, n_atoms), or None
    """
    if isinstance(model, Encoded):
        codes = model.encoder_.transform(X)
        return ask(model.head_, codes, metric, n_classes), codes
    if isinstance(model, ResidualClassifier) and metric.wants == "predictions":
        codes = model.coder_.transform(X)
        return Answers(model.predict_from_codes(X, codes), None), codes
    return ask(model, X, metric, n_classes), None


def ask(model, X, metric: Metric, n_classes: int) -> Answers:
    """What a fitted model answers, as the metric wants it.

    Parameters
    ----------
    model : fitted classifier
    X : array
        Queries.
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
