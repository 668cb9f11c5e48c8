"""The half-step for the codes: one pass over the samples, which also sums up what atoms need."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Worst
from ...codes import Codes, count_users, picked, second_moment, some_rows, stacked, times_codes
from ...formulations import Formulation
from ...gram import GramFacts
from ...problem import CodingProblem
from ...solvers.result import Convergence, Options
from ..frames import Frame, SampleBlock
from ..sums import Loads, SampleSums, Sums

# What codes of a block of training samples are; those that look at labels differ by block.
FormulationAt = Callable[[SampleBlock], Formulation]


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same formulation for every block."""

    formulation: Formulation

    def __call__(self, block: SampleBlock) -> Formulation:
        """Whatever the block."""
        return self.formulation


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes of all samples, where kept, and what was summed on the way."""

    codes: Codes | None
    sums: Sums
    objective: float  # mean over samples
    worst: Worst  # as many samples as there are atoms; errors are zero for samples of no weight
    usage: NDArray  # (N,) samples that use the atom
    convergence: Convergence


def problem_of(block: SampleBlock, gram: NDArray, facts: GramFacts | None = None) -> CodingProblem:
    """A block's coding problem."""
    return CodingProblem(block.self_similarity, block.cross, gram, facts)


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over the samples needs to know beside them."""

    gram: NDArray  # (N, N) of the atoms
    facts: GramFacts
    formulation_at: FormulationAt
    options: Options
    start: Codes | None = None  # of all samples, from the last round
    keep: bool = False  # whether codes are kept


@dataclass(frozen=True, slots=True)
class Part:
    """What some samples add to the sums."""

    image: NDArray  # (n_landmarks, N)
    second: NDArray  # (N, N)
    held: NDArray  # (N,)
    usage: NDArray  # (N,)
    objective: float
    worst: Worst
    convergence: Convergence
    kept: tuple[tuple[Codes, Codes], ...]  # codes and loads of each block

    def plus(self, other: Part) -> Part:
        """What both add."""
        return Part(
            self.image + other.image,
            self.second + other.second,
            self.held + other.held,
            self.usage + other.usage,
            self.objective + other.objective,
            self.worst.merged(other.worst, len(self.usage)),
            self.convergence + other.convergence,
            self.kept + other.kept,
        )


def code_block(block: SampleBlock, now: Pass) -> Part:
    """Code some samples and sum up.

    A greedy code is replaced by the sample's previous one where that is known and better: the
    objective then never rises.
    """
    problem, formulation = problem_of(block, now.gram, now.facts), now.formulation_at(block)
    before = None if now.start is None else some_rows(now.start, block.rows)
    result = formulation.solve(problem, replace(now.options, start=before))
    codes, error = result.codes, problem.squared_error(result.codes)
    if before is not None and formulation.is_greedy:
        codes, error = better(problem, codes, error, before)
    weight = block.weight
    added = Loads.of(formulation, problem, codes, weight)
    counted = error if weight is None else np.where(weight > 0, error, 0.0)
    return Part(
        times_codes(block.similarity.T, added.loads),
        second_moment(codes, weight) + np.diag(added.extra),
        added.pull,
        count_users(codes, weight),
        total(0.5 * error + formulation.value(problem, codes), weight),
        Worst.of(counted, len(now.gram), block.rows.start, block.samples),
        result.convergence,
        ((codes, added.loads),) if now.keep else (),
    )


def code_all(
    frame: Frame,
    vectors: NDArray,
    formulation_at: FormulationAt,
    options: Options,
    start: Codes | None = None,
    keep_codes: bool | None = None,
) -> Coded:
    """Code all samples with the given atoms and sum up.

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
    now = Pass(gram, GramFacts(gram), formulation_at, options, start, keep)
    return coded_of(frame, vectors, frame.map_reduce(code_block, vectors, (now,), Part.plus))


def coded_of(frame: Frame, vectors: NDArray, found: Part) -> Coded:
    """What a pass with these atoms has found, from what all samples add."""
    codes = stacked([codes for codes, _ in found.kept]) if found.kept else None
    loads = stacked([loads for _, loads in found.kept]) if found.kept else None
    moment = frame.coordinates(found.image, loads)
    if found.held.any():
        moment, loads = moment + vectors * found.held, None
    sums = Sums(moment, found.second, frame.total_weight)
    if loads is not None:
        sums = SampleSums(moment, found.second, frame.total_weight, loads)
    objective = found.objective / frame.total_weight
    return Coded(codes, sums, objective, found.worst, found.usage, found.convergence)


class Solved(NamedTuple):
    """Codes of some samples, and how they ended."""

    codes: Codes
    convergence: Convergence


@dataclass(frozen=True, slots=True)
class SolvedPart:
    """The same of some blocks."""

    blocks: tuple[Codes, ...]
    convergence: Convergence

    def plus(self, other: SolvedPart) -> SolvedPart:
        """What both know."""
        return SolvedPart(self.blocks + other.blocks, self.convergence + other.convergence)


def solve_block(block: SampleBlock, now: Pass) -> SolvedPart:
    """Codes of some samples."""
    problem, formulation = problem_of(block, now.gram, now.facts), now.formulation_at(block)
    before = None if now.start is None else some_rows(now.start, block.rows)
    result = formulation.solve(problem, replace(now.options, start=before))
    return SolvedPart((result.codes,), result.convergence)


def solve_all(
    frame: Frame,
    vectors: NDArray,
    formulation: Formulation,
    options: Options,
    start: Codes | None = None,
) -> Solved:
    """Codes of all samples, where nothing is learned from them: sums cost as much as codes do.

    Parameters
    ----------
    frame, vectors, options
        As in :func:`code_all`.
    formulation : Formulation
        The same for all samples.
    start : codes of all samples, default=None
        Where solvers begin.
    """
    gram = frame.gram(vectors)
    now = Pass(gram, GramFacts(gram), Everywhere(formulation), options, start)
    found = frame.map_reduce(solve_block, vectors, (now,), SolvedPart.plus)
    return Solved(stacked(found.blocks), found.convergence)


def total(values: NDArray, sample_weight: NDArray | None) -> float:
    """The sum of numbers of samples, each times its weight."""
    return float(values.sum() if sample_weight is None else sample_weight @ values)


def objective_of_block(block: SampleBlock, now: Pass) -> float:
    """What the given codes of some samples add to the objective."""
    problem, formulation = problem_of(block, now.gram, now.facts), now.formulation_at(block)
    if formulation.follows_atoms:
        part = formulation.solve(problem, now.options).codes
    else:
        assert now.start is not None
        part = some_rows(now.start, block.rows)
    objective = 0.5 * problem.squared_error(part) + formulation.value(problem, part)
    return total(objective, block.weight)


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
    now = Pass(gram, GramFacts(gram), formulation_at, options, codes)
    found = frame.map_reduce(objective_of_block, vectors, (now,), operator.add)
    return found / frame.total_weight


def better(
    problem: CodingProblem, codes: Codes, error: NDArray, before: Codes
) -> tuple[Codes, NDArray]:
    """Row by row, the codes with the lower error."""
    old_error = problem.squared_error(before)
    worse = error > old_error
    if not worse.any():
        return codes, error
    return picked(codes, before, worse), np.minimum(error, old_error)
