r"""Epochs of training atoms for the loss of a classifier at plain codes.

.. math:: \min_{D, W, b} \frac1n\sum_i v_i\,\ell(l_i, W^\top y(x_i, D) + b) + \tfrac\rho2\|W\|^2

where :math:`y(x, D)` is the code that ``transform`` gives, free of labels. After Mairal, Bach and
Ponce (2012), for atoms of H.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codes import dense, times
from ...dictionary_learning.half_steps.coding import Coded, code_all
from ...dictionary_learning.half_steps.learner import AtomLearner, Snapshot
from ...dictionary_learning.state import Candidate
from ...formulations.adjoint import has_adjoint, pull_back
from ...problem import CodingProblem
from ..classifiers import LinearClassifier
from ..labels import Labels
from ..losses import multinomial
from ..rules.multinomial import RHOS, scale_of
from .atom_steps import AtomSteps
from .augmentation import Augmentation
from .points import PointFrame, PointSteps

DAMPING = 1e-3  # relative to the mean squared norm of atoms
BATCHES, SMALLEST, LARGEST = 20, 32, 128
RATE = 0.02  # of steps of the classifier between its fits

Scorer = tuple[NDArray, NDArray]  # weights (N, S) of scaled codes, and intercepts (S,)


class Lesson(NamedTuple):
    """What is to be learned: known labels of all samples, and who learns from them."""

    labels: Labels
    sample_weight: NDArray  # (n,)
    rows: NDArray  # samples that are learned from
    augmentation: Augmentation | None = None  # other samples with the same labels


class TaskDriven:
    """Trains the atoms of a learner that has learned without labels.

    Parameters
    ----------
    learner : AtomLearner
        Frame, formulation and options.
    start : Candidate
        First atoms and their plain codes.
    lesson : Lesson
    n_epochs : int
        That steps are planned for.
    angle : float
        Of the largest steps of atoms.
    rng : RandomState
    """

    def __init__(
        self,
        learner: AtomLearner,
        start: Candidate,
        lesson: Lesson,
        n_epochs: int,
        angle: float,
        rng: np.random.RandomState,
    ):
        assert has_adjoint(learner.formulation)
        self.frame, self.options = learner.frame, learner.options
        self.formulation = learner.formulation
        self.lesson, self.rng, self.vectors = lesson, rng, start.vectors
        self.coded = self._code(start)
        self.scale = scale_of(self.codes, lesson.sample_weight)  # never changed again
        n = len(lesson.rows)
        self.batch = int(np.clip(n // BATCHES, SMALLEST, LARGEST))
        n_steps = n_epochs * -(-n // self.batch)
        self.steps = (
            PointSteps(self.frame, n_steps, angle)
            if isinstance(self.frame, PointFrame)
            else AtomSteps(self.frame, learner.bounded, n_steps, angle)
        )
        blocks = self.frame.blocks(np.zeros((self.frame.dimension, 0)))
        self._own = np.concatenate([block.self_similarity for block in blocks])
        self.rho = float(RHOS[-1])
        self.scorer: Scorer | None = None

    @property
    def codes(self) -> NDArray:
        """Plain codes of all samples with the present atoms."""
        assert self.coded.codes is not None
        return dense(self.coded.codes)

    def fit(self) -> float:
        """The best classifier of the present codes; its loss and penalty."""
        rows, (labels, sample_weight, *_) = self.lesson.rows, self.lesson
        self.scorer = multinomial.fit(
            self.scale * self.codes[rows],
            labels.members[rows],
            sample_weight[rows],
            self.rho,
            labels.multilabel,
            self.scorer,
        )
        return self.mean_loss(rows) + 0.5 * self.rho * float(np.sum(self.scorer[0] ** 2))

    def losses(self, rows: NDArray) -> NDArray:
        """Of some samples, (n,)."""
        assert self.scorer is not None
        labels = self.lesson.labels
        scores = self.scale * self.codes[rows] @ self.scorer[0] + self.scorer[1]
        return multinomial.losses(scores, labels.members[rows], labels.multilabel)

    def mean_loss(self, rows: NDArray) -> float:
        """Of some samples, each with its weight."""
        return float(np.average(self.losses(rows), weights=self.lesson.sample_weight[rows]))

    def choose_rho(self, judges: NDArray) -> float:
        """The weight of the penalty, and its classifier, by the loss of other samples."""
        found: list[tuple[float, float, Scorer]] = []
        for self.rho in RHOS.tolist():
            self.fit()
            assert self.scorer is not None
            found.append((self.mean_loss(judges), self.rho, self.scorer))
        loss, self.rho, self.scorer = min(found, key=lambda trial: trial[0])
        return loss

    def epoch(self) -> float:
        """Steps over the samples, then the best classifier of all; loss and penalty."""
        order = self.rng.permutation(self.lesson.rows)
        for start in range(0, len(order), self.batch):
            self._step(np.sort(order[start : start + self.batch]))
        self.coded = self._code(Candidate(self.vectors, self.coded.codes))
        return self.fit()

    def _step(self, rows: NDArray) -> None:
        """One step of atoms and classifier along the gradient of the loss of some samples."""
        assert self.scorer is not None
        (weights, bias), (labels, sample_weight, *_) = self.scorer, self.lesson
        points, own = self._samples(rows)
        cross = self.frame.inner(points, self.vectors)
        problem = CodingProblem(own, cross, self.frame.gram(self.vectors))
        codes = self.formulation.solve(problem, self.options).codes
        scores = self.scale * times(codes, weights) + bias
        slopes = multinomial.slopes(scores, labels.members[rows], labels.multilabel)
        pull = slopes * (sample_weight[rows] / sample_weight[rows].sum())[:, None]
        level = DAMPING * float(np.mean(np.diag(problem.gram)))
        wanted = self.scale * pull @ weights.T
        derivatives = pull_back(self.formulation, problem, codes, wanted, level)
        gradient = self.steps.gradient(self.vectors, points, problem, *derivatives)
        rate = RATE * self.steps.size
        self.vectors = self.steps.take(self.vectors, gradient)
        mixed = self.scale * np.asarray(codes.T @ pull)
        self.scorer = (
            weights - rate * (mixed + self.rho * weights),
            bias - rate * pull.sum(axis=0),
        )

    def _samples(self, rows: NDArray) -> tuple[NDArray, NDArray]:
        """Coordinates of some samples, or of others in their place, and their squared norms."""
        if self.lesson.augmentation is None:
            return self.frame.samples(rows), self._own[rows]
        return self.frame.outside(self.lesson.augmentation(rows))

    def _code(self, now: Candidate) -> Coded:
        """All samples, as ``transform`` will code them."""
        return code_all(
            self.frame,
            now.vectors,
            lambda block: self.formulation,
            self.options,
            now.codes,
            keep_codes=True,
        )

    def snapshot(self) -> Snapshot:
        """Atoms and their classifier."""
        assert self.scorer is not None
        weights, bias = self.scorer
        penalty = 0.5 * self.rho * float(np.sum(weights**2))
        classifier = LinearClassifier(self.scale * weights, bias, penalty)
        now = Candidate(self.vectors, self.coded.codes, classifier)
        return Snapshot(now, self.coded.sums, self.coded.convergence)
