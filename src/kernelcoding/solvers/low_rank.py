"""Lasso-type problems whose shared Gram matrix has a term of low rank added in each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..penalty import Penalty
from ..problem import Codes, CodingProblem
from .active_set import Arrays, assemble
from .layout import plain
from .parallel import map_rows


@dataclass(frozen=True, slots=True)
class Scores:
    r"""Scores that are bilinear in samples and codes, and where they should be.

    .. math:: f_{is}(y) = \sum_z C_{zs}\, k(x_i, z)\,(y_z \cdot y)
    """

    similarity: NDArray  # (n, Z) of samples and centres
    coefficients: NDArray  # (Z, S)
    centres: Codes  # (Z, N) codes of the centres
    goals: NDArray  # (n, S)
    etas: NDArray  # (n,) weight of half the squared distance to the goals

    def responses(self, row: int) -> NDArray:
        """What one sample's scores gain by a unit of each atom, (N, S)."""
        weighted = self.similarity[row][:, None] * self.coefficients
        return np.asarray(self.centres.T @ weighted)


def solve(
    problem: CodingProblem,
    penalty: Penalty,
    scores: Scores,
    *,
    nonnegative: bool,
    sum_to_one: bool,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    start: Codes | None = None,
) -> tuple[sparse.csr_array, NDArray, NDArray]:
    r"""Minimise a coding objective plus the squared distance of scores to their goals.

    .. math:: \min_y \tfrac12 y^\top (K + \mathrm{diag}(q)) y - k^\top y + \sum_j l_j |y_j|
              + \tfrac{\eta_i}2 \|g_i - f_i(y)\|^2

    The Gram matrix of row i is :math:`K + \eta_i B_i B_i^\top` with as many columns in
    :math:`B_i` as there are classes. Neither is formed: memory is that of one working set a thread.

    Parameters
    ----------
    problem, penalty, nonnegative, sum_to_one, tol, max_iter, n_jobs, start
        As in :func:`kernelcoding.solvers.active_set.solve`.
    scores : Scores

    Returns
    -------
    codes : CSR array of shape (n, N)
    converged : bool array of shape (n,)
    n_iter : int array of shape (n,)
    """
    from .._compiled.low_rank import solve_rows

    arrays = Arrays.of(problem, penalty, start)
    centres = sparse.csc_array(scores.centres).astype(np.float64)
    similarity, coefficients, goals, etas = (
        plain(part, np.float64)
        for part in (scores.similarity, scores.coefficients, scores.goals, scores.etas)
    )

    def run(rows: slice):
        return solve_rows(
            *arrays.of_problem(rows),
            similarity[rows],
            coefficients,
            goals[rows],
            etas[rows],
            centres.indptr.astype(np.int64),
            centres.indices.astype(np.int64),
            centres.data,
            *arrays.of_start(rows),
            nonnegative,
            sum_to_one,
            tol,
            arrays.precision,
            max_iter,
        )

    parts = map_rows(run, problem.n_samples, n_jobs)
    codes = assemble(parts, arrays.cross)
    codes.sort_indices()
    converged = np.concatenate([part[4] for part in parts])
    return codes, converged, np.concatenate([part[3] for part in parts])
