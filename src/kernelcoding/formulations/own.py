"""The base of a formulation of one's own: say how samples are coded, the rest has an answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, dense, is_csr
from ..problem import CodingProblem
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .base import Formulation
from .scored import solve_each
from .sensitivity import Sensitivity


class BaseFormulation:
    r"""Base of a formulation of your own: ``code`` is required, all else has a safe default.

    A subclass that changes a fact or has more to say overrides it: ``is_minimiser`` and
    :meth:`value` where codes minimise :math:`\tfrac12\|\phi(x) - \Phi(D) y\|^2` plus something
    (supervised coding then works, too), ``nonnegative`` and ``is_cone`` where they hold,
    :meth:`gap` where a bound is known, :meth:`sensitivity` where codes move with the kernel.
    Formulations are values: they keep parameters and nothing of any data.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.formulations import BaseFormulation
    >>> class Projection(BaseFormulation):
    ...     is_minimiser = is_cone = True
    ...     def code(self, problem):
    ...         return np.linalg.lstsq(problem.gram, problem.cross.T, rcond=None)[0].T
    """

    nonnegative = False
    is_cone = False  # whether multiples of codes are allowed: atoms are then held to unit norm
    is_sparse = False
    is_greedy = False
    follows_atoms = False
    is_minimiser = False
    uses_gram = True

    def code(self, problem: CodingProblem) -> Codes:
        """Codes of all samples of a problem, (n, N), dense or CSR.

        ``problem.cross`` holds k(x_i, d_j), ``problem.gram`` k(d_i, d_j) and
        ``problem.self_similarity`` k(x_i, x_i); ``problem.squared_distances()`` follows from them.
        """
        raise NotImplementedError

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix: it is needed."""
        return 0

    def check(self, n_atoms: int) -> None:
        """Refuse what no dictionary of this size can be coded by: nothing."""

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """What :meth:`code` says, dense or CSR as asked for."""
        codes = self.code(problem)
        if codes.shape != (problem.n_samples, problem.n_atoms):
            raise ValueError(
                f"{type(self).__name__}.code must return one code per sample, of shape "
                f"{(problem.n_samples, problem.n_atoms)}, got {codes.shape}."
            )
        codes = codes.astype(problem.cross.dtype, copy=False)
        if options.sparse_output and not is_csr(codes):
            codes = sparse.csr_array(codes)
        return CodingResult.closed_form(codes if options.sparse_output else dense(codes))

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""
        return solve_each(self, problem, options, scores)

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Infinite: nothing is known of the optimum, (n,)."""
        return np.full(problem.n_samples, np.inf)

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """What the objective of each code has beside half its squared error: nothing, (n,)."""
        return np.zeros(problem.n_samples)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives of :meth:`value` in squared distances; None: no distance."""
        return None

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective and its derivatives; exact at codes that minimise it."""
        found = Sensitivity.of_error(problem, codes)
        found.value += float(self.value(problem, codes).sum())
        found.add_distances(self.distance_weights(problem, codes))
        return found

    def critical_alpha(self, problem: CodingProblem) -> NDArray | None:
        """No weight is known from which on codes are zero."""
        return None

    def for_atoms(self, atoms: NDArray) -> Formulation:
        """The same: it knows no atom by its number."""
        return self
