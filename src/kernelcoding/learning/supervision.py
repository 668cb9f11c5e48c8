"""Codes that look at labels: a coder that also wants a classifier's scores to be right."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..coders.local import KernelLLC
from ..constraints import OneAtom
from ..gram import GramFacts
from ..problem import Codes, CodingProblem, KnownDictionary
from ..solvers import low_rank
from ..solvers.choose import Options
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult
from .coding import stacked, widened
from .frames import Block
from .rules import BilinearClassifier, LinearClassifier, Rule


class LabelledCoder:
    """A coder whose objective has the loss of a classifier added.

    Parameters
    ----------
    coder : BaseKernelCoder
        Fitted.
    rule : Rule
        The loss.
    targets : array of shape (M, S)
    etas : array of shape (M,)
        Weight of each sample's loss.
    max_passes : int, default=None
        Over codes that look at a bilinear classifier; None: until they are optimal.

    Attributes
    ----------
    classifier : LinearClassifier, BilinearClassifier or None
        None: codes do not look at labels.
    """

    keeps_codes = True

    def __init__(
        self,
        coder: Any,
        rule: Rule,
        targets: NDArray,
        etas: NDArray,
        max_passes: int | None = None,
    ):
        self.coder = coder
        self.rule = rule
        self.targets = targets
        self.etas = etas
        self.max_passes = max_passes
        self.classifier: Any = None
        self.similarity: NDArray | None = None

    def at(self, block: Block) -> LabelledCoder:
        """The coder of a block of training samples."""
        here = copy.copy(self)
        here.targets, here.etas = self.targets[block.rows], self.etas[block.rows]
        here.similarity = block.similarity
        return here

    def formulation(self):
        """Prior, constraint and weight, without labels."""
        return self.coder.formulation()

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """As the coder's."""
        return self.coder.distance_weights(problem, codes)

    def prior_value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """The coder's, and the loss of the scores, (n,)."""
        value = self.coder.prior_value(problem, codes)
        if self.classifier is None:
            return value
        return value + self.etas * self.loss(codes)

    def loss(self, codes: Codes) -> NDArray:
        """Loss of the scores of codes, (n,)."""
        return self.rule.loss(self.classifier.scores(codes, self.similarity), self.targets)

    def encode(self, known: KnownDictionary, rows: NDArray, options: Options) -> CodingResult:
        """Codes that minimise the objective with its loss, or a bound of it that is a square."""
        if self.classifier is None:
            return self.coder.encode(known, rows, options)
        problem, goals = known.problem, self.targets
        if self.rule.adapts and options.start is not None:
            now = self.classifier.scores(options.start, self.similarity)
            goals = self.rule.goals(now, self.targets)
        goals = goals - self.classifier.bias
        code = WAYS[type(self.classifier)]
        codes = code(self, problem, goals, options)
        finished = np.ones(problem.n_samples, dtype=bool)
        return CodingResult(codes, None, finished, finished.astype(int))


def augmented(
    problem: CodingProblem, responses: NDArray, goals: NDArray, eta: float
) -> CodingProblem:
    r"""The problem in H with scores as further coordinates: :math:`(\phi(x), \sqrt\eta\,g)`.

    Distances that priors look at stay those of H.
    """
    gram = problem.facts.double + eta * (responses @ responses.T)
    return CodingProblem(
        problem.self_similarity + eta * np.sum(goals**2, axis=1),
        problem.cross + eta * (goals @ responses.T),
        gram,
        GramFacts(gram),
        geometry=problem,
    )


def _code_linear(
    labelled: LabelledCoder, problem: CodingProblem, goals: NDArray, options: Options
) -> Codes:
    """One Gram matrix for all samples of one importance."""
    classifier = labelled.classifier
    found: list[tuple[NDArray, Codes]] = []
    for eta in np.unique(labelled.etas):
        rows = np.flatnonzero(labelled.etas == eta)
        part = augmented(problem.take(rows), classifier.weights, goals[rows], float(eta))
        start = None if options.start is None else options.start[rows]
        known = KnownDictionary(part)
        result = labelled.coder.encode(known, np.arange(len(rows)), replace(options, start=start))
        found.append((rows, result.codes))
    if len(found) == 1:
        return found[0][1]
    order = np.argsort(np.concatenate([rows for rows, _ in found]))
    return stacked([codes for _, codes in found])[order]


def _code_bilinear(
    labelled: LabelledCoder, problem: CodingProblem, goals: NDArray, options: Options
) -> Codes:
    """A Gram matrix for each sample, in the shape of a shared one and a factor of low rank."""
    coder, classifier = labelled.coder, labelled.classifier
    assert labelled.similarity is not None
    scores = Scores(
        labelled.similarity, classifier.coefficients, classifier.centres, goals, labelled.etas
    )
    formulation = coder.formulation()
    greedy = isinstance(formulation.constraint, OneAtom)
    if isinstance(coder, KernelLLC) or formulation.kind != "sparse" or greedy:
        return _one_by_one(coder, problem, scores, options)
    codes, _, _ = low_rank.solve(
        problem,
        formulation.penalty(problem),
        scores,
        nonnegative=formulation.constraint.nonnegative,
        sum_to_one=formulation.constraint.sum_to_one,
        tol=options.tol,
        max_iter=options.max_iter,
        n_jobs=options.n_jobs,
        start=options.start,
        max_passes=labelled.max_passes,
    )
    return codes if options.sparse_output else codes.toarray()


def _one_by_one(coder: Any, problem: CodingProblem, scores: Scores, options: Options) -> Codes:
    """Any coder, sample by sample; with few neighbours only their part of the Gram matrix."""
    few = isinstance(coder, KernelLLC) and coder.n_neighbors is not None
    everyone, all_atoms = np.arange(problem.n_samples), np.arange(problem.n_atoms)
    near = KnownDictionary(problem).nearest(everyone, coder.n_neighbors).indices if few else None
    centres = sparse.csc_array(scores.centres)
    found = []
    for i in everyone:
        atoms = all_atoms if near is None else np.sort(near[i])
        alone = problem.take(slice(i, i + 1))
        weighted = scores.similarity[i][:, None] * scores.coefficients
        responses = np.asarray((centres[:, atoms] if few else centres).T @ weighted)
        part = _restricted(alone, atoms)
        wide = augmented(part, responses, scores.goals[i : i + 1], float(scores.etas[i]))
        start = None if options.start is None or few else options.start[i : i + 1]
        result = coder.encode(KnownDictionary(wide), np.arange(1), replace(options, start=start))
        found.append(widened(result.codes, atoms, problem.n_atoms))
    return stacked(found)


def _restricted(problem: CodingProblem, atoms: NDArray) -> CodingProblem:
    if len(atoms) == problem.n_atoms:
        return problem
    gram = problem.gram[np.ix_(atoms, atoms)]
    return CodingProblem(problem.self_similarity, problem.cross[:, atoms], gram, GramFacts(gram))


WAYS = {LinearClassifier: _code_linear, BilinearClassifier: _code_bilinear}
