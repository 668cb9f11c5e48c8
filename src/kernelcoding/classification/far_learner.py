"""Supervised learning from samples that are far away: one pass over blocks for each half-step.

No code is kept. Ridge regression asks of the codes two sums, Y'Y and Y'T, which every pass brings
along; what "auto" stands for, and how likely labels are, is judged on samples drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..blocks import Blocks
from ..dictionary_learning.coding import (
    Coded,
    Everywhere,
    FormulationAt,
    Part,
    Pass,
    code_block,
    coded_of,
)
from ..dictionary_learning.far import refuse_far
from ..dictionary_learning.frames import LandmarkFrame
from ..dictionary_learning.seen import SampleBlock
from ..dictionary_learning.state import Candidate
from ..formulations import Formulation
from ..gram import GramFacts
from ..kernel_learning import KernelLearning
from ..stacks import Stack
from .classifiers import Classifier, LinearClassifier
from .joint_kernel import is_joint
from .labelled import Labelled
from .learner import PASSES, SupervisedLearner, of_classifier
from .ridge import CodeSums
from .rules import LinearRule, Rule
from .task_driven import TASK_DRIVEN

DRAWN = 4000  # samples on which choices are judged


class Asked(Protocol):
    """Parameters of supervised coding that may need all samples."""

    classifier: str | Rule
    training: str
    learn_kernel: bool | KernelLearning


def check_far(estimator: BaseEstimator, asked: Asked, X: Stack | Blocks, rule: Rule) -> None:
    """Refuse what needs all samples here, where they are far away."""
    if asked.training == TASK_DRIVEN:
        why = f"training={TASK_DRIVEN!r} draws batches of samples in any order"
        refuse_far(estimator, X, why, 'training="joint"')
    if type(rule) is not LinearRule:
        why = f"classifier={asked.classifier!r} is fitted to the codes of all samples at once"
        refuse_far(estimator, X, why, 'classifier="linear"')
    if is_joint(asked.learn_kernel):
        why = 'criterion="joint" moves the kernel with the codes of all samples'
        refuse_far(estimator, X, why, 'KernelLearning(criterion="ratio") or "held-out"')


@dataclass(frozen=True, slots=True)
class LabelsBeside:
    """Codes that look at the labels which go with a block."""

    formulation: Formulation
    rule: Rule
    classifier: Classifier
    eta: float

    def __call__(self, block: SampleBlock) -> Labelled:
        """For the labels of these samples."""
        targets, class_weight = labels_of(block)
        return Labelled(
            self.formulation,
            self.rule,
            self.classifier,
            targets,
            self.eta * class_weight,
            block.similarity,
            max_passes=PASSES,
        )


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """What some samples add to the sums for atoms, and to those for a classifier."""

    part: Part
    sums: CodeSums

    def plus(self, other: LabelledPart) -> LabelledPart:
        """What both add."""
        return LabelledPart(self.part.plus(other.part), self.sums.plus(other.sums))


def labels_of(block: SampleBlock) -> tuple[NDArray, NDArray]:
    """Targets (n, S), and what the loss of each sample counts, (n,)."""
    targets, class_weight = block.beside
    assert targets is not None
    ones = np.ones(len(targets))
    return targets.astype(np.float64), ones if class_weight is None else class_weight


def code_and_sum(block: SampleBlock, now: Pass, mean_weight: float) -> LabelledPart:
    """Code some samples, and sum up for atoms and classifier; the codes are not kept."""
    found = code_block(block, replace(now, keep=True))
    targets, class_weight = labels_of(block)
    counted = of_classifier(class_weight, block.weight, mean_weight)
    codes, _ = found.kept[0]
    return LabelledPart(replace(found, kept=()), CodeSums.of(codes, targets, counted))


class FarLearner(SupervisedLearner):
    """Atoms and ridge regression of their codes, for samples in blocks that are not here.

    Parameters
    ----------
    frame, vectors, formulation, options, wanted, rng
        As in :class:`~kernelcoding.classification.learner.SupervisedLearner`; targets may be small
        integers.
    """

    keep_codes = False
    frame: LandmarkFrame
    _code_sums: CodeSums

    def formulations(self, now: Candidate) -> FormulationAt:
        """Codes of a block look at its labels as soon as there is a classifier."""
        classifier = now.classifier
        if classifier is None:
            return Everywhere(self.formulation)
        assert self.eta is not None
        assert isinstance(classifier, LinearClassifier)
        return LabelsBeside(self.formulation, self.rule, classifier, self.eta)

    def code(self) -> float:
        """Codes for the present atoms and classifier, summed up; the first look at no labels."""
        first = self._coded is None
        found = self.visit(self.now.vectors, self.formulations(self.now))
        self._coded, self._code_sums = found
        self.objective = self._coded.objective + self.now.penalty
        return self.classify() if first else self.objective

    def visit(self, vectors: NDArray, formulation_at: FormulationAt) -> tuple[Coded, CodeSums]:
        """One pass over all samples."""
        equal = self.wanted.rule.class_weight is None
        class_weight = None if equal else self.wanted.class_weight
        self.frame.beside = (self.targets, class_weight)
        weight, gram = self.frame.sample_weight, self.frame.gram(vectors)
        mean = 1.0 if weight is None else float(weight.mean())
        now = Pass(gram, GramFacts(gram), formulation_at, self.options)
        found = self.frame.map_reduce(code_and_sum, vectors, (now, mean), LabelledPart.plus)
        return coded_of(self.frame, vectors, found.part), found.sums

    def plain_sums(self, vectors: NDArray) -> tuple[Coded, CodeSums]:
        """Of codes that look at no labels, as ``transform`` will give them."""
        return self.visit(self.frame.renewed(vectors), Everywhere(self.formulation))

    def solved(self, sums: CodeSums, rho: float) -> LinearClassifier:
        """The best classifier of the codes that were summed."""
        weights, bias = sums.solve(rho / self._per_sample, self.rule.fit_intercept)
        return LinearClassifier(weights, bias, 0.5 * rho * float(np.sum(weights**2)))

    def few(self, vectors: NDArray) -> SupervisedLearner:
        """A learner of the samples that were drawn, with these atoms."""
        rows, wanted, weight = self.drawn, self.wanted, self.frame.sample_weight
        frame = self.frame.with_samples(self.frame.X[rows])
        frame.sample_weight = None if weight is None else weight[rows]
        some = replace(
            wanted,
            labels=wanted.labels.take(rows),
            targets=self.targets[rows].astype(np.float64),
            class_weight=wanted.class_weight[rows],
            eta=self.eta,
            rho=self.rho,
        )
        return SupervisedLearner(frame, vectors, self.formulation, self.options, some, self.rng)

    @cached_property
    def drawn(self) -> NDArray:
        """Rows on which choices are judged: all of few samples, or some at random."""
        weight = self.frame.sample_weight
        rows = np.arange(self.frame.n_samples) if weight is None else np.flatnonzero(weight > 0)
        if len(rows) > DRAWN:
            rows = np.sort(self.rng.choice(rows, DRAWN, replace=False))
        return rows

    # What the classifier's half-step asks ------------------------------------------------------

    @property
    def _per_sample(self) -> float:
        assert self.eta is not None
        return self.eta / self.frame.n_samples

    def _choose(self) -> None:
        """What "auto" stands for, on the samples that were drawn."""
        if self.eta is not None and self.rho is not None:
            return
        few = self.few(self.now.vectors)
        few.code()
        self.eta, self.rho, self.is_unsupervised = few.eta, few.rho, few.is_unsupervised

    def _fitted(self, before: Classifier | None) -> Classifier:
        assert self.rho is not None
        return self.solved(self._code_sums, self.rho)

    def _mean_loss(self, classifier: Classifier) -> float:
        assert isinstance(classifier, LinearClassifier)
        missed = self._code_sums.squared_error(classifier.weights, classifier.bias)
        return 0.5 * self._per_sample * missed
