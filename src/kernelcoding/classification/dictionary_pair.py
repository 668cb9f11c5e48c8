"""Dictionary pair learning, linear and in kernel space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state, gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from ..coders.base import with_kernel_object
from ..coders.sparse import KernelSparseCoder
from ..dictionary import CombinationDictionary, PointDictionary
from ..dictionary.building import choose_landmarks, given_landmarks
from ..dictionary.choosing import named_choice
from ..dictionary_learning.loop import Alternation, Progress
from ..dictionary_learning.starts import shares
from ..distributed.methods import one_vector, over_blocks
from ..kernels import Kernel, Linear, as_kernel
from ..kernels.names import KernelLike
from ..memory import announce, memory_advice
from ..stacks import Stack, precision
from ..validation import (
    check_count,
    check_positive,
    samples,
)
from .checks import atoms_for_classes, one_label_each
from .largest_score import LargestScoreMixin
from .pair_learning import ClassPair, ClassSamples, PairLearner, Weights, of_landmarks, of_samples

BLOCK_SIZE = 2**20  # similarities that are computed at a time
FEWER = "Use n_landmarks=1000, which takes time and memory linear in the number of samples."


class KernelDictionaryPairLearning(
    LargestScoreMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Learn a pair per class, atoms and a linear map that gives their codes (DPL, kernel DPL).

    .. math:: \min_{P, A, D}\ \sum_k \|\Phi(X_k) - D_k A_k\|^2 + \tau\|P_k\Phi(X_k) - A_k\|^2
              + \lambda\|P_k\Phi(\bar X_k)\|^2 + \gamma\kappa\|P_k\|^2, \qquad \|d_i\| \le 1

    :math:`X_k` are the samples of class k, :math:`\bar X_k` all others, :math:`\kappa` is the mean
    of :math:`k(x, x)`. The code of a new sample is :math:`P_k\phi(x)`, a product with a matrix, and
    the class with the smallest :math:`\|\phi(x) - D_k P_k\phi(x)\|` wins: no coding problem is
    solved at all.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        A name, a kernel of ``kernelcoding.kernels``, or a function. The linear kernel gives the
        published method.
    n_atoms : int or None, default=None
        Number of atoms, shared equally between the classes as far as these have samples: a class
        never gets more atoms than it has samples, others take over the rest. None: 100, or the
        number of samples where that is less, but at least one per class.
    tau : float, default=0.05
        :math:`\tau`, weight of the difference between the codes and what the map makes of their
        samples.
    separation : float, default=0.003
        :math:`\lambda`, weight of what the map makes of samples of other classes, which should be
        zero.
    regularization : float, default=1e-4
        :math:`\gamma`, the ridge of the map, positive.
    n_landmarks : int or None, default=None
        Atoms and maps are combinations of so many landmarks; None: of all samples.
    landmarks : {"k-means++", "random", "leverage", "greedy"} or array, default="k-means++"
        How landmarks are chosen, or the landmarks themselves.
    max_iter : int, default=20
        Largest number of rounds of maps, atoms and codes.
    tol : float, default=1e-4
        Learning ends when a round lowers the objective by less than this fraction.
    callback : callable, default=None
        Called after every half-step with an object that has ``iteration``, ``step``,
        ``objective`` and ``seconds``; a true answer ends learning.
    verbose : int, default=0
        1 shows a bar of rounds (lines, without tqdm), 2 a line per half-step.
    n_jobs : int, default=None
        Classes that are learned at the same time.
    random_state : int, RandomState or None, default=0
        For the samples that atoms start from, and landmarks.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    n_atoms_ : int
        Number of atoms that were learned.
    dictionary_ : CombinationDictionary
        The atoms of all classes, of at most unit norm.
    analysis_ : array of shape (n_samples or n_landmarks, n_atoms)
        The maps: codes are similarities to the samples (or landmarks) times this. With the linear
        kernel and fewer features than samples, these are the axes: (n_features, n_atoms).
    atom_classes_ : array of shape (n_atoms,)
        Index into ``classes_`` of each atom.
    kernel_ : Kernel
        Resolved on the training data.
    objective_history_ : array of shape (n_half_steps,)
        The objective above over the number of samples, after every half-step. It never rises. With
        landmarks, errors are those in their span: what lies outside of it no atom can change.
    objective_steps_ : array of str of shape (n_half_steps,)
        Which half-step each of these was after: "codes", "analysis", "atoms".
    n_iter_ : int
        Rounds.
    status_ : str
        "converged", "max_iter", "callback" or "interrupted".

    See Also
    --------
    LabelConsistentKSVD : One dictionary for all classes, and a linear classifier.

    Notes
    -----
    Gu, Zhang, Zuo, Feng (2014). The best map for given codes is
    :math:`P_k = \tau A_k\Phi(X_k)^\top M_k^{-1}` with
    :math:`M_k = \lambda\Phi(X)\Phi(X)^\top + \gamma I + (\tau - \lambda)\Phi(X_k)\Phi(X_k)^\top`.
    By the formula of Woodbury, one inverse :math:`G = (\lambda K + \gamma I)^{-1}` serves all
    classes: with :math:`W_k = (GK)_{kk}` the map takes the samples of its class to
    :math:`P_k\Phi(X_k) = A_k H_k`, :math:`H_k = \tau(I + (\tau - \lambda)W_k)^{-1}W_k`, and each
    half-step needs :math:`H_k` and :math:`K_{kk}` alone, matrices of the size of the class. All
    three have closed forms but the atoms, which are found one by one until no sweep gains (the
    authors use ADMM on the same problem). With landmarks, the same in their coordinates.

    Atoms start as random samples of their class, and the maps as zero, where the authors draw both
    from a normal distribution, which no Hilbert space of a kernel has.

    Without landmarks, learning inverts a matrix of all samples; with the linear kernel, one of
    all features where they are fewer.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from kernelcoding import KernelDictionaryPairLearning
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> classifier = KernelDictionaryPairLearning("rbf", n_atoms=100).fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.95
    True
    """

    classes_: NDArray
    kernel_: Kernel
    dictionary_: CombinationDictionary
    analysis_: NDArray
    atom_classes_: NDArray
    objective_history_: NDArray
    objective_steps_: NDArray
    n_iter_: int
    status_: str
    _n_features_out: int

    def __init__(
        self,
        kernel: KernelLike = "linear",
        n_atoms: int | None = None,
        tau: float = 0.05,
        separation: float = 0.003,
        regularization: float = 1e-4,
        n_landmarks: int | None = None,
        landmarks: str | ArrayLike = "k-means++",
        max_iter: int = 20,
        tol: float = 1e-4,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_atoms = n_atoms
        self.tau = tau
        self.separation = separation
        self.regularization = regularization
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Learning --------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the pairs of all classes.

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
        stack, y = self._validate_training(X, y, kernel)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.n_atoms_ = atoms_for_classes(self, self.n_atoms, self.classes_, len(stack))
        self.kernel_ = kernel.resolve(stack, getattr(self, "feature_names_in_", None))
        random_state = check_random_state(self.random_state)
        parts = shares(labels, self.n_atoms_)
        self.atom_classes_ = np.repeat(np.arange(len(parts)), [count for _, count in parts])
        points = self._points(stack, random_state)
        with memory_advice(FEWER):
            classes = self._classes(points, stack, parts, random_state)
        self._learn(points, classes, len(stack))
        return self

    def _points(self, X: NDArray, random_state: np.random.RandomState) -> PointDictionary:
        """What atoms and maps combine: landmarks, all samples, or the axes of few features."""
        if not isinstance(self.landmarks, str):
            return given_landmarks(self.kernel_, self.landmarks, X)
        if self.n_landmarks is not None:
            choice = named_choice(self.landmarks, "landmarks")
            return choose_landmarks(self.kernel_, X, self.n_landmarks, choice, random_state)
        if isinstance(self.kernel_, Linear) and X.shape[1] < len(X):
            axes = np.eye if isinstance(X, np.ndarray) else sparse.eye_array
            return PointDictionary(
                self.kernel_, self.kernel_.check(axes(X.shape[1], dtype=X.dtype))
            )
        needed = 4.0 * 8.0 * len(X) ** 2
        announce(needed, f"Pair learning with {len(X)} samples", FEWER, stacklevel=4)
        return PointDictionary(self.kernel_, X, np.arange(len(X)))

    def _classes(
        self,
        points: PointDictionary,
        X: NDArray,
        parts: list[tuple[NDArray, int]],
        random_state: np.random.RandomState,
    ) -> list[ClassSamples]:
        members = [rows for rows, _ in parts]
        chosen = [np.sort(random_state.permutation(len(rows))[:count]) for rows, count in parts]
        unit = float(np.mean(points.kernel.diagonal(X)))
        if not unit > 0:
            raise ValueError("All samples are zero in the Hilbert space of the kernel.")
        weights = self._weights(unit)
        if points.index is not None and points.n_atoms == len(X):
            return of_samples(points, members, chosen, weights)
        return of_landmarks(points, X, members, chosen, weights)

    def _weights(self, unit: float) -> Weights:
        return Weights(self.tau, self.separation, self.regularization * unit)

    def _learn(self, points: PointDictionary, classes: list[ClassSamples], n_samples: int) -> None:
        pairs = [ClassPair(one, self._weights(1.0)) for one in classes]
        learner = PairLearner(pairs, n_samples, self.n_jobs)
        alternation = Alternation(self.max_iter, self.tol, self.callback, self.verbose)
        outcome = alternation.run(("codes", learner.code), learner.steps, learner.snapshot)
        self.objective_history_ = np.array(outcome.history)
        self.objective_steps_ = np.array(outcome.steps)
        self.n_iter_, self.status_ = outcome.n_iter, outcome.status
        found = list(zip(classes, outcome.best, strict=True))
        self.analysis_ = np.hstack([one.analysis(codes).T for one, (codes, _) in found])
        atoms = np.hstack([one.synthesis(columns) for one, (_, columns) in found])
        self.dictionary_ = CombinationDictionary(points, atoms)
        self._n_features_out = self.n_atoms_

    # Using what was learned ------------------------------------------------------------------

    @over_blocks(one_vector)
    def transform(self, X: ArrayLike) -> NDArray:
        r"""Codes of all classes side by side, :math:`P_k\phi(x)`.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples; with a precomputed kernel, their similarities to all training samples.

        Returns
        -------
        codes : array of shape (n, n_atoms)
            In the precision of X.
        """
        X = self._validate_query(X)
        codes = np.empty((len(X), self.analysis_.shape[1]), dtype=precision(X))
        for rows, similarity in self._similarities(X):
            codes[rows] = similarity @ self.analysis_
        return codes

    def _scores(self, X: ArrayLike) -> NDArray:
        """Negative residuals, up to k(x, x), (n, n_classes)."""
        X = self._validate_query(X)
        scores = np.empty((len(X), len(self.classes_)))
        gram = self.dictionary_.gram
        owners = [np.flatnonzero(self.atom_classes_ == k) for k in range(len(self.classes_))]
        for rows, similarity in self._similarities(X):
            codes, cross = similarity @ self.analysis_, similarity @ self.dictionary_.weights
            for label, own in enumerate(owners):
                part = codes[:, own]
                pull = 2.0 * cross[:, own] - part @ gram[np.ix_(own, own)]
                scores[rows, label] = np.einsum("ij,ij->i", part, pull)
        return scores

    def _similarities(self, X: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """Similarities of samples to what atoms are combinations of, block by block."""
        points = self.dictionary_.landmarks
        for rows in gen_batches(len(X), max(16, BLOCK_SIZE // points.n_atoms)):
            yield rows, points.cross(X[rows]).astype(np.float64, copy=False)

    # Checks ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_count("n_atoms", 1 if self.n_atoms is None else self.n_atoms)
        check_count("max_iter", self.max_iter)
        for name in ("tau", "regularization"):
            check_positive(name, getattr(self, name))
        for name in ("separation", "tol"):
            if getattr(self, name) != 0:
                check_positive(name, getattr(self, name))
        if self.n_landmarks is not None:
            check_count("n_landmarks", self.n_landmarks)

    def _validate_training(
        self, X: ArrayLike, y: ArrayLike, kernel: Kernel
    ) -> tuple[Stack, NDArray]:
        checked = samples(self, X, kernel, reset=True, min_samples=2)
        return checked, one_label_each(self, y, checked)

    def _validate_query(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "dictionary_")
        return samples(self, X, self.kernel_, reset=False)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(KernelSparseCoder(self.kernel)).input_tags
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        # Classes are told apart by their directions: a plane, as in checks, has few of them.
        tags.classifier_tags.poor_score = self.kernel == "linear" or isinstance(self.kernel, Linear)
        return tags
