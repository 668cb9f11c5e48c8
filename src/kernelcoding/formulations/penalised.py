"""A prior, its weight, and a constraint; and the table of solvers for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import certificates, constraints
from ..codes import Codes, is_csr
from ..constraints import Constraint
from ..penalty import AnyPenalty, CustomPenalty, CustomPrior, Penalty
from ..priors import FixedPrior, NoPrior, Prior
from ..problem import CodingProblem
from ..solvers import (
    active_set,
    assignment,
    group,
    linear_system,
    low_rank,
    proximal,
    pursuit,
    splitting,
    working_set,
)
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from ..solvers.scaling import solve_scaled, tightened
from ..solvers.unit_sums import with_unit_sums
from .scored import solve_each
from .sensitivity import Sensitivity

Solver = Callable[..., CodingResult]

# Rows: the kinds of prior. "quadratic": NoPrior, Ridge, Locality; "sparse": L1, WeightedL1,
# ElasticNet, LocalCoordinate; "group": GroupL1, SparseGroupL1; "custom": value and prox only.
# Every solver is called with problem, penalty, constraint and options.
TABLE: dict[str, dict[type[Constraint], Solver]] = {
    "quadratic": {
        constraints.Free: linear_system.solve,
        constraints.NonNegative: active_set.solve,
        constraints.SumToOne: linear_system.solve,
        constraints.Simplex: active_set.solve,
        constraints.OneAtom: assignment.solve,
        constraints.AtMost: pursuit.solve,
    },
    "sparse": {
        constraints.Free: active_set.solve,
        constraints.NonNegative: active_set.solve,
        constraints.SumToOne: active_set.solve,
        constraints.Simplex: active_set.solve,
        constraints.OneAtom: assignment.solve,
    },
    "group": {
        constraints.Free: group.solve,
        constraints.NonNegative: group.solve,
        constraints.SumToOne: group.solve,
        constraints.Simplex: group.solve,
        constraints.OneAtom: assignment.solve,
    },
    "custom": {
        constraints.Free: proximal.solve,
        constraints.NonNegative: splitting.solve,
        constraints.SumToOne: splitting.solve,
        constraints.Simplex: splitting.solve,
        constraints.OneAtom: assignment.solve,
    },
}
# What finds the same codes where the Gram matrix is beyond the memory budget.
BY_PARTS: dict[Solver, Solver] = {
    active_set.solve: working_set.solve,
    pursuit.solve: pursuit.solve_by_parts,
}
# Numbers, samples times atoms, that may be kept then: the more samples, the more they share.
TOGETHER, TOGETHER_APART = 2**26, 2**23
DENSE_SOLVERS = (linear_system.solve, proximal.solve, splitting.solve)


@dataclass(frozen=True, slots=True)
class Penalised:
    r"""The general coding problem of the paper, in scikit-learn's scale.

    .. math:: \min_{y \in C} \tfrac12\|\phi(x) - \Phi(D) y\|^2 + \alpha\, r(y; x, D)

    Examples
    --------
    >>> import kernelcoding as kc
    >>> kc.KernelSparseCoder(alpha=0.1).formulation()
    Penalised(prior=L1(), constraint=Free(), alpha=0.1)
    """

    prior: Prior | CustomPrior
    constraint: Constraint
    alpha: float = 1.0

    @property
    def nonnegative(self) -> bool:
        """Whether no entry of a code is negative."""
        return self.constraint.nonnegative

    @property
    def is_cone(self) -> bool:
        """Whether multiples of a code are allowed."""
        return self.constraint.is_cone

    @property
    def is_sparse(self) -> bool:
        """Whether codes have few nonzeros."""
        return self.solver not in DENSE_SOLVERS

    @property
    def is_greedy(self) -> bool:
        """Whether atoms are chosen one by one."""
        return isinstance(self.constraint, constraints.AtMost)

    @property
    def follows_atoms(self) -> bool:
        """Whether codes are a smooth function of the atoms: they are minimisers."""
        return False

    @property
    def uses_gram(self) -> bool:
        """Whether coding needs all inner products of atoms: a single atom needs its norm."""
        return not isinstance(self.constraint, constraints.OneAtom)

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix; 0: it cannot be done."""
        if self.solver not in BY_PARTS:
            return 0 if self.uses_gram else 1
        if self.is_greedy:  # nothing is shared
            return 1
        # A prior that looks at samples has weights of its own for each of them.
        numbers = TOGETHER if isinstance(self.prior, FixedPrior) else TOGETHER_APART
        return max(1, numbers // n_atoms)

    @property
    def is_minimiser(self) -> bool:
        """Whether codes minimise the objective: greedy ones try to."""
        return not self.is_greedy

    @property
    def kind(self) -> str:
        """The prior's row in the table of solvers."""
        return self.prior.kind if isinstance(self.prior, Prior) else "custom"

    @property
    def solver(self) -> Solver:
        """The solver of this pair; ValueError names what would work where there is none."""
        prior, constraint = self.prior, self.constraint
        if not isinstance(constraint, Constraint):
            raise ValueError(
                f"constraint must be one of kernelcoding.constraints, got {constraint!r}."
            )
        # A class has the methods too, but not the parameters: L1 is not L1().
        if isinstance(prior, type) or not isinstance(prior, (Prior, CustomPrior)):
            raise ValueError(
                "prior must be one of kernelcoding.priors or an object with methods value(codes) "
                f"and prox(points, scale), got {prior!r}."
            )
        row = TABLE[self.kind]
        solver = row.get(type(constraint))
        if solver is None or (self.is_greedy and not isinstance(prior, NoPrior)):
            raise ValueError(_refusal(self, list(row)))
        return solver

    def penalty(self, problem: CodingProblem) -> AnyPenalty:
        """The weighted prior as numbers, or a user's own prior with its weight."""
        if isinstance(self.prior, Prior):
            return self.prior.bind(problem) * self.alpha
        return CustomPenalty(self.prior, self.alpha)

    def check(self, n_atoms: int) -> None:
        """Refuse a pair without a solver, and weights or groups of another number of atoms."""
        _ = self.solver
        if isinstance(self.prior, FixedPrior):
            penalty = self.prior.for_atoms(n_atoms)
            if isinstance(self.constraint, constraints.Simplex) and penalty.is_plain_l1:
                self._warn_idle()

    def _warn_idle(self) -> None:
        """Tell the user that alpha weighs a constant."""
        warnings.warn(
            f"The l1 norm of every code on the simplex is one, so alpha={self.alpha:g} changes "
            "nothing. Use prior=NoPrior() to say so, prior=LocalCoordinate() or ElasticNet() for "
            "a prior that tells codes apart, or constraint=NonNegative().",
            UserWarning,
            stacklevel=4,
        )

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Code every sample of a problem, in the problem's precision."""
        penalty = self.penalty(problem)
        by_parts = None if problem.can_be_whole else BY_PARTS.get(self.solver)
        if by_parts is None:
            result = solve_scaled(self.solver, problem, penalty, self.constraint, options)
        else:
            result = by_parts(problem, penalty, self.constraint, options)
        if self.constraint.sum_to_one:
            result = with_unit_sums(result)
        if not options.sparse_output or is_csr(result.codes):
            return result
        return replace(result, codes=sparse.csr_array(result.codes))

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""
        if self.kind != "sparse" or self.solver is not active_set.solve:
            return solve_each(self, problem, options, scores)
        penalty = self.penalty(problem)
        assert isinstance(penalty, Penalty)
        options = tightened(problem, penalty, self.constraint, options)
        return low_rank.solve(problem, penalty, self.constraint, options, scores, max_passes)

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from optimal, (n,)."""
        exact = problem.astype(np.float64)
        return certificates.certify(exact, self.penalty(exact), self.constraint, codes)

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """The weighted prior of each code, (n,)."""
        return self.penalty(problem).value(codes)

    def objective(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Value of what is minimised at each row's code, (n,)."""
        return certificates.objective(problem, self.penalty(problem), codes)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives of the weighted prior in squared distances."""
        if not isinstance(self.prior, Prior):
            return None
        weights = self.prior.distance_weights(problem, codes)
        return None if weights is None else self.alpha * weights

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective and its derivatives, exact at codes that minimise it."""
        found = Sensitivity.of_error(problem, codes)
        found.value += float(self.value(problem, codes).sum())
        found.add_distances(self.distance_weights(problem, codes))
        return found

    def critical_alpha(self, problem: CodingProblem) -> NDArray | None:
        """The weight of the prior from which on each code is zero, (n,); infinite: it never is."""
        if not isinstance(self.prior, Prior) or isinstance(self.prior, NoPrior):
            return None
        if not (self.is_cone and self.constraint.is_convex):
            return None
        penalty = self.prior.bind(problem)
        return penalty.gauge(problem.cross, one_sided=self.nonnegative)

    def for_atoms(self, atoms: NDArray) -> Penalised:
        """The same with the weights and groups of some of the atoms."""
        if not isinstance(self.prior, FixedPrior):
            return self
        return replace(self, prior=self.prior.restricted(atoms))


def _refusal(formulation: Penalised, possible: list[type]) -> str:
    prior = type(formulation.prior).__name__
    constraint = type(formulation.constraint).__name__
    if formulation.is_greedy:
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
