"""Labels as numbers: targets that scores aim at, and predictions from scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import assert_all_finite

from ..codes import is_csr
from ..validation import refuse_missing_labels


@dataclass(frozen=True, slots=True)
class Labels:
    """Known labels of n samples, S classes."""

    classes: NDArray  # (S,)
    members: NDArray  # (n, S) bool
    multilabel: bool

    @classmethod
    def of(cls, given: ArrayLike | None) -> Labels:
        """Check labels: one per sample, or an indicator matrix; ValueError says what is wrong."""
        if given is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        refuse_missing_labels(given)
        y: NDArray = given.toarray() if is_csr(given) else np.asarray(given)
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            return cls._indicators(check_array(y, input_name="y"))
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"Labels must have at least two classes; got only one class, {classes[0]!r}."
            )
        return cls(classes, numbers[:, None] == np.arange(len(classes)), False)

    @classmethod
    def _indicators(cls, y: NDArray) -> Labels:
        if type_of_target(y) != "multilabel-indicator":
            raise ValueError(
                "y must be one label per sample or a multi-label indicator matrix of zeros and "
                f"ones, got {type_of_target(y)} of shape {y.shape}."
            )
        if not np.isin(y, (0, 1)).all():
            raise ValueError(
                "A multi-label indicator matrix must have zeros and ones only, got values "
                f"{np.unique(y)[:4].tolist()}."
            )
        return cls(np.arange(y.shape[1]), y.astype(bool), True)

    @property
    def numbers(self) -> NDArray | None:
        """The class of each sample as an index, (n,); None for several labels per sample."""
        return None if self.multilabel else self.members.argmax(axis=1)

    @property
    def given(self) -> NDArray:
        """As they came: the class of each sample, (n,), or indicators, (n, S)."""
        numbers = self.numbers
        return self.members.astype(int) if numbers is None else self.classes[numbers]

    def take(self, rows: NDArray) -> Labels:
        """Those of some samples, of the same classes."""
        return Labels(self.classes, self.members[rows], self.multilabel)

    def targets(self, signed: bool, dtype: type[np.generic] = np.float64) -> NDArray:
        """What scores aim at, (n, S).

        Ones and zeros as in the paper; ones and minus ones where the sign of a score decides.
        """
        targets = np.ascontiguousarray(self.members, dtype=dtype)
        return 2 * targets - 1 if signed or self.multilabel else targets

    def sample_weight(self, class_weight: dict | str | None, own: NDArray | None = None) -> NDArray:
        """The weight of each sample by its class, one on average, (n,).

        ``own`` are weights that samples have beside it: classes are balanced by their sums.
        """
        numbers = self.numbers
        if class_weight is None:
            return np.ones(len(self.members))
        if numbers is None:
            raise ValueError(
                "class_weight is for one label per sample, not for indicator matrices."
            )
        weights = compute_class_weight(class_weight, classes=self.classes, y=self.classes[numbers])
        if np.any(weights <= 0):
            raise ValueError(f"class_weight must be positive for every class, got {class_weight}.")
        if own is not None and isinstance(class_weight, str):
            sums = np.bincount(numbers, own, len(self.classes))
            weights = np.divide(1.0, sums, out=np.ones_like(sums), where=sums > 0)
        counted = weights[numbers]
        return counted / np.average(counted, weights=own)

    def skill(self, scores: NDArray) -> float:
        """How much better than chance scores are, between 0 and 1.

        The share of errors that always naming the largest class would make and these scores do
        not; for several labels per sample the root of the explained variance.
        """
        if self.multilabel:
            spread = np.sum((self.targets(True) - self.targets(True).mean(axis=0)) ** 2)
            missed = np.sum((self.targets(True) - scores) ** 2)
            return float(np.sqrt(max(1.0 - missed / max(spread, 1e-300), 0.0)))
        correct = float(np.mean(scores.argmax(axis=1) == self.numbers))
        chance = float(self.members.mean(axis=0).max())
        return max(correct - chance, 0.0) / (1.0 - chance) if chance < 1.0 else 0.0

    def decision(self, scores: NDArray) -> NDArray:
        """Scores as scikit-learn wants them: one number per sample for two classes."""
        return scores if self.multilabel else one_for_two(scores)

    def predict(self, scores: NDArray) -> NDArray:
        """The class of highest score; all of positive score where there are several per sample."""
        if self.multilabel:
            return (scores > 0.0).astype(int)
        return self.classes[scores.argmax(axis=1)]


def one_for_two(scores: NDArray) -> NDArray:
    """Two classes need one number per sample: the second's score minus the first's."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
