r"""The kernel as one more half-step of supervised coding.

What is minimised is the objective of supervised coding, the loss of labels and the classifier's
penalty included, over the mean squared distance J of the landmarks in H. J depends on the kernel
alone, so the half-steps for codes, atoms and classifier lower the same quotient, and one history
tells of all four.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...dictionary import PointDictionary
from ...dictionary_learning.base import BaseDictionaryLearning
from ...dictionary_learning.frames import Frame, SampleFrame
from ...dictionary_learning.half_steps.learner import ROUNDING, Snapshot
from ...dictionary_learning.loop import HalfStep
from ...dictionary_learning.state import unit_norms
from ...formulations import Formulation
from ...kernel_learning import JOINT, KernelLearning, as_settings, moved
from ...kernel_learning.bounds import at_bounds, theta_bounds, told
from ...kernel_learning.learning import require_parameters, with_weights
from ...kernel_learning.parts import Part
from ...kernel_learning.ratio import NotFinite, discrepancy
from ...kernel_learning.search import descend
from ...kernels.base import Kernel
from ...kernels.multiple import MultipleKernel
from ...solvers.result import Options
from ..classifiers import LinearClassifier
from ..rules import BilinearRule, Rule
from .labelled import Labelled
from .learner import SupervisedLearner, Supervision
from .ratio import JointRatio

STEPS = 4  # of one half-step: atoms and codes move anyway
TRUST = np.log(2.0)  # most that a logarithm moves in one half-step


class JointKernelLearner(SupervisedLearner):
    """Codes, atoms, classifier and kernel in turn.

    Parameters
    ----------
    frame, vectors, formulation, options, wanted, rng
        As in :class:`~kernelcoding.classification.joint.learner.SupervisedLearner`.
    X : stack
        The training samples.
    settings : KernelLearning
        Bounds of the parameters, and the accuracy of their logarithms.
    """

    def __init__(
        self,
        frame: Frame,
        vectors: NDArray,
        formulation: Formulation,
        options: Options,
        wanted: Supervision,
        rng: np.random.RandomState,
        X: NDArray,
        settings: KernelLearning,
    ):
        super().__init__(frame, vectors, formulation, options, wanted, rng)
        require_parameters(self.kernel)
        self.first = frame, vectors
        self.is_held = False  # whether the kernel stays at its start
        self.X = X
        self.settings = clone(settings).set_params(max_iter=min(STEPS, settings.max_iter))
        self.start = self.kernel
        self.spread, self.extra = discrepancy(frame.landmarks.facts.double)[0], 0.0
        self.scale: float | None = None  # of the regulariser of kernel weights
        among = self.start.statistic(*[self.start.prepare(frame.landmarks.points,
                                                          frame.landmarks.index)] * 2)  # fmt: skip
        self.bounds = theta_bounds(self.start, settings.bounds, among, X)

    @property
    def kernel(self) -> Kernel:
        """The present one."""
        return self.frame.landmarks.kernel

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning: new codes come after the kernel, whose sums atoms need."""
        first, *others = super().steps
        if self.is_held:
            return [first, *others]
        return [first, ("kernel", self.improve_kernel), *others]

    def held(self) -> JointKernelLearner:
        """One that begins as this one began, and keeps the kernel."""
        frame, vectors = self.first
        given = self.formulation, self.options, self.wanted, self.rng, self.X, self.settings
        found = JointKernelLearner(frame, vectors, *given)
        found.is_held = True
        return found

    def on_trial(self, frame: Frame, wanted: Supervision) -> SupervisedLearner:
        """One that keeps the present kernel."""
        given = self.formulation, self.options, wanted, copy.deepcopy(self.rng)
        return SupervisedLearner(frame, self.now.vectors, *given)

    @property
    def quotient(self) -> float:
        """The objective over J, and what unequal shares of several kernels cost."""
        return self.objective / self.spread + self.extra

    def code(self) -> float:
        """As without a kernel to learn."""
        super().code()
        return self.quotient

    def improve(self) -> float:
        """As without a kernel to learn."""
        super().improve()
        return self.quotient

    def classify(self) -> float:
        """As without a kernel to learn."""
        super().classify()
        return self.quotient

    def improve_kernel(self) -> float:
        """Better parameters for the present atoms and classifier, with their codes."""
        ratio, theta, before = self.ratio(), self.kernel.theta, self.quotient
        box = tuple(np.clip(theta + step, *self.bounds) for step in (-TRUST, TRUST))
        try:
            ratio.start_from(theta)
            found, _ = descend(ratio, theta, (box[0], box[1]), self.settings, [])
            loss, spread = ratio.loss_and_spread(found)
        except NotFinite:
            return before
        extra = ratio.regularised(found, loss / spread) - loss / spread
        if loss / spread + extra < before * (1.0 - ROUNDING):
            self._move(ratio, ratio.normalised(found), spread, extra)
        self.scale = ratio.scale
        return self.quotient

    def ratio(self) -> JointRatio:
        """The quotient as a function of the parameters, at the present atoms and classifier."""
        landmarks, kernel, n = self.frame.landmarks, self.kernel, self.frame.n_samples
        prepared = kernel.prepare(landmarks.points, landmarks.index)
        rows = np.arange(n)
        queries = prepared if isinstance(self.frame, SampleFrame) else kernel.prepare(self.X, rows)
        part = Part(rows, np.arange(self.now.vectors.shape[1]), self.now.codes)
        weights = self.frame.weights(self.now.vectors)
        ratio = JointRatio(
            self._of_all(),
            self.options,
            kernel,
            prepared,
            weights,
            queries,
            [part],
            self.settings,
        )
        ratio.penalty, ratio.bounded, ratio.scale = self.now.penalty, self.bounded, self.scale
        return ratio

    def _of_all(self) -> Labelled:
        """What codes of all samples are, labels included; linear scores need no similarities."""
        assert self.eta is not None
        assert isinstance(self.classifier, LinearClassifier)
        return Labelled(
            self.formulation,
            self.rule,
            self.classifier,
            self.targets,
            self.eta * self.wanted.class_weight,
            np.zeros((len(self.targets), 0)),
        )

    def _move(self, ratio: JointRatio, theta: NDArray, spread: float, extra: float) -> None:
        """Go to the space of another kernel, with the codes found there."""
        landmarks = moved(self.frame.landmarks, self.kernel.with_theta(theta))
        assert isinstance(landmarks, PointDictionary)
        frame = self.frame.moved(landmarks)
        weights, codes = ratio.weights, ratio.parts[0].codes
        vectors = frame.coordinates(landmarks.facts.double @ weights, weights)
        if self.bounded:
            vectors = np.asfortranarray(unit_norms(frame, vectors, vectors)[0])
        before = self.frame, self.now, self.objective, self.spread, self.extra, self.quotient
        self.frame, self.spread, self.extra = frame, spread, extra
        self.now = replace(self.now, vectors=vectors, codes=codes)
        self.objective = self.objective_of(self.now)
        if self.quotient > before[5] * (1.0 + ROUNDING):  # rounding of two ways to sum
            self.frame, self.now, self.objective, self.spread, self.extra = before[:5]

    def snapshot(self) -> Snapshot:
        """As without a kernel to learn, and in which space that was."""
        return super().snapshot()._replace(frame=self.frame)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to the space of a snapshot."""
        assert snapshot.frame is not None
        self.frame, self.now = snapshot.frame, snapshot.now

    @property
    def learned_kernel(self) -> Kernel:
        """The present kernel; several kernels say their weights."""
        if self.is_held and not isinstance(self.start, MultipleKernel):
            return self.start  # to the last bit
        return with_weights(self.kernel)  # that of the atoms, to the last bit

    @property
    def note(self) -> str | None:
        """What to say of parameters that ended at a bound."""
        ended = at_bounds(self.kernel.theta, self.bounds)
        if self.is_held or not ended.any():
            return None
        return told(self.start, self.kernel.theta, ended, True)


def is_joint(learn_kernel: bool | KernelLearning) -> bool:
    """Whether the kernel is to be learned with the rest."""
    return bool(learn_kernel) and as_settings(learn_kernel).criterion == JOINT


def check_joint(
    learn_kernel: bool | KernelLearning,
    kernel: Kernel,
    rule: Rule,
    sample_weight: NDArray | None,
) -> None:
    """Refuse what the joint criterion cannot do: ValueError says what can."""
    if not is_joint(learn_kernel):
        return
    instead = 'Use criterion="held-out" or criterion="ratio".'
    if isinstance(rule, BilinearRule):
        raise ValueError(
            'criterion="joint" needs scores that depend on codes alone, which bilinear ones do '
            f'not. {instead} Or use classifier="linear", "max-margin" or "logistic".'
        )
    if sample_weight is not None:
        raise ValueError(
            f'criterion="joint" counts all samples alike, got sample_weight. {instead}'
        )
    if kernel.is_positive_definite is not True:
        raise ValueError(
            f'criterion="joint" needs a kernel that is known to be positive definite, got '
            f"{kernel!r}. {instead}"
        )


def conclude(
    estimator: BaseDictionaryLearning, learner: JointKernelLearner, best: Snapshot
) -> None:
    """Give the estimator the kernel that was learned with the rest, or kept."""
    learner.restore(best)
    estimator.kernel_ = learner.learned_kernel
    estimator.kernel_status_ = "labels" if learner.is_held else "learned"
    history, steps = estimator.objective_history_, estimator.objective_steps_
    estimator.kernel_history_ = history[:1] if learner.is_held else history[steps == "kernel"]
    if learner.note is not None:
        warnings.warn(learner.note, UserWarning, stacklevel=3)
