"""Dictionary learning in Hilbert space."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if

from ..coders.base import BaseKernelCoder
from ..coders.coding import mean_objective
from ..dictionary import PointDictionary
from ..formulations import Formulation
from ..kernel_learning import KernelLearning, as_settings, prepared_start
from ..kernels import Gaussian, Kernel
from ..solvers.result import Options
from .checkpoints import check_checkpoint
from .checks import check_forgetting, check_online, counting_labelled, tell_zero_codes
from .class_wise_learning import ClassWiseDictionaryLearning, learns_from_batches
from .far import labels_at_hand
from .frames import Frame, LandmarkFrame
from .learner import AtomLearner, Snapshot
from .loop import Progress
from .online import OnlineState
from .point_learner import PointLearner
from .state import unit_norms
from .stepping import Learner
from .sums import Sums
from .updates import named_update, update_for
from .updates.points import PointsUpdate


class KernelDictionaryLearning(ClassWiseDictionaryLearning):
    r"""Learn the dictionary of a coder.

    .. math:: \min_{D, Y}\ \frac1n\sum_i \tfrac12\|\phi(x_i) - \Phi(D) y_i\|^2
              + \alpha\, r(y_i; x_i, D), \qquad \Phi(D) = \Phi(Z) A

    Codes and atoms are updated in turn. Landmarks Z are all training samples (the paper's case) or
    a chosen few, with which time is linear in the number of samples.

    Parameters
    ----------
    coder : estimator, default=None
        Any coder of this package with ``atoms=None``; None is ``KernelSparseCoder()``. It brings
        kernel, prior and constraint.
    n_atoms : int or None, default=None
        Number of atoms to learn, in all. None: 100, or as many as the data allow (samples of
        positive weight, landmarks) where that is less; a number that is too large is refused.
    n_landmarks : int, default=None
        Number of landmarks; None takes all samples.
    landmarks : str or array of points, default="k-means++"
        How landmarks are chosen where ``n_landmarks`` is given (``"k-means++"``, ``"random"``,
        ``"leverage"`` or ``"greedy"``), or the landmarks themselves.
    update : str, default="auto"
        How atoms are updated: ``"pinv"`` (the paper's closed form, atoms scaled to unit norm),
        ``"coordinate"`` (one atom after the other within the unit ball), ``"ksvd"`` and
        ``"aksvd"`` (greedy codes only), ``"gradient"`` (soft bag of words only: its codes depend
        on the atoms), ``"points"`` (Gaussian kernel only: atoms are points of the input space).
        ``"auto"`` takes the closed form as long as it lowers the objective, then coordinate
        descent; gradients for soft bag of words.
    init : {"k-means++", "random", "leverage", "greedy", "kernel-k-means"}, default="k-means++"
        First atoms. Where ``fit`` is given class labels, each class gets its share.
    learn_kernel : bool or KernelLearning, default=False
        Learn the kernel's parameters too, for the first atoms (with ``KernelLearning(rounds=1)``
        once more for learned ones, after which atoms are learned again). ``partial_fit`` does so
        on its first batch only.
    max_iter : int, default=30
        Most rounds of codes and atoms.
    tol : float, default=1e-4
        Learning ends when a round lowers the objective by less than this fraction.
    forgetting : float in (0, 1] or "auto", default="auto"
        What the past counts in ``partial_fit``: sums are multiplied by it before each batch.
        ``"auto"`` lets the first batches fade and in the long run forgets nothing.
    callback : callable, default=None
        Called after every half-step with an object that has ``iteration``, ``step``,
        ``objective`` and ``seconds``; a true answer ends learning.
    verbose : int, default=0
        1 shows a bar of rounds (lines, without tqdm), 2 a line per half-step.
    n_jobs : int, default=None
        Threads; None leaves it to the coder.
    random_state : int, RandomState or None, default=0
        For landmarks and first atoms.
    per_class : bool, default=False
        Learn a dictionary for each class from its samples alone and join them (Nguyen et al.,
        2013); ``fit`` then needs labels. ``n_atoms`` and ``n_landmarks`` stay the numbers in all,
        of which each class gets an equal share as far as its samples go. Codes of ``transform``
        are over the atoms of all classes; :class:`ResidualClassifier` reads them. Classes learn at
        the same time with ``n_jobs``.

    Attributes
    ----------
    dictionary_ : Dictionary
        The learned atoms; ``atoms=dl.dictionary_`` plugs them into any coder.
    n_atoms_ : int
        Number of atoms that were learned.
    coder_ : estimator
        The coder, fitted with the learned dictionary.
    kernel_ : Kernel
        Resolved on the training data.
    objective_history_ : array of shape (n_half_steps,)
        Mean objective after every half-step: first codes, then atoms, codes, atoms, codes, ...
        With ``partial_fit``, of each batch before it was learned from.
    objective_steps_ : array of str of shape (n_half_steps,)
        Which half-step each of these was after: "codes", "atoms".
    representatives_ : array of shape (n_atoms, at most 10)
        For each atom the training samples with the largest weights in it, largest first (with
        landmarks given as points or ``partial_fit``: indices of landmarks).
    kernel_history_ : array of shape (n_steps,)
        With ``learn_kernel``, what was minimised after every accepted step: the ratio of objective
        and discrepancy, or with ``criterion="held-out"`` the loss of labels.
    kernel_status_ : str
        With ``learn_kernel``, "learned", or why the start was kept; see :class:`KernelLearning`.
    n_iter_ : int
        Rounds.
    n_replaced_ : int
        Atoms replaced because no sample used them or another atom equalled them.
    status_ : str
        "converged", "max_iter", "callback" or "interrupted".
    classes_ : array of shape (n_classes,)
        With ``per_class=True``, the labels.
    atom_classes_ : array of shape (n_atoms,)
        With ``per_class=True``, index into ``classes_`` of the class that each atom is learned
        from; atoms of a class stand together. ``objective_history_`` is then the mean over all
        samples, each coded with the atoms of its class.

    Notes
    -----
    Section "Dictionary Learning" of the paper. Where codes may be scaled freely, atoms have unit
    norm: otherwise the prior is cheated by large atoms and small codes. The update honours the
    penalty of distance in local coordinate coding exactly; with exact LLC's penalty it goes in a
    descent direction and is shortened until the objective falls. Approximate LLC and localised
    bag of words choose neighbours anew with every dictionary, which may raise the objective: the
    best round is kept.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelDictionaryLearning, KernelSparseCoder
    >>> X, _ = load_digits(return_X_y=True)
    >>> dl = KernelDictionaryLearning(KernelSparseCoder(alpha=0.05), n_atoms=20, max_iter=5)
    >>> dl.fit(X[:200]).transform(X[200:210]).shape
    (10, 20)
    >>> bool((dl.objective_history_[1:] <= dl.objective_history_[:-1] * (1 + 1e-9)).all())
    True
    """

    _learns_far = True
    # What partial_fit goes on from, and whom fit tells: nothing that coding needs.
    _kept_for_learning = ("_learned", "_online", "callback")

    def __init__(
        self,
        coder: BaseKernelCoder | None = None,
        n_atoms: int | None = None,
        n_landmarks: int | None = None,
        landmarks: str | ArrayLike = "k-means++",
        update: str = "auto",
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        max_iter: int = 30,
        tol: float = 1e-4,
        forgetting: float | str = "auto",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        per_class: bool = False,
        checkpoint: str | os.PathLike | None = None,
    ) -> None:
        self.coder = coder
        self.n_atoms = n_atoms
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.update = update
        self.init = init
        self.learn_kernel = learn_kernel
        self.max_iter = max_iter
        self.tol = tol
        self.forgetting = forgetting
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.per_class = per_class
        self.checkpoint = checkpoint

    # Learning --------------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike | Iterator[ArrayLike],
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Training samples; may be memory-mapped. A Dask array, a Dask data frame or a list of
            delayed blocks stays where it is: with ``n_landmarks``, workers pass over the blocks
            once per round, and what is learned is an estimator like any other (a kernel's
            parameters are measured on 1000 evenly spaced samples and learned with 5000 drawn at
            random). An iterator of batches is read once, as by ``partial_fit``.
        y : array-like of shape (n_samples,), default=None
            Class labels, for a balanced first dictionary; other targets are not looked at. With
            ``per_class=True`` they say whose atoms a sample teaches.
        sample_weight : array-like of shape (n_samples,), default=None
            What each sample counts in the objective, the sums and the choice of first atoms: two
            is as good as the sample twice, zero as if it were absent (a learned kernel looks at
            all samples of positive weight alike). Not for an iterator.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._online: OnlineState | None = None
        # What partial_fit goes on from: atoms in their coordinates, and the sums over samples.
        self._learned: tuple[Frame, tuple[NDArray, Sums]] | None = None
        if isinstance(X, Iterator):
            if sample_weight is not None:
                raise ValueError(
                    "sample_weight cannot go with an iterator of batches. Call "
                    "partial_fit(batch, sample_weight=weights) for each of them."
                )
            return self._fit_batches(X)
        coder, kernel = self._checked()
        X = self._validate_training(X, kernel)
        weight = self._checked_weight(sample_weight, X)
        labels = labels_at_hand(y, X)
        self._check_far(X)
        self._forget_classes()
        learn = self._learn_classes if self.per_class else self._learn
        learner, outcome = learn(X, labels, coder, kernel, weight)
        outcome.best.convergence.warn(" of training samples")
        tell_zero_codes(self, outcome.best.convergence, X, " of training samples")
        if isinstance(learner, AtomLearner):
            frame, best = learner.frame, outcome.best
            assert isinstance(best, Snapshot)
            kept = frame.with_samples(None) if isinstance(frame, LandmarkFrame) else frame
            self._learned = (kept, (best.now.vectors, best.sums.alone()))
        return self

    def _checked(self) -> tuple[BaseKernelCoder, Kernel]:
        coder, kernel = super()._checked()
        check_forgetting(self.forgetting)
        named_update(self.update).check(coder._outline(), kernel)
        rounds = as_settings(self.learn_kernel).rounds if self.learn_kernel else 0
        check_checkpoint(self, rounds)
        return coder, kernel

    def _learner(
        self,
        frame: Frame,
        vectors: NDArray,
        X: NDArray,
        chosen: NDArray,
        formulation: Formulation,
        options: Options,
    ) -> Learner:
        update = update_for(self.update, formulation)
        update.check_frame(frame)
        if update.moves_points:
            assert isinstance(self.kernel_, Gaussian)
            return PointLearner(X, chosen, self.kernel_, formulation, options, frame.sample_weight)
        return AtomLearner(frame, vectors, formulation, options, update)

    def _fit_batches(self, batches: Iterator[ArrayLike]) -> Self:
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        for batch in batches:
            self.partial_fit(batch)
        if self._online is None:
            raise ValueError("The iterator of batches was empty.")
        return self

    @available_if(learns_from_batches)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more batch of samples.

        The first batch gives the landmarks (all of it with ``n_landmarks=None``), unless they are
        given, and the first atoms. Only two sums over samples are kept, so that memory does not
        grow.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, p, q)
            A batch of samples.
        y : array-like of shape (n_samples,), default=None
            Class labels, for a balanced first dictionary.
        sample_weight : array-like of shape (n_samples,), default=None
            What each sample counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        coder, kernel = self._checked()
        check_online(self.update, kernel, X)
        learned = getattr(self, "_learned", None)
        if learned is not None:
            frame, (vectors, sums) = learned
            self._online = OnlineState.after(frame, vectors, sums)
            self._learned = None
        first = getattr(self, "_online", None) is None
        X = self._validate_training(X, kernel, reset=first)
        weight = self._checked_weight(sample_weight, X)
        if first:
            labels = labels_at_hand(y, X)
            coder = self._begin(coder, kernel, X, labels, weight)
        else:
            coder = coder._with_labels_of(self.coder_)
        formulation, options = self._coding_of(coder)
        assert self._online is not None
        update = update_for(self.update, formulation)
        outcome = self._online.learn(X, formulation, options, update, self.forgetting, weight)
        outcome.convergence.warn(" of this batch")
        self.objective_history_ = np.append(self.objective_history_, outcome.objective)
        self.n_replaced_ += outcome.n_replaced
        self.n_iter_ += 1
        self._adopt(coder, self._online.frame.dictionary(self._online.vectors))
        tell_zero_codes(self, outcome.convergence, X, " of this batch")
        return self

    def _begin(
        self,
        coder: BaseKernelCoder,
        kernel: Kernel,
        X: NDArray,
        y: NDArray | None,
        sample_weight: NDArray | None,
    ) -> BaseKernelCoder:
        """Kernel, landmarks and first atoms of a first batch; the coder knows their labels."""
        self._check_samples(X, y, coder, sample_weight)
        self.kernel_ = self._resolved(kernel, X, sample_weight)
        random_state = check_random_state(self.random_state)
        landmarks = self._landmarks(X, random_state, sample_weight) or PointDictionary(
            self.kernel_, X, np.arange(len(X))
        )
        frame = LandmarkFrame(landmarks, X)
        frame.sample_weight = sample_weight
        vectors, chosen = self._start(frame, X, y, random_state)
        coder = self._with_atom_labels(coder, y, chosen)
        if self.learn_kernel:
            self.kernel_ = prepared_start(
                self.kernel_,
                *counting_labelled(X, y, sample_weight, self.kernel_),
                as_settings(self.learn_kernel),
            )
            new, vectors = self._learn_kernel(
                coder, frame.dictionary(vectors), frame, frame.weights(vectors), X, y, random_state
            )
            assert isinstance(new, LandmarkFrame)
            frame = new
        if coder.formulation().is_cone:
            vectors = unit_norms(frame, vectors, vectors)[0]
        self._online = OnlineState(frame.with_samples(None), vectors, Sums.none(vectors))
        self.status_ = "online"
        return coder

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """Minus the mean objective of coding these samples: larger is better.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.
        y : ignored
            For pipelines and searches.

        Returns
        -------
        score : float
            Comparable between numbers of atoms, not between values of alpha or kernels,
            which change the objective.
        """
        X = self._validate_query(X)
        formulation, options = self._coding()
        return -mean_objective(formulation, options, self.dictionary_, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self.per_class)
        tags.input_tags.sparse &= self.update != PointsUpdate.name
        return tags
