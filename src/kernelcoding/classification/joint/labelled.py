"""Codes that look at labels: a formulation that also wants a classifier's scores to be right."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, stacked
from ...formulations import Sensitivity
from ...formulations.scored import augmented
from ...formulations.wrapping import Wrapping
from ...problem import CodingProblem
from ...solvers.low_rank import Scores
from ...solvers.result import CodingResult, Options
from ..classifiers import BilinearClassifier, Classifier, LinearClassifier
from ..rules import Rule

# Steps of codes that settle, and the movement of targets (scores aim at one) that ends them.
STEPS = 50
SETTLED = 1e-6


class LastScores:
    """The scores that were found last: learning asks for some of them several times in a row.

    What they are the scores of is told apart by its identity; nobody changes it in place.
    """

    def __init__(self) -> None:
        self._asked: tuple[object, ...] = ()
        self._scores: NDArray | None = None

    def remember(self, asked: tuple[object, ...], scores: NDArray) -> None:
        """Scores (n, S) that came along with something else."""
        self._asked, self._scores = asked, scores

    def known(self, asked: tuple[object, ...]) -> NDArray | None:
        """The scores, (n, S), where these very objects were asked about last."""
        same = len(asked) == len(self._asked) and all(map(operator.is_, asked, self._asked))
        return self._scores if same else None

    def rename(self, before: tuple[object, ...], after: tuple[object, ...]) -> None:
        """What the scores are of begins with other objects now, which have the same scores."""
        if all(map(operator.is_, before, self._asked)):
            self._asked = after + self._asked[len(after) :]

    def of(self, asked: tuple[object, ...], compute: Callable[[], NDArray]) -> NDArray:
        """The scores, computed unless they are known."""
        found = self.known(asked)
        if found is None:
            found = compute()
            self.remember(asked, found)
        return found


@dataclass(frozen=True, slots=True)
class Labelled(Wrapping):
    """A minimising formulation with the loss of a classifier added, for some samples."""

    rule: Rule  # the loss
    classifier: Classifier
    targets: NDArray  # (n, S)
    etas: NDArray  # (n,) weight of each sample's loss
    similarity: NDArray  # (n, Z) of samples and landmarks
    max_passes: int | None = None  # over codes that look at a bilinear classifier; None: all
    settles: bool = False  # whether codes are those of the loss itself, wherever they start
    last: LastScores | None = None  # where scores are remembered

    follows_atoms = False
    is_greedy = False
    is_minimiser = True
    uses_gram = True

    @property
    def is_sparse(self) -> bool:
        """Whether codes have few nonzeros."""
        return self.formulation.is_sparse

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix: it is needed."""
        return 0

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Codes that minimise the objective with its loss, or a bound of it that is a square."""
        if self.settles and self.rule.adapts and isinstance(self.classifier, LinearClassifier):
            return self._settled(problem, options, self.classifier)
        targets = self._score_targets(options.start)
        if isinstance(self.classifier, BilinearClassifier):
            return self._solve_bilinear(problem, options, targets)
        return self._solve_linear(problem, options, self.classifier, targets)

    def _solve_bilinear(
        self, problem: CodingProblem, options: Options, targets: NDArray
    ) -> CodingResult:
        """Codes whose scores are linear in them, in a way of each sample's own."""
        last, bias = self.last or LastScores(), self.classifier.bias
        before = last.known((options.start, self.classifier, self.similarity))
        scores = replace(
            self._bilinear_scores(targets), at_start=None if before is None else before - bias
        )
        result = self.formulation.solve_with_scores(problem, options, scores, self.max_passes)
        if result.scores is not None:
            asked = result.codes, self.classifier, self.similarity
            last.remember(asked, result.scores + bias)
        return result

    def _score_targets(self, codes: Codes | None) -> NDArray:
        """Where scores should be without their intercepts, (n, S)."""
        targets = self.targets
        if self.rule.adapts and codes is not None:
            targets = self.rule.surrogate_targets(self._scores(codes), targets)
        return targets - self.classifier.bias

    def _bilinear_scores(self, targets: NDArray) -> Scores:
        assert isinstance(self.classifier, BilinearClassifier)
        used = self.classifier.used
        return Scores(
            self.similarity[:, used],
            self.classifier.coefficients[used],
            self.classifier.centres[used],
            targets,
            self.etas,
        )

    def _settled(
        self, problem: CodingProblem, options: Options, classifier: LinearClassifier
    ) -> CodingResult:
        """Steps from codes that look at no labels, each row until its targets stay.

        Half the squared distance to the targets of a step bounds the loss, so each step lowers the
        objective; where the targets stay, it is at its minimum.
        """
        codes = self.formulation.solve(problem, replace(options, start=None)).codes
        rows, found = np.arange(problem.n_samples), []
        aims = self.rule.surrogate_targets(classifier.scores(codes), self.targets)
        for left in range(STEPS - 1, -1, -1):
            some = replace(self, etas=self.etas[rows])
            started = replace(options, start=codes)
            wanted = aims - classifier.bias
            result = some._solve_linear(problem.take(rows), started, classifier, wanted)
            scores = classifier.scores(result.codes)
            moved = self.rule.surrogate_targets(scores, self.targets[rows])
            on = np.abs(moved - aims).max(axis=1) > SETTLED if left else np.zeros(len(rows), bool)
            found.append((rows[~on], _rows_of(result, ~on)))
            if not on.any():
                break
            rows, codes, aims = rows[on], result.codes[on], moved[on]
        return _in_order(found)

    def _solve_linear(
        self,
        problem: CodingProblem,
        options: Options,
        classifier: LinearClassifier,
        targets: NDArray,
    ) -> CodingResult:
        """One Gram matrix for all samples of one weight."""
        found: list[tuple[NDArray, CodingResult]] = []
        for eta in np.unique(self.etas):
            rows = np.flatnonzero(self.etas == eta)
            part = augmented(problem.take(rows), classifier.weights, targets[rows], float(eta))
            start = None if options.start is None else options.start[rows]
            result = self.formulation.solve(part, replace(options, start=start))
            found.append((rows, result))
        return _in_order(found)

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Labels look at scores already."""
        raise ValueError("Codes that look at labels have their scores already.")

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from optimal, (n,).

        Infinite where it is not known: for losses that are no squares, and bilinear scores.
        """
        if self.rule.adapts or not isinstance(self.classifier, LinearClassifier):
            return np.full(problem.n_samples, np.inf)
        targets, gaps = self._score_targets(None), np.empty(problem.n_samples)
        for eta in np.unique(self.etas):
            rows = np.flatnonzero(self.etas == eta)
            exact = problem.take(rows).astype(np.float64)
            part = augmented(exact, self.classifier.weights, targets[rows], float(eta))
            gaps[rows] = self.formulation.gap(part, codes[rows])
        return gaps

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """What it is without labels, and the weighted loss of the scores, (n,)."""
        return self.formulation.value(problem, codes) + self.etas * self.loss(codes)

    def loss(self, codes: Codes) -> NDArray:
        """Loss of the scores of codes, (n,)."""
        return self.rule.loss(self._scores(codes), self.targets)

    def _scores(self, codes: Codes) -> NDArray:
        """Of codes of all these samples, (n, S)."""
        asked = codes, self.classifier, self.similarity
        last = self.last or LastScores()
        return last.of(asked, lambda: self.classifier.scores(codes, self.similarity))

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective and its derivatives; linear scores depend on codes alone."""
        if isinstance(self.classifier, BilinearClassifier):
            raise ValueError("Bilinear scores depend on the kernel beyond the coding problem.")
        found = self.formulation.sensitivity(problem, codes)
        found.value += float(self.etas @ self.loss(codes))
        return found

    def critical_alpha(self, problem: CodingProblem) -> None:
        """Labels may call for atoms whatever the prior."""

    def for_atoms(self, atoms: NDArray) -> Labelled:
        """The same for some of the atoms."""
        classifier = self.classifier
        if isinstance(classifier, LinearClassifier):
            classifier = replace(classifier, weights=classifier.weights[atoms])
        else:
            classifier = replace(classifier, centres=classifier.centres[:, atoms])
        return replace(self, formulation=self.formulation.for_atoms(atoms), classifier=classifier)


def _rows_of(result: CodingResult, some: NDArray) -> CodingResult:
    return replace(
        result,
        codes=result.codes[some],
        converged=result.converged[some],
        n_iter=result.n_iter[some],
    )


def _in_order(found: list[tuple[NDArray, CodingResult]]) -> CodingResult:
    """Results for some rows each, as one for all."""
    if len(found) == 1:
        return found[0][1]
    order = np.argsort(np.concatenate([rows for rows, _ in found]))
    return CodingResult(
        stacked([result.codes for _, result in found])[order],
        np.concatenate([result.converged for _, result in found])[order],
        np.concatenate([result.n_iter for _, result in found])[order],
    )
