"""Soft assignment: weights that fall with the distance of an atom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..certificates import distance_slack, soft_assignment_gap, soft_assignment_optimum
from ..codes import Codes, dense
from ..problem import CodingProblem
from ..solvers import assignment
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .neighbours import warn_of_many_neighbors
from .sensitivity import Sensitivity


@dataclass(frozen=True, slots=True)
class SoftAssignment:
    r"""Weights :math:`y_j \propto \exp(-\sigma\|\phi(x) - \phi(d_j)\|^2)` that sum to one.

    With ``n_neighbors``, among the nearest atoms only. The weights are a function of the
    distances, not a minimiser of the reconstruction error.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> kc.KernelBagOfWords(sigma=2.0).formulation()
    SoftAssignment(sigma=2.0, n_neighbors=None)
    """

    sigma: float
    n_neighbors: int | None = None

    nonnegative = True
    is_cone = False
    is_greedy = False
    is_minimiser = False
    uses_gram = False

    @property
    def is_sparse(self) -> bool:
        """Whether codes have few nonzeros."""
        return self.n_neighbors is not None

    @property
    def follows_atoms(self) -> bool:
        """Whether codes are a smooth function of the atoms: the choice of neighbours is not."""
        return self.n_neighbors is None

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix: any will do."""
        return 1

    def check(self, n_atoms: int) -> None:
        """Tell the user if there are fewer atoms than neighbours."""
        if self.n_neighbors is not None:
            warn_of_many_neighbors(self.n_neighbors, n_atoms)

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Code every sample of a problem, in the problem's precision."""
        if self.n_neighbors is None:
            return assignment.soft_assignment(problem, self.sigma, options)
        near = problem.nearest(self.n_neighbors)
        return assignment.local_assignment(near, problem.squares, self.sigma, options)

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""
        raise ValueError("Soft assignment minimises nothing that scores could be added to.")

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Distance from the formula, as the gap of an entropy-regularised assignment, (n,)."""
        norms = problem.squares
        if self.n_neighbors is None:
            optimal = soft_assignment_optimum(problem.cross, norms, self.sigma)
        else:
            near = problem.nearest(self.n_neighbors)
            logs = soft_assignment_optimum(near.cross, norms[near.indices], self.sigma)
            optimal = np.full((problem.n_samples, len(norms)), -np.inf)
            np.put_along_axis(optimal, near.indices, logs, axis=1)
        squares, precision = norms.astype(np.float64), problem.facts.precision
        slack = distance_slack(problem.self_similarity, squares, precision)
        return soft_assignment_gap(optimal, codes, self.sigma, slack)

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Nothing: the error is all that is measured, (n,)."""
        return np.zeros(problem.n_samples)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> None:
        """No prior looks at distances."""

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """Half the squared error and its derivatives, through the codes, too."""
        weights = dense(codes)
        pull = weights @ problem.gram - problem.cross  # the one large product serves everything
        turn = weights * (pull - np.sum(weights * pull, axis=1, keepdims=True))
        errors = problem.self_similarity + np.sum(weights * (pull - problem.cross), axis=1)
        return Sensitivity(
            0.5 * float(np.maximum(errors, 0.0).sum()),
            np.full(problem.n_samples, 0.5),
            2.0 * self.sigma * turn - weights,
            codes,
            -self.sigma * turn.sum(axis=0),
        )

    def critical_alpha(self, problem: CodingProblem) -> None:
        """No weight makes codes zero: they sum to one."""

    def for_atoms(self, atoms: NDArray) -> SoftAssignment:
        """The same: atoms are known by their distance."""
        return self
