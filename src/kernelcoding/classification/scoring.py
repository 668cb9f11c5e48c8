"""Scores, labels and probabilities from a classifier of codes that was learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..coders.coding import map_codes
from ..dictionary import CombinationProblem
from ..dictionary_learning.base import BaseDictionaryLearning
from ..distributed.methods import over_blocks
from ..problem import CodingProblem
from ..solvers.result import CodingResult
from ..stacks import precision
from .answers import class_probabilities, labels_or_indicators, scores_of_labels
from .calibration import Calibration
from .classifiers import Classifier
from .labels import Labels

SAMPLES_PER_ATOM, MOST_ATOMS = 4, 200  # where the number of atoms is left open


class ScoringDictionaryLearning(BaseDictionaryLearning):
    """A learned dictionary whose codes a classifier reads."""

    classes_: NDArray
    classifier_: Classifier
    _labels: Labels
    _calibration: Calibration

    def _atoms_by_default(self, n_samples: int) -> int:
        """One for several samples, and for each class: samples that are atoms code themselves."""
        share = min(n_samples // SAMPLES_PER_ATOM, MOST_ATOMS)
        return min(n_samples, max(share, len(self.classes_)))

    @over_blocks(scores_of_labels)
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first. For indicator
            matrices, larger means more likely; positive scores are predicted.
        """
        scores = self._scores(X)
        return self._labels.decision(scores)

    @over_blocks(labels_or_indicators)
    def predict(self, X: ArrayLike) -> NDArray:
        """The class of highest score, or an indicator matrix of the positive ones.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        labels : array of shape (n,) or (n, n_classes)
        """
        scores = self._scores(X)
        return self._labels.predict(scores)

    @over_blocks(class_probabilities)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Probabilities of the classes.

        Scores are calibrated on training samples, each scored by a classifier (not a dictionary)
        fitted without it: one temperature for all classes, or a sigmoid for each class of an
        indicator matrix, makes the labels as likely as possible.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Rows sum to one, except for indicator matrices.
        """
        scores = self._scores(X)
        return self._calibration.probabilities(scores)

    def _scores(self, X: ArrayLike) -> NDArray:
        """Scores of all classes, (n, S): samples are coded as by ``transform``."""
        X = self._validate_query(X)
        scores = np.empty((len(X), len(self.classes_)))

        def write(rows: slice, problem: CodingProblem, result: CodingResult) -> None:
            # Linear classifiers, the only ones of atoms that are points, look at codes alone.
            combined = problem if isinstance(problem, CombinationProblem) else None
            similarity = problem.cross if combined is None else combined.similarity
            codes = result.codes.astype(precision(X), copy=False)  # as transform gives them
            scores[rows] = self.classifier_.scores(codes, similarity)

        formulation, options = self._coding()
        compact = replace(options, sparse_output=formulation.is_sparse)
        map_codes(formulation, compact, self.dictionary_, X, write, stacklevel=6)
        return scores
