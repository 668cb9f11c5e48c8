r"""Atoms brought near unit norm before a solver sees them.

Codes :math:`y = S z` of atoms S times as long are as good as z with those atoms: K becomes S K S, k
becomes S k, l1 weights S l, ridges S^2 q. S holds powers of two, so nothing is rounded. Only cones
allow it: with :math:`\mathbf 1^\top y = 1` the sum would be another one. The atoms of a group
whose norm has a weight share one factor, which goes into the weight: only the largest of them comes
near unit norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..codes import scaled_columns
from ..constraints import Constraint
from ..gram import GramFacts
from ..penalty import AnyPenalty, Groups, Penalty
from ..problem import CodingProblem
from .result import CodingResult, Options

Solver = Callable[..., CodingResult]

FAR = 300  # binary digits; products of two such numbers are still far from overflow
NO_LESS = 1e-12  # double precision can tell nothing smaller apart


def solve_scaled(
    solver: Solver,
    problem: CodingProblem,
    penalty: AnyPenalty,
    constraint: Constraint,
    options: Options,
) -> CodingResult:
    """What a solver of quadratic and l1 penalties finds, atoms near unit norm where they differ."""
    factor = _whole_scale(problem)
    if factor != 1.0 and constraint.is_convex and isinstance(penalty, Penalty):
        own, cross = factor * problem.self_similarity, factor * problem.cross
        problem = CodingProblem(own, cross, factor * problem.gram)
        penalty = penalty * factor
    if not constraint.is_convex:
        return solver(problem, penalty, constraint, options)
    if constraint.sum_to_one and _may_be_free(penalty):
        options = replace(options, tol=options.tol * share_of_spread(problem.facts))
    scale = problem.facts.equilibration
    if scale is None and isinstance(penalty, Penalty):
        # Violations at atoms without a penalty are measured by the largest correlation of all.
        tight = constraint.is_cone and _may_be_free(penalty)
        tol = options.tol * (_share_of_least(problem, sum_to_one=False) if tight else 1.0)
        return solver(problem, penalty, constraint, replace(options, tol=tol))
    fixed = scale is None or not (constraint.is_cone and isinstance(penalty, Penalty))
    if fixed or _has_shared_ridge(penalty, constraint):
        tol = options.tol * _share_of_least(problem, constraint.sum_to_one)
        return solver(problem, penalty, constraint, replace(options, tol=tol))
    assert scale is not None
    assert isinstance(penalty, Penalty)
    scale, groups = _group_scale(scale, penalty.groups)
    facts = problem.facts.scaled_by(scale)
    cross = problem.cross.astype(np.float64) * scale
    own = problem.self_similarity.astype(np.float64)
    start = None if options.start is None else scaled_columns(options.start, 1.0 / scale)
    scaled = CodingProblem(own, cross, facts.double, facts)
    # Atoms of a group may still differ.
    tol = options.tol * (1.0 if groups is None else _share_of_least(scaled, sum_to_one=False))
    result = solver(
        scaled,
        Penalty(penalty.l1 * scale, penalty.ridge * scale**2, groups),
        constraint,
        replace(options, start=start, tol=tol),
    )
    codes = scaled_columns(result.codes, scale).astype(problem.cross.dtype, copy=False)
    return replace(result, codes=codes)


def _whole_scale(problem: CodingProblem) -> float:
    """A power of two that takes objectives out of the range where squares overflow; else one.

    Similarities and penalties times one number have the same codes.
    """
    _, exponent = np.frexp(float(problem.squares.max()))
    return 1.0 if abs(exponent) <= FAR else float(np.ldexp(1.0, -int(exponent)))


def _may_be_free(penalty: AnyPenalty) -> bool:
    """Whether an atom has no price, for this sample or another that shares its batch."""
    if not isinstance(penalty, Penalty):
        return True
    return penalty.by_distance or not np.all(penalty.l1)


def _has_shared_ridge(penalty: AnyPenalty, constraint: Constraint) -> bool:
    """One ridge for all atoms is one factor for all samples, and keeps small atoms in sight."""
    if not isinstance(penalty, Penalty) or penalty.groups is not None:
        return False
    return not constraint.nonnegative and bool(np.any(penalty.ridge))


def _share_of_least(problem: CodingProblem, sum_to_one: bool) -> float:
    """By how much to tighten a tolerance in units of the largest numbers of a problem, at most 1.

    What solvers call small next to the largest correlation may be large next to what the smallest
    atom can do: of a sample's norm it explains its own at most, of weights that are numbers about
    one its square. A fact of the dictionary: no code depends on what else is in its batch.
    """
    squares = problem.squares.astype(np.float64)
    least, largest = squares[squares > 0].min(initial=np.inf), squares.max(initial=0.0)
    if not largest > 0.0:
        return 1.0
    share = float(least / largest)
    return max(share if sum_to_one else float(np.sqrt(share)), NO_LESS)


def share_of_spread(facts: GramFacts) -> float:
    """By how much to tighten a tolerance where codes sum to one, and do not notice the origin.

    Similarities grow with its distance, and what codes can change does not.
    """
    return min(max(facts.spread / facts.affine_shift, NO_LESS), 1.0)


def tightened(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, options: Options
) -> Options:
    """Options of a solver that is given a problem as it is, atoms without a penalty included."""
    if not (constraint.is_convex and _may_be_free(penalty)):
        return options
    share = _share_of_least(problem, constraint.sum_to_one)
    if constraint.sum_to_one:
        share *= share_of_spread(problem.facts)
    return replace(options, tol=options.tol * max(share, NO_LESS))


def _group_scale(scale: NDArray, groups: Groups | None) -> tuple[NDArray, Groups | None]:
    """Factors that the norms of groups allow, (N,), and the groups with their new weights."""
    if groups is None:
        return scale, None
    shared = np.full(groups.weights.size, np.inf)
    np.minimum.at(shared, groups.labels, scale)
    shared[np.isinf(shared)] = 1.0  # groups without atoms
    weighed = groups.weights > 0
    scale = np.where(weighed[groups.labels], shared[groups.labels], scale)
    return scale, Groups(groups.labels, groups.weights * np.where(weighed, shared, 1.0))
