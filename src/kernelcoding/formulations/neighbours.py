"""Approximate locality-constrained coding: a small fit to the nearest atoms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates import local_gap
from ..codes import Codes, row_sums
from ..problem import CodingProblem
from ..solvers import local
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .scored import solve_each
from .sensitivity import Sensitivity


@dataclass(frozen=True, slots=True)
class NeighbourFit:
    r"""Affine least squares on the nearest atoms B (approximate LLC).

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(B) y\|^2 + \tfrac\beta2\,\mathrm{tr}(C)\|y\|^2,
              \quad \mathbf 1^\top y = 1

    where C is the Gram matrix of :math:`\phi(d_j) - \phi(x)`.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> kc.KernelLLC(n_neighbors=7).formulation()
    NeighbourFit(n_neighbors=7, regularization=0.0001)
    """

    n_neighbors: int
    regularization: float

    nonnegative = False
    is_cone = False
    is_sparse = True
    is_greedy = False
    follows_atoms = False
    is_minimiser = True
    uses_gram = False

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix: any will do."""
        return 1

    def check(self, n_atoms: int) -> None:
        """Tell the user if there are fewer atoms than neighbours."""
        warn_of_many_neighbors(self.n_neighbors, n_atoms)

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Code every sample of a problem, in the problem's precision."""
        near = problem.nearest(self.n_neighbors)
        return local.solve(near, problem, self.regularization, options)

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""
        allowed = problem.nearest(self.n_neighbors).indices
        return solve_each(self, problem, options, scores, allowed)

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from optimal, (n,)."""
        near = problem.nearest(self.n_neighbors)
        return local_gap(near, problem, self.regularization, codes)

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Half of the ridge, (n,)."""
        seen = problem if problem.geometry is None else problem.geometry
        rows, columns = codes.nonzero()
        distances = seen.self_similarity[rows] - 2.0 * seen.cross[rows, columns]
        distances += seen.squares[columns]
        trace = np.bincount(rows, np.maximum(distances, 0.0), minlength=problem.n_samples)
        return 0.5 * self.regularization * trace * row_sums(codes, codes)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes:
        """Twice the derivatives of :meth:`value` in squared distances."""
        used = sparse.csr_array(codes, copy=True)
        squares = self.regularization * row_sums(used, used)
        used.data = np.repeat(squares, np.diff(used.indptr))
        return used

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective and its derivatives, as long as the neighbours stay the same."""
        found = Sensitivity.of_error(problem, codes)
        found.value += float(self.value(problem, codes).sum())
        found.add_distances(self.distance_weights(problem, codes))
        return found

    def critical_alpha(self, problem: CodingProblem) -> None:
        """No weight makes codes zero: they sum to one."""

    def for_atoms(self, atoms: NDArray) -> NeighbourFit:
        """The same: atoms are known by their distance."""
        return self


def warn_of_many_neighbors(n_neighbors: int, n_atoms: int) -> None:
    """Tell the user that fewer atoms exist than neighbours are asked for."""
    if n_neighbors > n_atoms:
        warnings.warn(
            f"n_neighbors={n_neighbors} exceeds the number of atoms ({n_atoms}): all atoms "
            f"are used. Set n_neighbors to at most {n_atoms}.",
            UserWarning,
            stacklevel=5,
        )
