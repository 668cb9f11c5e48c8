"""Codes, atoms and classifier in turn: the half-steps of supervised coding."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, count_nonzero, some_rows
from ...dictionary_learning.frames import Frame, SampleBlock
from ...dictionary_learning.half_steps.coding import (
    Everywhere,
    FormulationAt,
    Solved,
    problem_of,
    solve_all,
    total,
)
from ...dictionary_learning.half_steps.learner import ROUNDING, AtomLearner
from ...dictionary_learning.loop import HalfStep
from ...dictionary_learning.state import Candidate
from ...dictionary_learning.updates import update_for
from ...formulations import Formulation
from ...gram import GramFacts
from ...problem import CodingProblem
from ...selection import counting_rows
from ...solvers.result import Options
from ..classifiers import Classifier
from ..labels import Labels
from ..losses.ridge import NOTHING
from ..rules import Rule, TrainingCodes
from .labelled import Labelled, LastScores
from .trial import helps

DEFAULT_ETA = 0.1
CAUTION = 4  # the loss is weighed by this power of the predictable share of labels
LEAST = 1e-4
NO_SUPERVISION = 1e-8  # weight of the loss, relative to its unit: next to nothing
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
    class_weight: NDArray  # (M,) weight of each sample's loss beside its error
    unit: float  # weight of a loss that matters as much as the error
    eta: float | None  # weight of the loss; None chooses it with the first codes
    rho: float | None  # weight of the classifier's penalty; None chooses it with the first codes


class SupervisedLearner(AtomLearner):
    """Atoms and a classifier of their codes, each half-step lowering one objective.

    Parameters
    ----------
    frame, vectors, formulation, options
        As in :class:`~kernelcoding.dictionary_learning.half_steps.learner.AtomLearner`.
    wanted : Supervision
    rng : RandomState
    """

    keep_codes = True
    settles = False  # whether codes are found from nothing: else by a step from the last ones

    def __init__(
        self,
        frame: Frame,
        vectors: NDArray,
        formulation: Formulation,
        options: Options,
        wanted: Supervision,
        rng: np.random.RandomState,
    ):
        super().__init__(frame, vectors, formulation, options, update_for("auto", formulation))
        self.wanted, self.rng = wanted, rng
        self.rule, self.targets = wanted.rule, wanted.targets
        self.eta, self.rho = wanted.eta, wanted.rho
        self.is_unsupervised = False  # by what "auto" has chosen
        self._last_scores = LastScores()

    @property
    def classifier(self) -> Classifier | None:
        """The present classifier; None before the first codes."""
        return cast(Classifier | None, self.now.classifier)

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code), ("classifier", self.classify)]

    def formulations(self, now: Candidate) -> FormulationAt:
        """Codes of a block look at its labels as soon as there is a classifier."""
        if now.classifier is None:
            return Everywhere(self.formulation)
        return partial(self._labelled, classifier=cast(Classifier, now.classifier))

    def _labelled(self, block: SampleBlock, classifier: Classifier) -> Labelled:
        assert self.eta is not None
        return Labelled(
            self.formulation,
            self.rule,
            classifier,
            self.targets[block.rows],
            self.eta * self.wanted.class_weight[block.rows],
            block.similarity,
            max_passes=PASSES,
            settles=self.settles,
            last=self._last_scores,
        )

    def code(self) -> float:
        """Codes for the present atoms and classifier; the first ones look at no labels."""
        first = self._coded is None
        objective = super().code()
        return self.classify() if first else objective

    def objective_of(self, candidate: Candidate) -> float:
        """As without labels; an update that scales atoms leaves all scores as they are."""
        now, is_scaled = self.now, candidate.classifier is not self.now.classifier
        if is_scaled and _same_count(now.codes, candidate.codes):  # else an atom is gone
            self._last_scores.rename(
                (now.codes, now.classifier), (candidate.codes, candidate.classifier)
            )
        return super().objective_of(candidate)

    def classify(self) -> float:
        """The best classifier of the present codes."""
        before = self.classifier
        found = self._choose() if before is None else None
        found = found or self._fitted(before)
        # That of the classifier before comes first, as the codes have asked for it already.
        known = 0.0 if before is None else self._mean_loss(before) + before.penalty
        change = self._mean_loss(found) + found.penalty - known
        if before is not None and change > ROUNDING * self.objective:
            return self.objective  # few centres: not always better
        self.now = replace(self.now, classifier=found)
        self.objective += change
        return self.objective

    def _fitted(self, before: Classifier | None) -> Classifier:
        """The best classifier of the present codes; given one, at least a better one."""
        assert self.rho is not None
        data = self.training_codes(self.now.codes, self.now.vectors)
        return self.rule.fit(data, self.rho, before, exact=self.rule.exact_rounds)

    def _choose(self) -> Classifier | None:
        """Weights of the loss and of the classifier's penalty, by scores of samples left out.

        A label that cannot be predicted is noise to a dictionary, which would learn it by heart:
        the loss counts the less, the less of the labels is predictable, and the less, the more
        the codes follow their labels. Where next to nothing can be predicted, or where codes
        follow labels and a trial does not help samples left out, there is no supervision.

        Returns
        -------
        Classifier or None
            The best one of the present codes, where it was found on the way.
        """
        chosen, self.eta = self.eta is None, self.eta or self.wanted.unit
        data = self.training_codes(self.now.codes, self.now.vectors)
        rho = self.rule.choose_rho(data) if self.rho is None else self.rho
        classifier = None
        if chosen:
            exact = self.rule.exact_rounds
            classifier, scores = self.rule.fit_with_left_out(data, rho, exact=exact)
            rows = counting_rows(len(scores), data.sample_weight, above=NOTHING)
            skill = self.wanted.labels.take(rows).skill(scores[rows])
            self.eta *= max(skill**CAUTION, LEAST)
            following = self._following(classifier)
            self.eta /= max(following, 1.0)
            if skill**CAUTION < LEAST or (following > 1.0 and not helps(self, self.eta, rho)):
                self.is_unsupervised = True
                self.eta = NO_SUPERVISION * self.wanted.unit
            if self.rho is None:  # the same classifier
                rho *= self.eta / self.wanted.unit
                classifier = classifier.weighed(self.eta / self.wanted.unit)
            else:
                classifier = None
        self.rho = rho
        return classifier

    def _following(self, classifier: Classifier) -> float:
        r"""How far codes follow their labels: c, where looking at them divides errors by 1 + c.

        Scores that depend on one direction of a code, in which its objective has the curvature h,
        have :math:`c = \eta/h`. Codes with c far above 1 follow any label; no test sample will
        have such codes, and the dictionary learns little from them.
        """
        assert self.now.codes is not None
        gram = self.frame.gram(self.now.vectors)
        facts, stride = GramFacts(gram), -(-self.frame.n_samples // TRIED)
        known = self.frame.sample_weight
        before = after = 0.0
        for block in self.frame.blocks(self.now.vectors):
            few = block.every(stride)
            labelled, plain = self._labelled(few, classifier), self.now.codes[few.rows]
            options = replace(self.options, start=plain)
            followed = labelled.solve(problem_of(few, gram, facts), options).codes
            weights = labelled.etas if known is None else labelled.etas * known[few.rows]
            before += float(weights @ labelled.loss(plain))
            after += float(weights @ labelled.loss(followed))
        return np.sqrt(before / max(after, LEAST * before)) - 1.0 if before > 0 else 0.0

    def on_trial(self, frame: Frame, wanted: Supervision) -> SupervisedLearner:
        """One with the present atoms, of other weights."""
        given = self.formulation, self.options, wanted, copy.deepcopy(self.rng)
        return type(self)(frame, self.now.vectors, *given)

    @property
    def loss_weight(self) -> NDArray:
        """Weight of each sample's loss, by its class and by itself, (n,)."""
        return of_classifier(self.wanted.class_weight, self.frame.sample_weight)

    def training_codes(self, codes: Codes | None, vectors: NDArray) -> TrainingCodes:
        """What a classifier of these codes is fitted to."""
        assert self.eta is not None
        assert codes is not None
        return TrainingCodes(
            self.frame,
            codes,
            self.targets,
            self.loss_weight,
            self.eta,
            self.rule.fit_intercept,
            self.rng,
            lambda: self._codes_of_landmarks(vectors),
        )

    def plain_codes(self, vectors: NDArray) -> Solved:
        """Codes of all samples that look at no labels, as ``transform`` will give them."""
        vectors = self.frame.renewed(vectors)
        return solve_all(self.frame, vectors, self.formulation, self.options)

    def _codes_of_landmarks(self, vectors: NDArray) -> Codes:
        landmarks, weights = self.frame.landmarks, self.frame.weights(vectors)
        kernel = landmarks.facts.double
        problem = CodingProblem(np.diag(kernel), kernel @ weights, self.frame.gram(vectors))
        return self.formulation.solve(problem, self.options).codes

    def losses_of(self, classifier: Classifier, codes: Codes | None) -> NDArray:
        """What a classifier of some codes of all samples adds to their objectives, (n,)."""
        assert codes is not None
        found = np.empty(self.frame.n_samples)
        for block in self.frame.blocks(np.zeros((self.frame.dimension, 0))):
            labelled = self._labelled(block, classifier)
            found[block.rows] = labelled.etas * labelled.loss(some_rows(codes, block.rows))
        return found

    def _mean_loss(self, classifier: Classifier) -> float:
        """What a classifier of the present codes adds to the mean objective."""
        losses = self.losses_of(classifier, self.now.codes)
        return total(losses, self.frame.sample_weight) / self.frame.total_weight


