"""What classifiers answer for one sample, for samples of Dask that are not computed yet."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..distributed.methods import RowAnswer
from .labels import Labels

DOUBLE = np.dtype(np.float64)


class Classifies(Protocol):
    """Knows its classes once it is fitted."""

    classes_: NDArray


class TakesIndicators(Classifies, Protocol):
    """Knows, too, whether a sample may have several labels."""

    _labels: Labels


def one_label(classifier: Classifies, dtype: np.dtype) -> RowAnswer:
    """One of the classes."""
    return RowAnswer((), classifier.classes_.dtype)


def class_scores(classifier: Classifies, dtype: np.dtype) -> RowAnswer:
    """A score per class; one number for two classes."""
    n_classes = len(classifier.classes_)
    return RowAnswer(() if n_classes == 2 else (n_classes,), DOUBLE)


def class_probabilities(classifier: Classifies, dtype: np.dtype) -> RowAnswer:
    """A probability per class."""
    return RowAnswer((len(classifier.classes_),), DOUBLE)


def labels_or_indicators(classifier: TakesIndicators, dtype: np.dtype) -> RowAnswer:
    """One of the classes, or an indicator per class."""
    if classifier._labels.multilabel:
        return RowAnswer((len(classifier.classes_),), np.dtype(int))
    return one_label(classifier, dtype)


def scores_of_labels(classifier: TakesIndicators, dtype: np.dtype) -> RowAnswer:
    """A score per class; one number for two classes that exclude each other."""
    answer = class_probabilities if classifier._labels.multilabel else class_scores
    return answer(classifier, dtype)
