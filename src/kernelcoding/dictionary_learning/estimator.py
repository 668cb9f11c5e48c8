"""Dictionary learning in Hilbert space."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from ..coders.base import BaseKernelCoder
from ..coders.coding import mean_objective
from ..formulations import Formulation
from ..kernel_learning import KernelLearning, as_settings
from ..kernels import Gaussian, Kernel
from ..solvers.result import Options
from .checkpoints import check_checkpoint
from .checks import check_forgetting, tell_zero_codes
from .far import labels_at_hand
from .frames import Frame
from .half_steps.learner import AtomLearner, Snapshot
from .half_steps.point_learner import PointLearner
from .half_steps.protocol import Learner
from .loop import Progress
from .online.estimator import OnlineDictionaryLearning
from .updates import named_update, update_for
from .updates.points import PointsUpdate


class KernelDictionaryLearning(OnlineDictionaryLearning):
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
        Largest number of rounds of codes and atoms.
    tol : float, default=1e-4
        Learning ends when a round lowers the objective by less than this fraction.
    forgetting : float in (0, 1] or "auto", default="auto"
        Weight of the past in ``partial_fit``: sums are multiplied by it before each batch.
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
    checkpoint : path-like, default=None
        A file that ``fit`` writes after every round and goes on from where it is there already: a
        fit that was killed loses one round, and ends with the same bits as one that was not. The
        file is a model that :func:`kernelcoding.load` reads; it is removed when learning ends by
        itself. It needs landmarks, an integer ``random_state`` and atoms that are combinations of
        landmarks. Other samples are refused, and other parameters, except ``max_iter``, ``tol``,
        ``callback``, ``verbose`` and ``n_jobs``.

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
    bag of words choose neighbours anew with every dictionary, which may raise the objective, and
    so may matching pursuit where samples are too many to keep their codes: the best round is kept.

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
            Weights of samples in the objective, the sums and the choice of first atoms: a weight of
            two is as good as the sample twice, zero as good as no sample (a learned kernel looks at
            all samples of positive weight alike). Not for an iterator.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._online = self._learned = None
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
            self._learned = (frame.without_samples(), (best.now.vectors, best.sums.alone()))
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
