"""The half-step for the codes: one pass over the samples, which also sums up what atoms need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, count_users, is_csr, second_moment, stacked, times_codes
from ..formulations import Formulation
from ..gram import GramFacts
from ..problem import CodingProblem
from ..solvers.result import Convergence, Options
from .frames import Frame, SampleBlock
from .sums import Loads, Sums

# What codes of a block of training samples are; those that look at labels differ by block.
FormulationAt = Callable[[SampleBlock], Formulation]


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes of all samples, where kept, and what was summed on the way."""

    codes: Codes | None
    sums: Sums
    objective: float  # mean over samples
    errors: NDArray  # (n,) squared reconstruction errors; zero for samples of no weight
    usage: NDArray  # (N,) samples that use the atom
    convergence: Convergence


def problem_of(block: SampleBlock, gram: NDArray, facts: GramFacts | None = None) -> CodingProblem:
    """A block's coding problem."""
    return CodingProblem(block.self_similarity, block.cross, gram, facts)


def code_all(
    frame: Frame,
    vectors: NDArray,
    formulation_at: FormulationAt,
    options: Options,
    start: Codes | None = None,
    keep_codes: bool | None = None,
) -> Coded:
    """Code all samples with the given atoms and sum up.

    A greedy code is replaced by the sample's previous one where that is better: the objective then
    never rises.

    Parameters
    ----------
    frame : Frame
        The samples.
    vectors : array of shape (p, N)
        The atoms.
    formulation_at : callable
        What the codes of a block are.
    options : Options
    start : codes of all samples, default=None
        From the last round.
    keep_codes : bool, default=None
        Whether codes of all samples are kept; None: where the frame keeps the samples.
    """
    keep = frame.keeps_samples if keep_codes is None else keep_codes
    gram = frame.gram(vectors)
    facts = GramFacts(gram)
    kept: list[tuple[Codes, Codes]] = []
    image: NDArray = np.zeros((frame.landmarks.n_atoms, len(gram)))
    second: NDArray = np.zeros_like(gram)
    held, usage = np.zeros(len(gram)), np.zeros(len(gram))
    objective, convergence = 0.0, Convergence()
    errors = np.empty(frame.n_samples)
    for block in frame.blocks(vectors):
        problem, formulation = problem_of(block, gram, facts), formulation_at(block)
        before = None if start is None else start[block.rows]
        result = formulation.solve(problem, replace(options, start=before))
        codes, error = result.codes, problem.squared_error(result.codes)
        if before is not None and formulation.is_greedy:
            codes, error = better(problem, codes, error, before)
        weight = frame.weight_of(block.rows)
        added = Loads.of(formulation, problem, codes, weight)
        image += times_codes(block.similarity.T, added.loads)
        second += second_moment(codes, weight) + np.diag(added.extra)
        held += added.pull
        objective += total(0.5 * error + formulation.value(problem, codes), weight)
        usage += count_users(codes, weight)
        errors[block.rows] = error if weight is None else np.where(weight > 0, error, 0.0)
        convergence += result.convergence
        if keep:
            kept.append((codes, added.loads))
    all_codes = stacked([codes for codes, _ in kept]) if kept else None
    all_loads = stacked([loads for _, loads in kept]) if kept else None
    moment = frame.coordinates(image, all_loads) + vectors * held
    sums = Sums(moment, second, frame.total_weight)
    return Coded(all_codes, sums, objective / frame.total_weight, errors, usage, convergence)


def total(values: NDArray, sample_weight: NDArray | None) -> float:
    """The sum of numbers of samples, each times its weight."""
    return float(values.sum() if sample_weight is None else sample_weight @ values)


def objective_at(
    frame: Frame,
    vectors: NDArray,
    formulation_at: FormulationAt,
    codes: Codes | None,
    options: Options,
) -> float:
    """The mean objective of given codes with given atoms, in one pass over the samples.

    Codes that follow the atoms are computed for these.
    """
    gram = frame.gram(vectors)
    facts, found = GramFacts(gram), 0.0
    for block in frame.blocks(vectors):
        problem, formulation = problem_of(block, gram, facts), formulation_at(block)
        if formulation.follows_atoms:
            part = formulation.solve(problem, options).codes
        else:
            assert codes is not None
            part = codes[block.rows]
        objective = 0.5 * problem.squared_error(part) + formulation.value(problem, part)
        found += total(objective, frame.weight_of(block.rows))
    return found / frame.total_weight


def better(
    problem: CodingProblem, codes: Codes, error: NDArray, before: Codes
) -> tuple[Codes, NDArray]:
    """Row by row, the codes with the lower error."""
    old_error = problem.squared_error(before)
    worse = error > old_error
    if not worse.any():
        return codes, error
    if is_csr(codes):
        keep, back = (sparse.diags_array(mask.astype(float)) for mask in (~worse, worse))
        mixed = sparse.csr_array(keep @ codes + back @ sparse.csr_array(before))
    else:
        mixed = np.where(worse[:, None], before, codes)
    return mixed, np.minimum(error, old_error)
