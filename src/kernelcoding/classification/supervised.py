"""Supervised coding: a classifier learned with the dictionary and the kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length

from ..blocks import Blocks
from ..coders.base import BaseKernelCoder
from ..codes import dense
from ..dictionary import CombinationDictionary
from ..dictionary_learning.checks import tell_zero_codes
from ..dictionary_learning.far import at_hand
from ..dictionary_learning.frames import Frame, LandmarkFrame
from ..dictionary_learning.half_steps.point_learner import PointLearner
from ..dictionary_learning.half_steps.protocol import Learner
from ..dictionary_learning.loop import Outcome, Progress
from ..dictionary_learning.state import Candidate
from ..distributed.inputs import is_lazy
from ..formulations import Formulation
from ..kernel_learning import KernelLearning, as_settings
from ..kernels import Gaussian, Kernel
from ..parallel import steady_blas
from ..solvers.result import Convergence, Options
from ..validation import check_positive, require_target
from .classifiers import Classifier
from .far.learner import FarLearner, check_far
from .joint.kernel import JointKernelLearner, check_joint, conclude, is_joint
from .joint.learner import SupervisedLearner, Supervision, loss_unit
from .joint.veto import judged
from .labels import Labels
from .last_classifier import last_classifier
from .rules import Rule, as_rule
from .scoring import ScoringDictionaryLearning
from .task_driven import (
    POINTS,
    TASK_DRIVEN,
    UNSUPERVISED,
    Augment,
    PlainLearner,
    check_training,
    of_points,
    train,
)


class SupervisedKernelCoding(ClassifierMixin, ScoringDictionaryLearning):
    r"""A dictionary and a classifier of its codes, learned together.

    .. math:: \min \frac1M\sum_i \Bigl[\tfrac12\|\phi(x_i) - \Phi(D) y_i\|^2 + \alpha\, r(y_i)
              + \eta\,\ell(l_i, f(x_i, y_i))\Bigr] + \text{penalty}

    with the score, the loss and the penalty of the classifier

    * ``"linear"``: :math:`f = W^\top y + b`, half the squared error, :math:`\tfrac\rho2\|W\|^2`;
    * ``"bilinear"``: :math:`f_j = \phi(x)^\top W_j y + b_j`, half the squared error,
      :math:`\tfrac{\rho}{2S}\sum_j\|W_j\|^2`;
    * ``"max-margin"``: scores as linear, half the squared hinge
      :math:`\max(0, 1 - t f)^2` of each class against the rest, penalty as linear;
    * ``"logistic"``: scores as linear, :math:`4 \log(1 + e^{-t f})` of each class against the rest,
      penalty as linear (Mairal et al., 2009, discriminate in this way); the last classifier has the
      logistic loss of all classes at once.

    Codes, atoms and classifier are updated in turn, each exactly or (codes of bilinear classifiers,
    max-margin and logistic classifiers inside the loop) by steps that lower the objective. Codes of
    training samples look at their labels, codes of other samples cannot: the last classifier is
    fitted to codes of the training samples that look at no labels, unless its rule says
    ``refit=False``.

    Parameters
    ----------
    coder : estimator, default=None
        A coder of this package with ``atoms=None``, whose codes minimise something: sparse, LLC,
        LCC, or the general one. None is ``KernelSparseCoder()``.
    n_atoms : int or None, default=None
        Number of atoms to learn. None: one for four samples of positive weight, at most 200 and at
        least one per class, or one per landmark; a number that is too large is refused.
    classifier : {"linear", "bilinear", "max-margin", "logistic"} or rule, default="linear"
        What is learned with the dictionary. A name stands for a rule with its defaults; a rule,
        such as ``MaxMarginRule(class_weight="balanced")`` of ``kernelcoding.classification``,
        has its own ``rho``, ``fit_intercept``, ``class_weight`` and ``refit``.
    eta : float or "auto", default="auto"
        Weight of the loss. ``"auto"`` is

        .. math:: \eta = \frac{1}{10}\,\frac{\sum_i k(x_i, x_i)}{\sum_i \|l_i\|^2}\,
                  \frac{\max(s^4, 10^{-4})}{\max(c, 1)}

        with the targets :math:`l_i` of the samples. The skill s is how much better than chance the
        labels of samples left out are predicted from the first codes: labels that cannot be
        predicted would be learned by heart. Looking at labels divides the errors of training
        scores by :math:`1 + c`: codes that follow any label are codes no test sample will have.
        It does not depend on the kernel's scale. It is zero (``eta_``; ``training_kept_`` is
        "unsupervised") where labels cannot be predicted (:math:`s^4 < 10^{-4}`), or where codes
        follow labels (:math:`c > 1`) and two rounds with labels do not lower the loss of samples
        left out below that of two rounds without.
    rho : float, "auto" or None, default=None
        Weight of the classifier's penalty, short for the rule's own; None leaves it to the rule,
        whose default ``"auto"`` takes what predicts best on samples left out.
    n_landmarks, landmarks, init, learn_kernel : various
    max_iter, tol, callback, verbose, n_jobs, random_state : various
        As in :class:`KernelDictionaryLearning`; first atoms are balanced over classes.
    warm_start : bool, default=False
        Start from the dictionary of the last ``fit``, which must have seen the same samples. The
        first codes look at no labels, and "auto" chooses anew.
    training : {"joint", "task-driven"}, default="joint"
        Joint training minimises the objective above. Task-driven training learns a dictionary
        without labels, then changes its atoms along the gradient of the logistic loss of all
        classes at plain codes (Mairal, Bach and Ponce, 2012, here for atoms of H): labels never
        enter a code. It has as many epochs as ``max_iter`` and does not look at ``eta``;
        ``"logistic"`` then is the classifier with this loss, others are fitted afterwards. Trials
        with a dictionary of four of five samples come first: unless the loss of the others falls by
        more than half its standard error, the dictionary stays as it is. It pays for few atoms.
        Codes are those of KernelSparseCoder without groups, KernelLCC, KernelLLC, or KernelCoder
        with their priors, a ridge or none.
    update : {"auto", "points"}, default="auto"
        With ``"points"`` atoms are points of the input space, for task-driven training with the
        Gaussian kernel: the model then keeps these alone, and coding a sample takes one kernel
        value per atom. Classifiers are all but the bilinear one.
    augment : callable, default=None
        For task-driven training: ``augment(X_batch, random_state)`` returns as many samples of the
        same labels, for example images moved by a pixel, that epochs see in the place of the
        batch; all else sees the samples. Without ``n_landmarks`` or points, atoms live in the span
        of all samples, whose spectrum is computed once.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels; for indicator matrices the columns.
    dictionary_, n_atoms_, coder_, kernel_, kernel_history_, n_iter_, n_replaced_, status_
        As in :class:`KernelDictionaryLearning`.
    classifier_ : LinearClassifier or BilinearClassifier
        The last classifier.
    joint_classifier_ : LinearClassifier or BilinearClassifier
        The one learned with the dictionary, on codes that look at labels.
    objective_history_ : array of shape (n_half_steps,)
        After every half-step: first codes and classifier, then atoms, codes, classifier, ...;
        with ``KernelLearning(criterion="joint")``, over the mean squared distance of landmarks,
        of the run that was kept.
    objective_steps_ : array of str of shape (n_half_steps,)
        Which half-step each was after: "codes", "atoms", "classifier", and "kernel" where that is
        joint. In task-driven training also "trial atoms" and "trial codes" (without labels),
        "trial" (mean loss of samples left out) and "epoch" (that of all, penalised; first "codes").
    eta_, rho_ : float
        The numbers that "auto" stood for; ``rho_`` of the joint objective.
    training_kept_ : str
        Which dictionary was kept: "joint" or "task-driven" as asked for, or "unsupervised" where
        task-driven training did not help samples left out, or was stopped before it began, or
        where ``eta="auto"`` found no use for labels.

    Notes
    -----
    Section "Supervised Kernel Coding" of the paper, and the max-margin classifiers of its future
    work. The bilinear classifier is found by kernel ridge regression with the product kernel
    :math:`k(x, x')\,(y \cdot y')`, one system of the size of the training set for all classes,
    or of the number of landmarks. Priors look at distances in H, not at labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelSparseCoder, SupervisedKernelCoding
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SupervisedKernelCoding(KernelSparseCoder(alpha=0.01), n_atoms=100, max_iter=5)
    >>> model.fit(X[:500], y[:500]).score(X[500:], y[500:]) > 0.9
    True
    """

    classes_: NDArray
    classifier_: Classifier
    joint_classifier_: Classifier
    eta_: float
    rho_: float
    training_kept_: str
    _kept_for_learning = ("callback",)
    _learns_far = True

    def __init__(
        self,
        coder: BaseKernelCoder | None = None,
        n_atoms: int | None = None,
        classifier: str | Rule = "linear",
        eta: float | str = "auto",
        rho: float | str | None = None,
        n_landmarks: int | None = None,
        landmarks: str | ArrayLike = "k-means++",
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        max_iter: int = 20,
        tol: float = 1e-4,
        warm_start: bool = False,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        training: str = "joint",
        update: str = "auto",
        augment: Augment | None = None,
    ) -> None:
        self.coder = coder
        self.n_atoms = n_atoms
        self.classifier = classifier
        self.eta = eta
        self.rho = rho
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.init = init
        self.learn_kernel = learn_kernel
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.training = training
        self.update = update
        self.augment = augment

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn dictionary and classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Training samples. Samples of Dask stay where they are, with ``n_landmarks`` and any
            but the bilinear classifier: workers pass over the blocks once per round, and keep codes
            (found anew, not by a step from the last ones) for the steps of max-margin and logistic
            classifiers. What "auto" stands for is found on 4000 samples drawn at random.
        y : array-like of shape (n_samples,) or (n_samples, n_classes), or labels of Dask
            One label per sample, or a multi-label indicator matrix; always in memory here.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of samples, of their errors and of their losses; see
            :class:`KernelDictionaryLearning`. What "auto" chooses is judged on single samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        coder, kernel = self._checked()
        rule = as_rule(self.classifier, self.rho)
        require_target(self, y)
        X = self._validate_training(X, kernel)
        check_far(self, self, X, rule)
        y = y if not is_lazy(y) else cast(NDArray, at_hand(y, X))
        check_consistent_length(X, y)
        weight = self._checked_weight(sample_weight, X)
        check_joint(self.learn_kernel, kernel, rule, weight)
        self._labels = Labels.of(y)
        self.classes_ = self._labels.classes
        learner, outcome = self._learn(X, self._labels.given, coder, kernel, weight)
        if isinstance(learner, PointLearner):
            rng = check_random_state(self.random_state)
            learner, outcome = of_points(learner, outcome, self._supervision, rng)
        assert isinstance(learner, SupervisedLearner)
        best = outcome.best
        self.training_kept_ = UNSUPERVISED if learner.is_unsupervised else self.training
        if isinstance(learner, PlainLearner):
            best, self.training_kept_ = train(self, learner, outcome, self._labels)
            self._adopt(self.coder_, learner.dictionary(best))
        if isinstance(learner, JointKernelLearner):
            conclude(self, learner, best)
        without_labels = self._finish(learner, best.now, rule)
        (best.convergence + without_labels).warn(" of training samples")
        tell_zero_codes(self, without_labels, X, " of training samples")
        return self

    def _finish(self, learner: SupervisedLearner, best: Candidate, rule: Rule) -> Convergence:
        """The last classifier, of codes that look at no labels, and its calibration."""
        assert learner.eta is not None
        assert learner.rho is not None
        assert best.classifier is not None
        self.eta_ = 0.0 if learner.is_unsupervised else learner.eta
        self.rho_ = learner.rho
        self.joint_classifier_ = cast(Classifier, best.classifier)
        with steady_blas(learner.largest_product):
            last = last_classifier(learner, best, rule, self._labels)
        self.classifier_, self._calibration = last.classifier, last.calibration
        self._labels = last.calibration.labels  # where samples are far away, of those drawn
        return last.convergence

    # Machinery ---------------------------------------------------------------------------------

    def _checked(self) -> tuple[BaseKernelCoder, Kernel]:
        coder, kernel = super()._checked()
        if not coder._outline().is_minimiser:
            raise ValueError(
                f"{type(coder).__name__} does not minimise an objective that a loss could be "
                "added to. Use KernelSparseCoder, KernelLLC or KernelLCC; for greedy codes "
                "LabelConsistentKSVD."
            )
        if self.eta != "auto":
            check_positive("eta", self.eta)
        check_training(self, coder, kernel, as_rule(self.classifier, self.rho))
        return coder, kernel

    def _frame(
        self,
        X: NDArray,
        random_state: np.random.RandomState,
        sample_weight: NDArray | None = None,
    ) -> Frame:
        """Other samples have no place in the frame of all samples: theirs is the span of these."""
        frame = super()._frame(X, random_state, sample_weight)
        if self.augment is None or self.update == POINTS or isinstance(frame, LandmarkFrame):
            return frame
        spanning = LandmarkFrame(frame.landmarks, X)
        spanning.sample_weight = sample_weight
        return spanning

    def _learner(
        self,
        frame: Frame,
        vectors: NDArray,
        X: NDArray,
        chosen: NDArray,
        formulation: Formulation,
        options: Options,
    ) -> Learner:
        if self.update == POINTS:
            assert isinstance(self.kernel_, Gaussian)
            return PointLearner(X, chosen, self.kernel_, formulation, options, frame.sample_weight)
        far = isinstance(X, Blocks)
        kind: Callable[..., SupervisedLearner] = FarLearner if far else SupervisedLearner
        if self.training == TASK_DRIVEN:
            kind = PlainLearner
        elif is_joint(self.learn_kernel):
            kind = partial(JointKernelLearner, X=X, settings=as_settings(self.learn_kernel))
        wanted, rng = self._supervision(frame), check_random_state(self.random_state)
        return kind(frame, vectors, formulation, options, wanted, rng)

    def _judged(
        self, learner: Learner, outcome: Outcome, y: NDArray | None, chosen: NDArray
    ) -> tuple[Learner, Outcome]:
        return judged(self, learner, outcome, y, chosen, self._alternate)

    def _supervision(self, frame: Frame) -> Supervision:
        """What is asked of the classifier of samples that a frame has."""
        rule = as_rule(self.classifier, self.rho)
        far = isinstance(frame.stack, Blocks)
        targets = self._labels.targets(rule.signed, np.int8 if far else np.float64)
        return Supervision(
            rule,
            self._labels,
            targets,
            self._labels.sample_weight(rule.class_weight, frame.sample_weight),
            loss_unit(frame, targets),
            None if self.eta == "auto" else float(self.eta),
            None if rule.rho == "auto" else float(rule.rho),
        )

    @property
    def _learns_jointly(self) -> bool:
        return self.training != TASK_DRIVEN

    def _start(
        self, frame: Frame, X: NDArray, y: NDArray | None, random_state: np.random.RandomState
    ) -> tuple[NDArray, NDArray]:
        before = getattr(self, "dictionary_", None)
        vectors, chosen = super()._start(frame, X, y, random_state)
        if not self.warm_start or not isinstance(before, CombinationDictionary):
            return vectors, chosen
        if before.weights.shape != (frame.landmarks.n_atoms, self.n_atoms_):
            raise ValueError(
                "warm_start=True needs the samples (or landmarks) and the number of atoms of the "
                f"last fit, {before.weights.shape}; got "
                f"{(frame.landmarks.n_atoms, self.n_atoms_)}. Use warm_start=False."
            )
        weights = dense(before.weights)
        return frame.coordinates(frame.landmarks.facts.double @ weights, weights), chosen

    def _with_atom_labels(
        self, coder: BaseKernelCoder, y: NDArray | None, chosen: NDArray
    ) -> BaseKernelCoder:
        if self.warm_start and hasattr(self, "coder_"):  # the same atoms, with their labels
            return coder._with_labels_of(self.coder_)
        return super()._with_atom_labels(coder, y, chosen)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``classifier__rho`` works for a classifier given by name, too."""
        given = params.get("classifier", self.classifier)
        if isinstance(given, str) and any(name.startswith("classifier__") for name in params):
            params = {**params, "classifier": as_rule(given)}
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = getattr(self.classifier, "class_weight", None) is None
        tags.input_tags.sparse &= self.update != POINTS
        return tags
