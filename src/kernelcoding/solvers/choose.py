"""Which solver for which prior and constraint: one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import constraints, priors
from ..certificates import certify
from ..formulation import Formulation
from ..problem import Codes, CodingProblem
from .result import CodingResult


@dataclass(frozen=True, slots=True)
class Options:
    """How a solver is to work; what it is to solve is in the formulation."""

    tol: float = 1e-6
    max_iter: int = 10_000
    n_jobs: int | None = None
    sparse_output: bool = False
    start: Codes | None = None
    certify: bool = True
    out: NDArray | None = None  # where dense codes may be written, to spare a copy


# codes, and for iterative solvers: did each row converge, after how many iterations
Answer = tuple[Codes, Any, Any]


def _linear_system(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import linear_system

    codes = linear_system.solve(
        problem,
        formulation.penalty(problem),
        sum_to_one=formulation.constraint.sum_to_one,
        n_jobs=options.n_jobs,
    )
    return codes, True, 1


def _active_set(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import active_set

    return active_set.solve(problem, formulation.penalty(problem), **_convex(formulation, options))


def _group(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import group

    return group.solve(problem, formulation.penalty(problem), **_convex(formulation, options))


def _convex(formulation: Formulation, options: Options) -> dict[str, Any]:
    return {
        "nonnegative": formulation.constraint.nonnegative,
        "sum_to_one": formulation.constraint.sum_to_one,
        "tol": options.tol,
        "max_iter": options.max_iter,
        "n_jobs": options.n_jobs,
        "start": options.start,
        "sparse_output": options.sparse_output,
    }


def _proximal(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import proximal

    return proximal.solve(problem, formulation, tol=options.tol, max_iter=options.max_iter)


def _assignment(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import assignment

    return assignment.one_atom(problem, formulation, options.sparse_output), True, 1


def _pursuit(problem: CodingProblem, formulation: Formulation, options: Options) -> Answer:
    from . import pursuit

    constraint = formulation.constraint
    assert isinstance(constraint, constraints.AtMost)
    return pursuit.solve(
        problem,
        constraint.n_nonzero,
        constraint.selection,
        n_jobs=options.n_jobs,
        sparse_output=options.sparse_output,
    )


Solver = Callable[[CodingProblem, Formulation, Options], Answer]

# Rows: the kinds of prior. "quadratic": NoPrior, Ridge, Locality; "sparse": L1, WeightedL1,
# ElasticNet, LocalCoordinate; "group": GroupL1, SparseGroupL1; "custom": value and prox only.
TABLE: dict[str, dict[type[constraints.Constraint], Solver]] = {
    "quadratic": {
        constraints.Free: _linear_system,
        constraints.NonNegative: _active_set,
        constraints.SumToOne: _linear_system,
        constraints.Simplex: _active_set,
        constraints.OneAtom: _assignment,
        constraints.AtMost: _pursuit,
    },
    "sparse": {
        constraints.Free: _active_set,
        constraints.NonNegative: _active_set,
        constraints.SumToOne: _active_set,
        constraints.Simplex: _active_set,
        constraints.OneAtom: _assignment,
    },
    "group": {
        constraints.Free: _group,
        constraints.NonNegative: _group,
        constraints.SumToOne: _group,
        constraints.Simplex: _group,
        constraints.OneAtom: _assignment,
    },
    "custom": {
        constraints.Free: _proximal,
        constraints.SumToOne: _proximal,
        constraints.OneAtom: _assignment,
    },
}


def choose_solver(formulation: Formulation) -> Solver:
    """The solver of a formulation; ValueError names what would work where there is none."""
    prior, constraint = formulation.prior, formulation.constraint
    if not isinstance(constraint, constraints.Constraint):
        raise ValueError(f"constraint must be one of kernelcoding.constraints, got {constraint!r}.")
    # A class has the methods too, but not the parameters: L1 is not L1().
    if isinstance(prior, type) or not isinstance(prior, (priors.Prior, priors.CustomPrior)):
        raise ValueError(
            "prior must be one of kernelcoding.priors or an object with methods value(codes) and "
            f"prox(points, scale), got {prior!r}."
        )
    row = TABLE[formulation.kind]
    solver = row.get(type(constraint))
    greedy_only = isinstance(constraint, constraints.AtMost)
    if greedy_only and not isinstance(prior, priors.NoPrior):
        solver = None
    if solver is None:
        raise ValueError(_refusal(formulation, list(row)))
    return solver


def codes_are_sparse(formulation: Formulation) -> bool:
    """Whether the solver's codes are mostly zeros, and CSR is how it makes them."""
    return choose_solver(formulation) not in (_linear_system, _proximal)


def _refusal(formulation: Formulation, possible: list[type]) -> str:
    prior = type(formulation.prior).__name__
    constraint = type(formulation.constraint).__name__
    if isinstance(formulation.constraint, constraints.AtMost):
        return (
            f"No solver handles prior={prior} with constraint={constraint}: the number of atoms "
            "is limited greedily, without a prior. Use prior=NoPrior() with AtMost, or "
            f"constraint=Free() with prior={prior}."
        )
    names = ", ".join(f"{kind.__name__}()" for kind in possible if kind is not constraints.AtMost)
    return (
        f"No solver handles prior={prior} with constraint={constraint}. "
        f"With this prior, constraint may be: {names}."
    )


def solve(
    problem: CodingProblem, formulation: Formulation, options: Options | None = None
) -> CodingResult:
    """Code every sample of a problem and have the judge certify the codes.

    Parameters
    ----------
    problem : CodingProblem
        Samples and dictionary, as three arrays.
    formulation : Formulation
        Prior, constraint and weight.
    options : Options, default=None
        Tolerance, iteration limit, threads, form of the output, warm start.

    Returns
    -------
    CodingResult
        Codes in the problem's precision, their certificates, and how each row ended.
    """
    options = options or Options()
    codes, converged, n_iter = choose_solver(formulation)(problem, formulation, options)
    if options.sparse_output and not sparse.issparse(codes):
        codes = sparse.csr_array(codes)
    codes = codes.astype(problem.cross.dtype, copy=False)
    n_samples = problem.n_samples
    return CodingResult(
        codes=codes,
        gap=certify(problem, formulation, codes) if options.certify else None,
        converged=np.broadcast_to(np.asarray(converged, dtype=bool), (n_samples,)),
        n_iter=np.broadcast_to(np.asarray(n_iter, dtype=int), (n_samples,)),
    )
