"""Supervised coding: a classifier learned with the dictionary and the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_consistent_length

from ..coders.bag_of_words import KernelBagOfWords
from ..coders.base import check_positive
from ..coders.pursuit import KernelMatchingPursuit
from ..codes import dense
from ..constraints import AtMost
from ..dictionary import CombinationDictionary
from ..kernels import Kernel
from ..problem import CodingProblem
from .base import BaseDictionaryLearning
from .calibration import Calibration
from .coding import encode
from .frames import Frame
from .labels import Labels
from .rules import RULES
from .supervised_learner import SupervisedLearner, Supervision

DEFAULT_ETA = 0.1


class SupervisedKernelCoding(ClassifierMixin, BaseDictionaryLearning):
    r"""A dictionary and a classifier of its codes, learned together.

    .. math:: \min \frac1M\sum_i \Bigl[\tfrac12\|\phi(x_i) - \Phi(D) y_i\|^2 + \alpha\, r(y_i)
              + \eta\,\ell(l_i, f(x_i, y_i))\Bigr] + \text{price}

    with the score and the price of the classifier

    * ``"linear"``: :math:`f = W^\top y + b`, half the squared error, :math:`\tfrac\rho2\|W\|^2`;
    * ``"bilinear"``: :math:`f_j = \phi(x)^\top W_j y + b_j`, half the squared error,
      :math:`\tfrac{\rho}{2S}\sum_j\|W_j\|^2`;
    * ``"max-margin"``: scores as linear, half the squared hinge
      :math:`\max(0, 1 - t f)^2` of each class against the rest, price as linear;
    * ``"logistic"``: scores as linear, :math:`4 \log(1 + e^{-t f})` of each class against the rest,
      price as linear (Mairal et al., 2009, discriminate in this way).

    Codes, atoms and classifier are updated in turn, each exactly or (codes of bilinear classifiers,
    max-margin and logistic classifiers inside the loop) by steps that lower the objective. Codes of
    training samples look at their labels, codes of other samples cannot: the last classifier is
    fitted to codes of the training samples that look at no labels (``refit=True``).

    Parameters
    ----------
    coder : estimator, default=None
        A coder of this package with ``atoms=None``, whose codes minimise something: sparse, LLC,
        LCC, or the general one. None is ``KernelSparseCoder()``.
    n_atoms : int, default=100
        Number of atoms.
    classifier : {"linear", "bilinear", "max-margin", "logistic"}, default="linear"
        What is learned with the dictionary.
    eta : float or "auto", default="auto"
        Weight of the loss. ``"auto"`` is a tenth of the mean k(x, x) over the mean squared norm
        of targets, times the fourth power of how much better than chance the labels of samples
        left out are predicted from the first codes: labels that cannot be predicted would be
        learned by heart. It is reduced until labels at most halve the errors of training scores:
        codes that follow any label are codes no test sample will have. It does not depend on the
        kernel's scale.
    rho : float or "auto", default="auto"
        Price of the classifier. ``"auto"`` takes what predicts best when each training sample is
        left out in turn (a closed form), once for the first codes and once for the last.
    refit : bool, default=True
        Whether the last classifier is fitted to codes that look at no labels.
    fit_intercept : bool, default=True
        Whether scores have an intercept b, which costs nothing. The paper has none.
    class_weight : dict or "balanced", default=None
        What a sample of each class counts in the loss.
    n_landmarks, landmarks, init, learn_kernel, max_iter, tol, callback, verbose, n_jobs, \
