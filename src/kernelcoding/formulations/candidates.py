"""Codes on the nearest atoms only: an approximation for very large dictionaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, columns_used, dense, stacked, widened
from ..problem import CodingProblem
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .base import Formulation
from .scored import solve_each
from .sensitivity import Sensitivity
from .wrapping import Wrapping


@dataclass(frozen=True, slots=True)
class OnCandidates(Wrapping):
    """What another formulation says, for the ``n_candidates`` atoms nearest to each sample.

    Certificates are about this problem: atoms that are no candidates are not asked.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> kc.KernelSparseCoder(n_candidates=300).formulation().n_candidates
    300
    """

    n_candidates: int

    is_sparse = True
    is_greedy = False
    follows_atoms = False
    uses_gram = False

    @property
    def is_minimiser(self) -> bool:
        """Whether codes minimise half the squared error plus :meth:`value`, on the candidates."""
        return self.formulation.is_minimiser

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix: any will do."""
        return 1

    def _each(
        self, problem: CodingProblem
    ) -> Iterator[tuple[slice, NDArray, Formulation, CodingProblem]]:
        """Row, its candidates in ascending order, what a code of them is, and their problem."""
        near = problem.nearest(self.n_candidates)
        order = np.argsort(near.indices, axis=1)
        atoms = np.take_along_axis(near.indices, order, axis=1)
        for row in range(problem.n_samples):
            rows = slice(row, row + 1)
            part = problem.take(rows).for_atoms(atoms[row])
            yield rows, atoms[row], self.formulation.for_atoms(atoms[row]), part

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Code every sample of a problem, in the problem's precision."""
        if self.n_candidates >= problem.n_atoms or problem.n_samples == 0:
            return self.formulation.solve(problem, options)
        results, codes = [], []
        alone = replace(options, start=None, sparse_output=True, n_jobs=1)
        for _, atoms, formulation, part in self._each(problem):
            result = formulation.solve(part, alone)
            results.append(result)
            codes.append(widened(result.codes, atoms, problem.n_atoms))
        found = stacked(codes)
        return CodingResult(
            found if options.sparse_output else dense(found),
            np.concatenate([result.converged for result in results]),
            np.concatenate([result.n_iter for result in results]),
        )

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""
        allowed = problem.nearest(self.n_candidates).indices
        return solve_each(self.formulation, problem, options, scores, allowed)

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from the best of its candidates, (n,)."""
        if self.n_candidates >= problem.n_atoms:
            return self.formulation.gap(problem, codes)
        gaps = np.full(problem.n_samples, np.inf)
        for rows, atoms, formulation, part in self._each(problem):
            code = codes[rows]
            if np.isin(columns_used(code), atoms).all():
                gaps[rows] = formulation.gap(part, dense(code)[:, atoms])
        return gaps

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """What the objective of each code has beside half its squared error, (n,)."""
        return self.formulation.value(problem, codes)

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective and its derivatives, as long as the candidates stay the same."""
        return self.formulation.sensitivity(problem, codes)

    def critical_alpha(self, problem: CodingProblem) -> NDArray | None:
        """The weight of the prior from which on each code is zero, (n,)."""
        known = [
            formulation.critical_alpha(part) for _, _, formulation, part in self._each(problem)
        ]
        found = [alpha for alpha in known if alpha is not None]
        return np.concatenate(found) if found else None

    def for_atoms(self, atoms: NDArray) -> OnCandidates:
        """The same with the weights and groups of some of the atoms."""
        return replace(self, formulation=self.formulation.for_atoms(atoms))