def _same_count(before: Codes | None, after: Codes | None) -> bool:
    """Whether both have as many numbers that are not zero."""
    if before is None or after is None:
        return False
    return count_nonzero(before) == count_nonzero(after)


def loss_unit(frame: Frame, targets: NDArray) -> float:
    """A tenth of the mean k(x, x) over the mean squared norm of targets."""
    no_atoms = np.zeros((frame.dimension, 0))
    own = frame.map_reduce(_own_of_block, no_atoms, (), operator.add)
    return DEFAULT_ETA * own / total(np.sum(targets**2, axis=1), frame.sample_weight)


def _own_of_block(block: SampleBlock) -> float:
    return total(block.self_similarity, block.weight)


def of_classifier(
    class_weight: NDArray, sample_weight: NDArray | None, mean_weight: float | None = None
) -> NDArray:
    """Weight of each sample's loss in the classifier; weights of samples are one on average.

    Parameters
    ----------
    class_weight : array of shape (n,)
    sample_weight : array of shape (n,), or None
    mean_weight : float, default=None
        Mean weight of all samples, where these are some of them.
    """
    if sample_weight is None:
        return class_weight
    mean = sample_weight.mean() if mean_weight is None else mean_weight
    # A system of equations has a row for every sample: zero would be no number there.
    return np.maximum(class_weight * sample_weight / mean, NOTHING)
