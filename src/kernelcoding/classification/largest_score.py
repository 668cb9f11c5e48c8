"""The class of the largest score: what classifiers with a score per class share."""

from __future__ import annotations

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from ..distributed.methods import over_blocks
from .answers import class_scores, one_label
from .labels import one_for_two


class LargestScoreMixin(ClassifierMixin):
    """Scores and labels of samples, from the scores of all classes."""

    classes_: NDArray

    def _scores(self, X: ArrayLike) -> NDArray:
        """A score per sample and class, (n, n_classes): the larger, the better."""
        raise NotImplementedError

    @over_blocks(class_scores)
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Scores of the classes: the larger, the better a class suits the sample.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first.
        """
        return one_for_two(self._scores(X))

    @over_blocks(one_label)
    def predict(self, X: ArrayLike) -> NDArray:
        """The class of largest score.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]
