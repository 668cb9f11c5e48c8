"""Supervised learning from samples that are far away: one pass over blocks for each half-step.

Ridge regression asks of the codes two sums, Y'Y and Y'T, which every pass brings along: no code is
kept. Other losses ask for a pass over the codes per step; the codes of one round stay with the
workers for these. They are found from nothing, never from those of the round before: a lost part
then costs one block. What "auto" stands for, and how likely labels are, is judged on samples drawn
at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ...blocks import Blocks
from ...codes import stacked
from ...dictionary_learning.far import refuse_far
from ...dictionary_learning.frames import LandmarkFrame, SampleBlock
from ...dictionary_learning.half_steps.coding import (
    Coded,
    Everywhere,
    FormulationAt,
    Part,
    Pass,
    code_block,
    coded_of,
)
from ...dictionary_learning.state import Candidate
from ...formulations import Formulation
from ...gram import GramFacts
from ...kernel_learning import KernelLearning
from ...selection import counting_rows, drawn_rows
from ...stacks import Stack
from ..classifiers import Classifier, LinearClassifier
from ..joint.kernel import is_joint
from ..joint.labelled import Labelled
from ..joint.learner import PASSES, SupervisedLearner, of_classifier
from ..losses.ridge import CodeSums
from ..rules import LinearRule, MaxMarginRule, Rule
from ..task_driven import TASK_DRIVEN
from .codes import FarCodes, LabelledCodes

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
    if not isinstance(rule, LinearRule):
        why = f"classifier={asked.classifier!r} compares the codes of all samples with landmarks'"
        refuse_far(estimator, X, why, 'classifier="linear", "max-margin" or "logistic"')
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
            settles=True,
        )


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """What some samples add to the sums for atoms, and to those for a classifier."""

    part: Part
    sums: CodeSums
    kept: tuple[LabelledCodes, ...] = ()

    def plus(self, other: LabelledPart) -> LabelledPart:
        """What both add."""
        kept = self.kept + other.kept
        return LabelledPart(self.part.plus(other.part), self.sums.plus(other.sums), kept)

    def split(self) -> tuple[LabelledCodes, LabelledPart]:
        """Codes, which stay where they are, and the sums."""
        parts = self.kept
        kept = LabelledCodes(
            stacked([one.codes for one in parts]),
            np.concatenate([one.targets for one in parts]),
            np.concatenate([one.weight for one in parts]),
        )
        return kept, replace(self, kept=())


def labels_of(block: SampleBlock) -> tuple[NDArray, NDArray]:
    """Targets (n, S), and the weight of each sample's loss, (n,)."""
    targets, class_weight = block.beside
    assert targets is not None
    ones = np.ones(len(targets))
    return targets.astype(np.float64), ones if class_weight is None else class_weight


def code_and_sum(
    block: SampleBlock, now: Pass, mean_weight: float, keeps: bool = False
) -> LabelledPart:
    """Code some samples, and sum up for atoms and classifier."""
    found = code_block(block, replace(now, keep=True))
    targets, class_weight = labels_of(block)
    counted = of_classifier(class_weight, block.weight, mean_weight)
    codes, _ = found.kept[0]
    kept = (LabelledCodes(codes, targets.astype(np.int8), counted),) if keeps else ()
    return LabelledPart(replace(found, kept=()), CodeSums.of(codes, targets, counted), kept)


class Visited(NamedTuple):
    """What a pass has found."""

    coded: Coded
    sums: CodeSums
    codes: FarCodes | None  # with the workers, for losses that are no squares


class FarLearner(SupervisedLearner):
    """Atoms and a linear classifier of their codes, for samples in blocks that are not here.

    Parameters
    ----------
    frame, vectors, formulation, options, wanted, rng
        As in :class:`~kernelcoding.classification.joint.learner.SupervisedLearner`; targets may
        be small integers.
    """

    keep_codes = False
    frame: LandmarkFrame
    _visited: Visited | None = None

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
        self._visited = None  # workers may forget the codes of the last round
        self._visited = self.visit(self.now.vectors, self.formulations(self.now))
        self._coded = self._visited.coded
        self.objective = self._coded.objective + self.now.penalty
        return self.classify() if first else self.objective

    def visit(self, vectors: NDArray, formulation_at: FormulationAt) -> Visited:
        """One pass over all samples."""
        equal = self.wanted.rule.class_weight is None
        class_weight = None if equal else self.wanted.class_weight
        self.frame.beside = (self.targets, class_weight)
        weight, gram = self.frame.sample_weight, self.frame.gram(vectors)
        mean = 1.0 if weight is None else float(weight.mean())
        now = Pass(gram, GramFacts(gram), formulation_at, self.options)
        if not self.rule.adapts:
            found = self.frame.map_reduce(code_and_sum, vectors, (now, mean), LabelledPart.plus)
            return Visited(coded_of(self.frame, vectors, found.part), found.sums, None)
        found, kept = self.frame.map_keep(
            code_and_sum, vectors, (now, mean, True), LabelledPart.plus, LabelledPart.split
        )
        codes = FarCodes(kept, found.sums)
        return Visited(coded_of(self.frame, vectors, found.part), found.sums, codes)

    def plain(self, vectors: NDArray) -> Visited:
        """Codes that look at no labels, as ``transform`` will give them."""
        return self.visit(self.frame.renewed(vectors), Everywhere(self.formulation))

    def best_of(
        self, seen: Visited, rho: float, before: LinearClassifier | None = None
    ) -> LinearClassifier:
        """The best classifier of the codes of a pass; given one, at least a better one."""
        regularization = rho / self._per_sample
        if seen.codes is None:
            weights, bias = seen.sums.solve(regularization, self.rule.fit_intercept)
        else:
            assert isinstance(self.rule, MaxMarginRule)
            weights, bias = seen.codes.fitted(self.rule, regularization, before)
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
        rows = counting_rows(self.frame.n_samples, self.frame.sample_weight)
        return drawn_rows(rows, DRAWN, self.rng)

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
        assert few.rho is not None
        # As of samples in memory: what was best for some of them is a penalty beside their sum.
        share = 1.0 if self.rho is not None else few.frame.n_samples / self.frame.n_samples
        self.eta, self.rho, self.is_unsupervised = few.eta, few.rho * share, few.is_unsupervised

    def _fitted(self, before: Classifier | None) -> Classifier:
        assert self.rho is not None
        assert self._visited is not None
        assert before is None or isinstance(before, LinearClassifier)
        return self.best_of(self._visited, self.rho, before)

    def _mean_loss(self, classifier: Classifier) -> float:
        assert isinstance(classifier, LinearClassifier)
        assert self._visited is not None
        seen = self._visited
        if seen.codes is None:
            missed = seen.sums.squared_error(classifier.weights, classifier.bias)
            return 0.5 * self._per_sample * missed
        assert isinstance(self.rule, MaxMarginRule)
        return self._per_sample * seen.codes.loss(self.rule, classifier)
