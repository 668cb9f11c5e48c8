"""K-SVD on samples that carry their labels: what LC-KSVD and D-KSVD share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..coders.base import check_count, check_positive
from ..coders.pursuit import KernelMatchingPursuit
from ..codes import dense
from ..dictionary import PointDictionary
from ..kernels import Kernel, as_kernel
from . import ridge
from .alternation import Alternation, Outcome
from .coding import code_samples
from .initial import KnownCandidates, initial_loads, shares
from .label_frame import LabelFrame
from .labels import one_for_two
from .learner import AtomLearner

UPDATES = ("aksvd", "ksvd")


class BaseStackedKSVD(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """Learns, codes and classifies; subclasses say what the labels count."""

    kernel: Any
    n_atoms: int
    n_nonzero: int
    label_weight: float
    classifier_weight: float
    update: str
    max_iter: int
    init_iter: int
    tol: float
    callback: Any
    verbose: int
    n_jobs: int | None
    random_state: Any

    # Learning --------------------------------------------------------------------------------

    def fit(self, X, y):
        """Learn dictionary and classifier together.

        Parameters
        ----------
        X : array-like
            Training samples as the kernel wants them: vectors, stacks of matrices, or the
            training Gram matrix.
        y : array-like of shape (n_samples,)
            Labels of any kind, of at least two classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        kernel = as_kernel(self.kernel)
        X, y = self._validate_training(X, y, kernel)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._check_sizes(len(X))
        self.kernel_ = kernel.resolve(X, getattr(self, "feature_names_in_", None))
        self.coder_ = KernelMatchingPursuit(
            self.kernel_, n_nonzero=self.n_nonzero, n_jobs=self.n_jobs
        )
        frame = LabelFrame.of(PointDictionary(self.kernel_, X, np.arange(len(X))))
        self._learn(frame, labels)
        self.coder_.set_params(atoms=self.dictionary_).fit(X[:1])
        self._n_features_out = self.n_atoms
        return self

    def _learn(self, plain: LabelFrame, labels: NDArray) -> None:
        unit = float(np.mean(plain.squares(plain.rows.T)))
        if not unit > 0:
            raise ValueError("All samples are zero in the Hilbert space of the kernel.")
        atoms = self._first_atoms(plain, labels)
        indicator = (labels[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        scale = np.sqrt(unit * self._weights())
        first = weights_of(self._codes(plain, atoms), indicator, unit)
        frame = plain.with_targets(indicator * scale)
        learner = self._learner(frame, np.vstack([atoms, (first * scale).T]))
        alternation = Alternation(self.max_iter, self.tol, self.callback, self.verbose)
        outcome = run(learner, alternation)
        self.objective_history_ = np.array(outcome.history)
        self.objective_steps_ = np.array(outcome.steps)
        self.n_iter_, self.status_ = outcome.n_iter, outcome.status
        self.n_replaced_ = learner.n_replaced
        atoms, targets = frame.split(outcome.best[0])
        norms = np.sqrt(plain.squares(atoms))
        # An atom that is all label is nothing to a sample without one.
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        atoms = atoms * inverse
        self.dictionary_ = plain.dictionary(atoms)
        self.classifier_ = (
            targets * inverse / scale[:, None]
            if self.classifier_weight > 0
            else weights_of(self._codes(plain, atoms), indicator, unit).T
        )

    def _first_atoms(self, plain: LabelFrame, labels: NDArray) -> NDArray:
        """A dictionary for each class by K-SVD on its samples alone, (r, N)."""
        random_state = check_random_state(self.random_state)
        parts, counts = [], []
        for members, count in shares(labels, self.n_atoms):
            frame = plain.part(members)
            candidates = KnownCandidates(frame.kernel_of(slice(None)))
            loads = initial_loads(candidates, count, "random", random_state)
            learner = self._learner(frame, frame.combine(loads))
            parts.append(run(learner, Alternation(self.init_iter, self.tol)).best[0])
            counts.append(count)
        self.atom_classes_ = np.repeat(np.arange(len(counts)), counts)
        return np.hstack(parts)

    def _weights(self) -> NDArray:
        r"""What the labels of each class count, (S,).

        Q repeats a class's row of H for each of its p atoms, and so T repeats the rows of W, in
        regression as in every update of atoms: both terms are one of weight
        :math:`\alpha p + \beta`.
        """
        return self.label_weight * np.bincount(self.atom_classes_) + self.classifier_weight

    def _learner(self, frame: LabelFrame, vectors: NDArray) -> AtomLearner:
        options = self.coder_.training_options()
        return AtomLearner(frame, np.asfortranarray(vectors), self.coder_, options, self.update)

    def _codes(self, frame: LabelFrame, atoms: NDArray) -> NDArray:
        options = self.coder_.training_options()
        return dense(code_samples(frame, atoms, self.coder_, options).codes)

    # Using what was learned ------------------------------------------------------------------

    def transform(self, X):
        """Code samples, without labels.

        Parameters
        ----------
        X : array-like
            Samples; with a precomputed kernel, their similarities to all training samples.

        Returns
        -------
        codes : array of shape (n, n_atoms)
            At most ``n_nonzero`` numbers a row.
        """
        check_is_fitted(self, "classifier_")
        return self.coder_.transform(self._validate(X, self.kernel_, reset=False))

    def decision_function(self, X) -> NDArray:
        r"""Scores of the classes, :math:`W y`.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first.
        """
        return one_for_two(self._scores(X))

    def predict(self, X) -> NDArray:
        """The class of largest score.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def _scores(self, X) -> NDArray:
        return self.transform(X) @ self.classifier_.T

    # Checks ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name in ("n_atoms", "n_nonzero", "max_iter", "init_iter"):
            check_count(name, getattr(self, name))
        for name in ("label_weight", "classifier_weight", "tol"):
            if getattr(self, name) != 0:
                check_positive(name, getattr(self, name))
        if self.n_nonzero > self.n_atoms:
            raise ValueError(
                f"n_nonzero={self.n_nonzero} must be at most n_atoms={self.n_atoms}: a code cannot "
                "use more atoms than there are."
            )
        if self.update not in UPDATES:
            raise ValueError(f"update must be one of {UPDATES}, got {self.update!r}.")

    def _check_sizes(self, n_samples: int) -> None:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, got 1 class: "
                f"{self.classes_[0]!r}."
            )
        if not n_classes <= self.n_atoms <= n_samples:
            raise ValueError(
                f"n_atoms={self.n_atoms} must be at least the number of classes, {n_classes}, for "
                "every class to have an atom, and at most the number of training samples, "
                f"n_samples={n_samples}."
            )

    def _validate_training(self, X, y, kernel: Kernel) -> tuple[NDArray, NDArray]:
        # Double precision: weak directions of the kernel matrix matter to sparse codes.
        X, y = validate_data(
            self, X, y, dtype=np.float64, allow_nd=kernel.input_ndim != 2, ensure_min_samples=2
        )
        check_classification_targets(y)
        return X, y

    def _validate(self, X, kernel: Kernel, reset: bool) -> NDArray:
        return validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            allow_nd=kernel.input_ndim != 2,
            reset=reset,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(KernelMatchingPursuit(self.kernel)).input_tags
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def run(learner: AtomLearner, alternation: Alternation) -> Outcome:
    """Codes and atoms in turn."""
    return alternation.run(("codes", learner.code), learner.steps, learner.snapshot)


def weights_of(codes: NDArray, targets: NDArray, price: float) -> NDArray:
    r"""Linear maps from codes to targets, :math:`(Y^\top Y + w I)^{-1} Y^\top T`, (N, S)."""
    return ridge.fit(codes, targets, np.ones(len(codes)), price, intercept=False)[0]
