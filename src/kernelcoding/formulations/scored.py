"""Codes that should also give the right scores: labels enter as further coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import stacked, widened
from ..gram import GramFacts
from ..problem import CodingProblem
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .base import Formulation


def augmented(
    problem: CodingProblem, responses: NDArray, targets: NDArray, eta: float
) -> CodingProblem:
    r"""The problem in H with scores as further coordinates: :math:`(\phi(x), \sqrt\eta\,t)`.

    Distances that priors look at stay those of H.

    Parameters
    ----------
    problem : CodingProblem
    responses : array of shape (N, S)
        Scores of the atoms.
    targets : array of shape (n, S)
        Where the scores of the samples should be.
    eta : float
        Weight of half the squared distance between the two.
    """
    gram = problem.facts.double + eta * (responses @ responses.T)
    return CodingProblem(
        problem.self_similarity + eta * np.sum(targets**2, axis=1),
        problem.cross + eta * (targets @ responses.T),
        gram,
        GramFacts(gram),
        geometry=problem,
    )


def solve_each(
    formulation: Formulation,
    problem: CodingProblem,
    options: Options,
    scores: Scores,
    allowed: NDArray | None = None,
) -> CodingResult:
    """Any formulation, sample by sample; with few allowed atoms only their Gram matrix.

    Parameters
    ----------
    formulation, problem, options
        As in :meth:`Formulation.solve`.
    scores : Scores
        Bilinear in sample and code, so that every sample has a Gram matrix of its own.
    allowed : array of shape (n, m), default=None
        The atoms each sample may use; None: all.
    """
    centres = sparse.csc_array(scores.centres)
    all_atoms = np.arange(problem.n_atoms)
    results, codes = [], []
    for i in range(problem.n_samples):
        atoms = all_atoms if allowed is None else np.sort(allowed[i])
        weighted = scores.similarity[i][:, None] * scores.coefficients
        responses = np.asarray((centres if allowed is None else centres[:, atoms]).T @ weighted)
        part = problem.take(slice(i, i + 1)).for_atoms(atoms)
        wide = augmented(part, responses, scores.targets[i : i + 1], float(scores.etas[i]))
        start = None
        if options.start is not None and allowed is None:
            start = options.start[i : i + 1]
        result = formulation.for_atoms(atoms).solve(wide, replace(options, start=start))
        results.append(result)
        codes.append(widened(result.codes, atoms, problem.n_atoms))
    return CodingResult(
        stacked(codes),
        np.concatenate([result.converged for result in results]),
        np.concatenate([result.n_iter for result in results]),
    )
