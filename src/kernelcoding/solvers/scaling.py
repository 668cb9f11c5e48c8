r"""Atoms brought near unit norm before a solver sees them.

Codes :math:`y = S z` of atoms S times as long are as good as z with those atoms: K becomes S K S, k
becomes S k, l1 weights S l, ridges S^2 q. S holds powers of two, so nothing is rounded. Only cones
allow it: with :math:`\mathbf 1^\top y = 1` the sum would be another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from ..codes import Codes, is_csr
from ..constraints import Constraint
from ..penalty import AnyPenalty, Penalty
from ..problem import CodingProblem
from .result import CodingResult, Options

Solver = Callable[..., CodingResult]


def solve_scaled(
    solver: Solver,
    problem: CodingProblem,
    penalty: AnyPenalty,
    constraint: Constraint,
    options: Options,
) -> CodingResult:
    """What a solver of quadratic and l1 penalties finds, atoms near unit norm where they differ."""
    if not (constraint.is_cone and constraint.is_convex and isinstance(penalty, Penalty)):
        return solver(problem, penalty, constraint, options)
    scale = problem.facts.equilibration
    # One ridge for all atoms is one factor for all samples, and keeps small atoms in sight.
    shared_ridge = not constraint.nonnegative and bool(np.any(penalty.ridge))
    if scale is None or penalty.groups is not None or shared_ridge:
        return solver(problem, penalty, constraint, options)
    facts = problem.facts.equilibrated
    cross = problem.cross.astype(np.float64) * scale
    own = problem.self_similarity.astype(np.float64)
    start = None if options.start is None else _times(options.start, 1.0 / scale)
    result = solver(
        CodingProblem(own, cross, facts.double, facts),
        Penalty(penalty.l1 * scale, penalty.ridge * scale**2),
        constraint,
        replace(options, start=start),
    )
    codes = _times(result.codes, scale).astype(problem.cross.dtype, copy=False)
    return replace(result, codes=codes)


def _times(codes: Codes, scale: np.ndarray) -> Codes:
    """Codes with every column multiplied by a number."""
    if is_csr(codes):
        return sparse.csr_array(codes @ sparse.diags_array(scale))
    return codes * scale
