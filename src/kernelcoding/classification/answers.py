"""What classifiers answer for one sample, for samples of Dask that are not computed yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..distributed.methods import RowAnswer

DOUBLE = np.dtype(np.float64)


def one_label(classifier: Any, dtype: np.dtype) -> RowAnswer:
    """One of the classes."""
    return RowAnswer((), classifier.classes_.dtype)


def class_scores(classifier: Any, dtype: np.dtype) -> RowAnswer:
    """A score per class; one number for two classes."""
    n_classes = len(classifier.classes_)
    return RowAnswer(() if n_classes == 2 else (n_classes,), DOUBLE)


def class_probabilities(classifier: Any, dtype: np.dtype) -> RowAnswer:
    """A probability per class."""
    return RowAnswer((len(classifier.classes_),), DOUBLE)


def labels_or_indicators(classifier: Any, dtype: np.dtype) -> RowAnswer:
    """One of the classes, or an indicator per class."""
    if classifier._labels.multilabel:
        return RowAnswer((len(classifier.classes_),), np.dtype(int))
    return one_label(classifier, dtype)


def scores_of_labels(classifier: Any, dtype: np.dtype) -> RowAnswer:
    """A score per class; one number for two classes that exclude each other."""
    answer = class_probabilities if classifier._labels.multilabel else class_scores
    return answer(classifier, dtype)
