"""Codes, atoms and classifier in turn: the half-steps of supervised coding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gram import GramFacts
from ..problem import Codes, CodingProblem
from ..solvers.choose import Options
from .alternation import HalfStep
from .coding import Sums, code_samples, encode, problem_of
from .frames import Frame
from .labels import Labels
from .learner import ROUNDING, AtomLearner
from .rules import Lesson, Rule
from .supervision import LabelledCoder

CAUTION = 4  # power of the predictable share of labels that their loss counts with
LEAST = 1e-4
TRIED = 300  # samples whose codes are tried with a weight of the loss
# Over the codes that look at a bilinear classifier. One lowers the objective; as the classifier
# moves anyway, rounds are better spent than passes.
PASSES = 1


@dataclass(frozen=True, slots=True)
class Supervision:
    """What is asked of the classifier."""

    rule: Rule
    labels: Labels
    targets: NDArray  # (M, S) made of the labels
    importance: NDArray  # (M,)
    unit: float  # weight of a loss that matters as much as the error
    eta: float | None  # weight of the loss; None chooses it with the first codes
    rho: float | None  # price of the classifier; None chooses it with the first codes
    intercept: bool


class SupervisedLearner(AtomLearner):
    """Atoms and a classifier of their codes, each half-step lowering one objective.

    Parameters
    ----------
    frame, vectors, options
        As in :class:`AtomLearner`.
    coder : BaseKernelCoder
        Fitted.
    wanted : Supervision
    rng : RandomState
    """

    def __init__(
        self,
        frame: Frame,
        vectors: NDArray,
        coder: Any,
        options: Options,
        wanted: Supervision,
        rng: np.random.RandomState,
    ):
        self.plain, self.wanted, self.rng = coder, wanted, rng
        self.labelled = LabelledCoder(
            coder, wanted.rule, wanted.targets, wanted.importance, max_passes=PASSES
        )
        super().__init__(frame, vectors, self.labelled, options, "auto")
        self.rule, self.targets = wanted.rule, wanted.targets
        self.eta, self.rho = wanted.eta, wanted.rho
        self._rescaled: Any = None  # the classifier that goes with the candidate last offered

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code), ("classifier", self.classify)]

    def code(self) -> float:
        """Codes for the present atoms and classifier; the first ones look at no labels."""
        first = self.coded is None
        objective = super().code()
        if first:
            return self.classify()
        return objective + self.labelled.classifier.price

    def improve(self) -> float:
        """Better atoms for the present codes and classifier."""
        return super().improve() + self.labelled.classifier.price

    def classify(self) -> float:
        """The best classifier of the present codes."""
        assert self.coded is not None
        before = self.labelled.classifier
        if before is None:
            self._choose()
        assert self.rho is not None
        found = self.rule.fit(self.lesson(self.coded.codes, self.vectors), self.rho, before)
        change = self._mean_loss(found)
        if before is not None:
            change -= self._mean_loss(before)
            price, total = before.price, self.coded.objective
            if change + found.price - price > ROUNDING * total:  # few centres: not always better
                return total + price
        self.labelled.classifier = found
        self.coded.objective += change
        return self.coded.objective + found.price

    def _choose(self) -> None:
        """Weight of the loss and price of the classifier, by scores of samples left out.

        A label that cannot be predicted is noise to a dictionary, which would learn it by heart:
        the loss counts the less, the less of the labels is predictable, and the less, the more
        the codes follow their labels.
        """
        assert self.coded is not None
        chosen, self.eta = self.eta is None, self.eta or self.wanted.unit
        lesson = self.lesson(self.coded.codes, self.vectors)
        rho = self.rule.choose(lesson) if self.rho is None else self.rho
        self._weigh(self.eta)
        if chosen:
            skill = self.wanted.labels.skill(self.rule.left_out(lesson, rho))
            classifier = self.rule.fit(lesson, rho, exact=False)
            self._weigh(self.eta * max(skill**CAUTION, LEAST))
            self._weigh(self.eta / max(self._obedience(classifier), 1.0))
            if self.rho is None:  # the same classifier
                rho *= self.eta / self.wanted.unit
        self.rho = rho

    def _weigh(self, eta: float) -> None:
        self.eta = eta
        self.labelled.etas = eta * self.wanted.importance

    def _obedience(self, classifier: Any) -> float:
        r"""How far codes follow their labels: c, where looking at them divides errors by 1 + c.

        Scores that depend on one direction of a code, in which its objective has the curvature h,
        have :math:`c = \eta/h`. Codes with c far above 1 follow any label; no test sample will
        have such codes, and the dictionary learns little from them.
        """
        assert self.coded is not None
        assert self.coded.codes is not None
        gram = self.frame.gram(self.vectors)
        facts, stride = GramFacts(gram), -(-self.frame.n_samples // TRIED)
        before = after = 0.0
        for block in self.frame.blocks(self.vectors):
            few = block.every(stride)
            here, plain = self.labelled.at(few), self.coded.codes[few.rows]
            here.classifier = classifier
            options = replace(self.options, start=plain)
            followed = encode(here, problem_of(few, gram, facts), options)
            before += float(here.etas @ here.loss(plain))
            after += float(here.etas @ here.loss(followed))
        return np.sqrt(before / max(after, LEAST * before)) - 1.0 if before > 0 else 0.0

    def lesson(self, codes: Codes, vectors: NDArray) -> Lesson:
        """What a classifier of these codes is fitted to."""
        assert self.eta is not None
        return Lesson(
            self.frame, codes, self.targets, self.wanted.importance, self.eta,
            self.wanted.intercept, self.rng, lambda: self._codes_of_landmarks(vectors),
        )  # fmt: skip

    def plain_codes(self, vectors: NDArray) -> Codes:
        """Codes of all samples that look at no labels."""
        blind = LabelledCoder(self.plain, self.rule, self.targets, self.labelled.etas)
        return code_samples(self.frame, vectors, blind, self.options).codes

    def snapshot(self) -> tuple[NDArray, Sums, Any]:  # type: ignore[override]
        """Atoms, what was summed with them, and the classifier."""
        return (*super().snapshot(), self.labelled.classifier)

    def _codes_of_landmarks(self, vectors: NDArray) -> Codes:
        landmarks, weights = self.frame.landmarks, self.frame.weights(vectors)
        kernel = landmarks.facts.double
        problem = CodingProblem(np.diag(kernel), kernel @ weights, self.frame.gram(vectors))
        return encode(self.plain, problem, self.options)

    def _mean_loss(self, classifier: Any) -> float:
        """What a classifier of the present codes adds to the mean objective."""
        assert self.coded is not None
        assert self.coded.codes is not None
        total = 0.0
        nobody = np.zeros((self.frame.dimension, 0))
        for block in self.frame.blocks(nobody):
            here = self.labelled.at(block)
            here.classifier = classifier
            total += float(here.etas @ here.loss(self.coded.codes[block.rows]))
        return total / self.frame.n_samples

    # Atoms are scaled to unit norm, codes inversely; the classifier must follow -----------------

    def _scaled(self, vectors: NDArray) -> tuple[NDArray, Codes]:
        scaled = super()._scaled(vectors)
        self._rescaled = self.labelled.classifier.scaled(self._norms)
        return scaled

    def _objective(self, vectors: NDArray, codes: Codes) -> float:
        before = self.labelled.classifier
        if self._rescaled is None:
            return super()._objective(vectors, codes)
        self.labelled.classifier = self._rescaled
        objective = super()._objective(vectors, codes)
        self.labelled.classifier = before
        return objective + self._rescaled.price - before.price

    def _adopt(self, vectors: NDArray, codes: Codes, objective: float) -> None:
        if self._rescaled is not None:
            objective -= self._rescaled.price - self.labelled.classifier.price
            self.labelled.classifier = self._rescaled
            self._rescaled = None
        super()._adopt(vectors, codes, objective)
