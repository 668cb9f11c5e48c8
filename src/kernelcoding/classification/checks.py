"""What classifiers of one label per sample refuse, and what they tell the user to do instead."""

from __future__ import annotations

from collections.abc import Sized

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..validation import number_of_atoms, refuse_missing_labels, require_target


def one_label_each(estimator: BaseEstimator, y: ArrayLike | None, samples: Sized) -> NDArray:
    """Labels of any kind, one per sample, (n,)."""
    given = require_target(estimator, y)
    refuse_missing_labels(given)
    labels: NDArray = column_or_1d(given, warn=True)
    assert_all_finite(labels, input_name="y")
    check_consistent_length(samples, labels)
    check_classification_targets(labels)
    return labels


def atoms_for_classes(
    estimator: BaseEstimator, wanted: int | None, classes: NDArray, n_samples: int
) -> int:
    """How many atoms there are, at least one per class; None: 100, or as many as there can be."""
    n_classes = len(classes)
    if n_classes < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes, got 1 class: "
            f"{classes[0]!r}."
        )
    count = number_of_atoms(wanted, n_samples)
    if wanted is None:
        count = max(count, n_classes)
    if not n_classes <= count <= n_samples:
        raise ValueError(
            f"n_atoms={wanted} must be at least the number of classes, {n_classes}, for "
            "every class to have an atom, and at most the number of training samples, "
            f"n_samples={n_samples}."
        )
    return count
