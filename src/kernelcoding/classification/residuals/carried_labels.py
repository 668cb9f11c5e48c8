"""Whose labels the residual rule reads: those of atoms, or of the landmarks they are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from ...coders.transformer import CodingTransformer
from ...dictionary import CombinationDictionary, Dictionary, PointDictionary
from ...stacks import same_samples

NO_LABELS = (
    "The residual rule needs atoms with labels, or atoms that are combinations of training "
    "samples with labels. {why} Give atom_labels= (one label per atom){or_landmarks}, or use "
    "atoms=None, an integer number of atoms, or KernelDictionaryLearning with landmarks chosen "
    "from the samples, so that labels are known."
)


class CarriedLabels(NamedTuple):
    """Classes of atoms or of landmarks, as numbers, and where these are training samples."""

    classes: NDArray  # (n_carriers,)
    of_landmarks: bool
    samples: NDArray | None  # (n_carriers,) which training samples they are


def carried_labels(
    coder: CodingTransformer,
    X: ArrayLike,
    classes: NDArray,
    numbers: NDArray,
    given: tuple[ArrayLike | None, ArrayLike | None],
    elsewhere: bool,
) -> CarriedLabels:
    """Labels of atoms or landmarks; ValueError where nothing has labels.

    Parameters
    ----------
    coder : estimator
        Fitted.
    X : array-like
        Training samples.
    classes : array of shape (S,)
        All labels.
    numbers : array of shape (n,)
        Number of the class of each training sample.
    given : pair
        Labels of atoms, labels of landmarks, or None.
    elsewhere : bool
        Whether the dictionary was made before: its index may be one of other samples.
    """
    dictionary = coder.dictionary_
    landmarks = dictionary.landmarks if isinstance(dictionary, CombinationDictionary) else None
    of_atoms, of_landmarks = given
    if of_atoms is not None and of_landmarks is not None:
        raise ValueError("Give atom_labels or landmark_labels, not both.")
    if of_landmarks is not None and landmarks is None:
        raise ValueError(
            "landmark_labels are for atoms that are combinations of landmarks, but these atoms are "
            "points. Use atom_labels."
        )
    if of_atoms is not None:
        found = _given("atom_labels", of_atoms, dictionary.n_atoms, classes)
        return CarriedLabels(found, False, None)
    if of_landmarks is not None and landmarks is not None:
        found = _given("landmark_labels", of_landmarks, landmarks.n_atoms, classes)
        return CarriedLabels(found, True, None)
    if getattr(coder, "per_class", False):  # an atom has the class it was learned from
        own = coder.classes_[coder.atom_classes_]
        return CarriedLabels(_numbers("atoms", own, classes), False, None)
    checked = coder._validate_query(X) if elsewhere else None
    for carriers in (dictionary, landmarks):
        index = None if carriers is None else _index_of(carriers, checked)
        if index is not None:
            return CarriedLabels(numbers[index], carriers is landmarks, index)
    raise ValueError(_refusal(dictionary, elsewhere))


def _index_of(carriers: Dictionary, X: NDArray | None) -> NDArray | None:
    """Which training samples these are; None if they are not, or not of X where that is given."""
    index = carriers.index
    if index is None or X is None:
        return index
    index = np.asarray(index)
    if not isinstance(carriers, PointDictionary) or index.max(initial=0) >= len(X):
        return None
    return index if same_samples(carriers.points, X[index]) else None


def _refusal(dictionary: Dictionary, elsewhere: bool) -> str:
    made_of = isinstance(dictionary, CombinationDictionary)
    if elsewhere:
        why = "This dictionary was made from other samples than X."
    elif made_of:
        why = "These landmarks were given as points, whose labels are not known."
    else:
        why = "These atoms are points of their own, whose labels are not known."
    also = " or landmark_labels= (one per landmark)" if made_of else ""
    return NO_LABELS.format(why=why, or_landmarks=also)


def _given(name: str, labels: ArrayLike, count: int, classes: NDArray) -> NDArray:
    flat = column_or_1d(np.asarray(labels))
    if len(flat) != count:
        what = name.removesuffix("_labels")
        raise ValueError(
            f"{name} must have one label for each of the {count} {what}s, got {len(flat)}."
        )
    return _numbers(name, flat, classes)


def _numbers(name: str, labels: NDArray, classes: NDArray) -> NDArray:
    """Numbers of classes; a label that no training sample has is refused."""
    known = {label: number for number, label in enumerate(classes.tolist())}
    unknown = sorted({repr(label) for label in labels.tolist() if label not in known})
    if unknown:
        raise ValueError(
            f"Labels of {name} must be labels of y, {classes[:5].tolist()}...; "
            f"got {', '.join(unknown[:5])}."
        )
    return np.array([known[label] for label in labels.tolist()], dtype=np.intp)