random_state
        As in :class:`KernelDictionaryLearning`; first atoms are balanced over classes.
    warm_start : bool, default=False
        Start from the dictionary of the last ``fit``, which must have seen the same samples. The
        first codes look at no labels, and "auto" chooses anew.

    Attributes
    ----------
    classes_ : array
        The labels; for indicator matrices the columns.
    dictionary_, coder_, kernel_, kernel_history_, n_iter_, n_replaced_, status_
        As in :class:`KernelDictionaryLearning`.
    classifier_ : LinearClassifier or BilinearClassifier
        The last classifier.
    joint_classifier_ : LinearClassifier or BilinearClassifier
        The one learned with the dictionary, on codes that look at labels.
    objective_history_ : array
        After every half-step: first codes and classifier, then atoms, codes, classifier, ...
    objective_steps_ : array of str
        Which half-step each of these was after: "codes", "atoms", "classifier".
    eta_, rho_ : float
        The numbers that "auto" stood for; ``rho_`` of the joint objective.

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

    def __init__(
        self,
        coder=None,
        n_atoms=100,
        classifier="linear",
        eta="auto",
        rho="auto",
        refit=True,
        fit_intercept=True,
        class_weight=None,
        n_landmarks=None,
        landmarks="k-means++",
        init="k-means++",
        learn_kernel=False,
        max_iter=20,
        tol=1e-4,
        warm_start=False,
        callback=None,
        verbose=0,
        n_jobs=None,
        random_state=0,
    ):
        self.coder = coder
        self.n_atoms = n_atoms
        self.classifier = classifier
        self.eta = eta
        self.rho = rho
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
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

    def fit(self, X, y):
        """Learn dictionary and classifier.

        Parameters
        ----------
        X : array-like
            Training samples.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            One label a sample, or a multi-label indicator matrix.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        coder, kernel = self._checked()
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        X = self._validate(X, kernel, reset=True)
        check_consistent_length(X, y)
        self._labels = Labels.of(y)
        self.classes_ = self._labels.classes
        learner, outcome = self._learn(X, self._labels.numbers, coder, kernel)
        vectors, _, self.joint_classifier_ = outcome.best
        self.eta_, self.rho_ = learner.eta, learner.rho
        lesson = learner.lesson(learner.plain_codes(vectors), vectors)
        self.classifier_ = self.joint_classifier_
        rho = self.rho_
        if self.refit:
            rho = learner.rule.choose(lesson) if self.rho == "auto" else rho
            self.classifier_ = learner.rule.fit(lesson, rho)
        scores = learner.rule.left_out(lesson, rho)
        self._calibration = Calibration(self._labels, scores)
        return self

    # Using what was learned --------------------------------------------------------------------

    def decision_function(self, X) -> NDArray:
        """Scores of the classes.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first. For indicator
            matrices, larger means more likely; positive scores are predicted.
        """
        scores = self._scores(X)
        return self._labels.decision(scores)

    def predict(self, X) -> NDArray:
        """The class of highest score, or an indicator matrix of the positive ones.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        labels : array of shape (n,) or (n, n_classes)
        """
        scores = self._scores(X)
        return self._labels.predict(scores)

    def predict_proba(self, X) -> NDArray:
        """Probabilities of the classes.

        Scores are calibrated on training samples, each scored by a classifier (not a dictionary)
        fitted without it: one temperature for all classes, or a sigmoid for each class of an
        indicator matrix, makes the labels as likely as possible.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Rows sum to one, except for indicator matrices.
        """
        scores = self._scores(X)
        return self._calibration.probabilities(scores)

    def _scores(self, X) -> NDArray:
        """Scores of all classes, (n, S); similarities to landmarks are computed once."""
        X = self._validate_query(X)
        dictionary, coder = self.dictionary_, self.coder_
        assert isinstance(dictionary, CombinationDictionary)
        options = coder.training_options()
        facts, weights = dictionary.facts, dictionary.weights
        scores = np.empty((len(X), len(self.classes_)))
        for rows in gen_batches(len(X), 1024):
            own, similarity = dictionary.landmarks.similarities(X[rows])
            problem = CodingProblem(own, similarity @ weights, dictionary.gram, facts)
            codes = encode(coder, problem.astype(np.float64), options)
            scores[rows] = self.classifier_.scores(codes, similarity)
        return scores

    # Machinery ---------------------------------------------------------------------------------

    def _checked(self) -> tuple[Any, Kernel]:
        coder, kernel = super()._checked()
        greedy = isinstance(getattr(coder, "constraint", None), AtMost)
        if greedy or isinstance(coder, (KernelBagOfWords, KernelMatchingPursuit)):
            raise ValueError(
                f"{type(coder).__name__} does not minimise an objective that a loss could be "
                "added to. Use KernelSparseCoder, KernelLLC or KernelLCC; for greedy codes "
                "LabelConsistentKSVD."
            )
        if self.classifier not in RULES:
            raise ValueError(f"classifier must be one of {sorted(RULES)}, got {self.classifier!r}.")
        for name in ("eta", "rho"):
            if getattr(self, name) != "auto":
                check_positive(name, getattr(self, name))
        return coder, kernel

    def _learner(self, frame: Frame, vectors: NDArray, X: NDArray, chosen: NDArray) -> Any:
        rule = RULES[self.classifier]
        targets = self._labels.targets(rule.signed)
        wanted = Supervision(
            rule,
            self._labels,
            targets,
            self._labels.importance(self.class_weight),
            self._unit(frame, targets),
            None if self.eta == "auto" else float(self.eta),
            None if self.rho == "auto" else float(self.rho),
            self.fit_intercept,
        )
        rng = check_random_state(self.random_state)
        return SupervisedLearner(frame, vectors, self.coder_, self._options(), wanted, rng)

    @staticmethod
    def _unit(frame: Frame, targets: NDArray) -> float:
        """A tenth of the mean k(x, x) over the mean squared norm of targets."""
        nobody = np.zeros((frame.dimension, 0))
        total = sum(float(block.self_similarity.sum()) for block in frame.blocks(nobody))
        return DEFAULT_ETA * total / float(np.sum(targets**2))

    def _start(self, frame: Frame, coder, X: NDArray, y, random_state):
        before = getattr(self, "dictionary_", None)
        vectors, chosen = super()._start(frame, coder, X, y, random_state)
        if not self.warm_start or not isinstance(before, CombinationDictionary):
            return vectors, chosen
        if before.weights.shape != (frame.landmarks.n_atoms, self.n_atoms):
            raise ValueError(
                "warm_start=True needs the samples (or landmarks) and the number of atoms of the "
                f"last fit, {before.weights.shape}; got "
                f"{(frame.landmarks.n_atoms, self.n_atoms)}. Use warm_start=False."
            )
        weights = dense(before.weights)
        return frame.coordinates(frame.landmarks.facts.double @ weights, weights), chosen

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.class_weight is None
        return tags
