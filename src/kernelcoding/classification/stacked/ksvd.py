"""K-SVD on samples that carry their labels: what LC-KSVD and D-KSVD share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import (
    Tags,
    check_random_state,
    get_tags,
)

from ...coders.base import fitted_with, options_of, with_kernel_object
from ...coders.coding import code_samples
from ...coders.pursuit import KernelMatchingPursuit
from ...coders.transformer import CodingTransformer
from ...codes import dense
from ...dictionary import PointDictionary
from ...dictionary.candidates import KnownCandidates
from ...dictionary_learning.half_steps.coding import code_all
from ...dictionary_learning.half_steps.learner import AtomLearner
from ...dictionary_learning.loop import Alternation, Outcome, Progress
from ...dictionary_learning.starts import initial_loads, shares
from ...dictionary_learning.updates import update_for
from ...formulations import Formulation
from ...kernels import Kernel, as_kernel
from ...kernels.names import KernelLike
from ...solvers.result import Options
from ...stacks import with_type
from ...validation import check_count, check_positive, samples
from ..checks import atoms_for_classes, one_label_each
from ..classifiers import LinearClassifier
from ..largest_score import LargestScoreMixin
from ..losses import ridge
from .frame import LabelFrame

UPDATES = ("aksvd", "ksvd")


class BaseStackedKSVD(LargestScoreMixin, CodingTransformer):
    """Learns, codes and classifies; subclasses give the weight of the labels."""

    kernel: KernelLike
    n_atoms: int | None
    n_nonzero: int | None
    label_weight: float
    classifier_weight: float
    update: str
    max_iter: int
    init_iter: int
    tol: float
    callback: Callable[[Progress], object] | None
    verbose: int
    n_jobs: int | None
    random_state: int | np.random.RandomState | None

    classes_: NDArray
    n_atoms_: int
    n_nonzero_: int
    coder_: KernelMatchingPursuit
    classifier_: LinearClassifier
    atom_classes_: NDArray
    objective_history_: NDArray
    objective_steps_: NDArray
    n_iter_: int
    n_replaced_: int
    status_: str

    # Learning --------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn dictionary and classifier together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
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
        self.n_atoms_ = atoms_for_classes(self, self.n_atoms, self.classes_, len(X))
        self.kernel_ = kernel.resolve(X, getattr(self, "feature_names_in_", None))
        frame = LabelFrame.of(PointDictionary(self.kernel_, X, np.arange(len(X))))
        self.n_nonzero_ = number_of_nonzeros(self.n_nonzero, self.n_atoms_, frame.dimension)
        self._learn(frame, labels)
        self.coder_ = fitted_with(self._coder(), self.dictionary_, like=self)
        self._n_features_out = self.n_atoms_
        return self

    def _coder(self) -> KernelMatchingPursuit:
        kernel = getattr(self, "kernel_", self.kernel)
        wanted = getattr(self, "n_nonzero_", self.n_nonzero)  # files from before there was a None
        n_nonzero = 5 if wanted is None else int(wanted)  # not fitted yet: of no consequence
        return KernelMatchingPursuit(kernel, n_nonzero=n_nonzero, n_jobs=self.n_jobs)

    def _coding(self) -> tuple[Formulation, Options]:
        coder = self._coder()
        return coder.formulation(), options_of(coder)

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
        outcome = alternate(learner, alternation)
        self.objective_history_ = np.array(outcome.history)
        self.objective_steps_ = np.array(outcome.steps)
        self.n_iter_, self.status_ = outcome.n_iter, outcome.status
        self.n_replaced_ = learner.n_replaced
        atoms, targets = frame.split(outcome.best.now.vectors)
        norms = np.sqrt(plain.squares(atoms))
        # An atom that is all label is nothing to a sample without one.
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        atoms = atoms * inverse
        self.dictionary_ = plain.dictionary(atoms)
        if self.classifier_weight > 0:
            weights = (targets * inverse / scale[:, None]).T
        else:
            weights = weights_of(self._codes(plain, atoms), indicator, unit)
        self.classifier_ = LinearClassifier(weights, np.zeros(len(self.classes_)), 0.0)

    def _first_atoms(self, plain: LabelFrame, labels: NDArray) -> NDArray:
        """A dictionary for each class by K-SVD on its samples alone, (r, N)."""
        random_state = check_random_state(self.random_state)
        parts, counts = [], []
        for members, count in shares(labels, self.n_atoms_):
            frame = plain.part(members)
            candidates = KnownCandidates(frame.kernel_of(np.arange(frame.n_samples)))
            loads = initial_loads(candidates, count, "random", random_state)
            learner = self._learner(frame, frame.combine(loads))
            outcome = alternate(learner, Alternation(self.init_iter, self.tol))
            if outcome.status == "interrupted":  # a class is no dictionary to keep
                raise KeyboardInterrupt
            parts.append(outcome.best.now.vectors)
            counts.append(count)
        self.atom_classes_ = np.repeat(np.arange(len(counts)), counts)
        return np.hstack(parts)

    def _weights(self) -> NDArray:
        r"""The weight of the labels of each class, (S,).

        Q repeats a class's row of H for each of its p atoms, and so T repeats the rows of W, in
        regression as in every update of atoms: both terms are one of weight
        :math:`\alpha p + \beta`.
        """
        return self.label_weight * np.bincount(self.atom_classes_) + self.classifier_weight

    def _learner(self, frame: LabelFrame, vectors: NDArray) -> AtomLearner:
        formulation, options = self._coding()
        update = update_for(self.update, formulation)
        return AtomLearner(frame, np.asfortranarray(vectors), formulation, options, update)

    def _codes(self, frame: LabelFrame, atoms: NDArray) -> NDArray:
        formulation, options = self._coding()
        coded = code_all(frame, atoms, lambda block: formulation, options)
        assert coded.codes is not None
        return dense(coded.codes)

    # Using what was learned ------------------------------------------------------------------

    def _scores(self, X: ArrayLike) -> NDArray:
        """W y, (n, n_classes)."""
        X = self._validate_query(X)
        codes = code_samples(*self._coding(), self.dictionary_, X, stacklevel=7)
        return self.classifier_.scores(codes)

    # Checks ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name in ("n_atoms", "n_nonzero", "max_iter", "init_iter"):
            given = getattr(self, name)
            check_count(name, 1 if given is None else given)
        for name in ("classifier_weight", "tol"):
            if getattr(self, name) != 0:
                check_positive(name, getattr(self, name))
        wanted, most = self.n_nonzero, self.n_atoms
        if wanted is not None and most is not None and wanted > most:
            raise ValueError(
                f"n_nonzero={self.n_nonzero} must be at most n_atoms={self.n_atoms}: a code cannot "
                "use more atoms than there are."
            )
        if self.update not in UPDATES:
            raise ValueError(f"update must be one of {UPDATES}, got {self.update!r}.")

    def _validate_training(
        self, X: ArrayLike, y: ArrayLike, kernel: Kernel
    ) -> tuple[NDArray, NDArray]:
        # Double precision: weak directions of the kernel matrix matter to sparse codes.
        checked = samples(self, X, kernel, reset=True, min_samples=2)
        return with_type(checked, np.float64), one_label_each(self, y, checked)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(KernelMatchingPursuit(self.kernel)).input_tags
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def number_of_nonzeros(wanted: int | None, n_atoms: int, dimension: int) -> int:
    """As many as wanted; else a share of the atoms and of the dimension, within limits.

    Codes of many atoms in few dimensions explain a sample with atoms of any class.
    """
    share = min(3 * n_atoms // 10, dimension // 12, 30)
    return min(max(5, share), n_atoms) if wanted is None else wanted


def alternate(learner: AtomLearner, alternation: Alternation) -> Outcome:
    """Codes and atoms in turn."""
    return alternation.run(("codes", learner.code), learner.steps, learner.snapshot)


def weights_of(codes: NDArray, targets: NDArray, regularization: float) -> NDArray:
    r"""Linear maps from codes to targets, :math:`(Y^\top Y + w I)^{-1} Y^\top T`, (N, S)."""
    return ridge.fit(codes, targets, np.ones(len(codes)), regularization, intercept=False)[0]
