r"""Quadratic priors without signs: one linear system a sample, or one factor for all.

Stationarity of :math:`\tfrac12 y^\top H y - k^\top y` is :math:`Hy = k`; with
:math:`\mathbf 1^\top y = 1` it is :math:`Hy = k - \mu\mathbf 1`, so
:math:`y = H^{-1}k - \mu H^{-1}\mathbf 1` with the multiplier that makes the sum one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import threadpool_limits

from ..penalty import Penalty
from ..problem import CodingProblem
from .parallel import map_rows


def solve(
    problem: CodingProblem, penalty: Penalty, *, sum_to_one: bool, n_jobs: int | None = None
) -> NDArray:
    """Codes of shape (n, N) in double precision.

    With a shared ridge the matrix is factorised once; with a ridge of its own for each sample
    (locality) the cost is :math:`N^3/3` a sample.
    """
    problem = problem.astype(np.float64)
    if penalty.ridge.shape[0] == 1:
        return _solve_shared(problem, penalty.ridge[0], sum_to_one)
    with threadpool_limits(1):  # our threads take the rows; BLAS must not multiply them
        parts = map_rows(
            lambda rows: _solve_each(problem.take(rows), penalty.ridge[rows], sum_to_one),
            problem.n_samples,
            n_jobs,
            chunk=8,
        )
    return np.concatenate(parts)


def _solve_shared(problem: CodingProblem, ridge: NDArray, sum_to_one: bool) -> NDArray:
    """All rows of a problem with one ridge."""
    system = problem.gram + np.diag(ridge)
    right = problem.cross
    try:
        factor = linalg.cho_factor(system)
    except linalg.LinAlgError:
        return _solve_singular(system, right, sum_to_one)
    if np.diag(factor[0]).min() ** 2 <= _cutoff(system):
        return _solve_singular(system, right, sum_to_one)
    codes = linalg.cho_solve(factor, right.T).T
    if not sum_to_one:
        return codes
    direction = linalg.cho_solve(factor, np.ones(len(system)))
    return codes - np.outer((codes.sum(axis=1) - 1.0) / direction.sum(), direction)


def _solve_singular(system: NDArray, right: NDArray, sum_to_one: bool) -> NDArray:
    """Smallest of the many solutions, through the eigenvalues."""
    if not sum_to_one:
        return right @ linalg.pinvh(system)
    # Among all codes with sum one: start at the mean and move along directions of zero sum.
    n_atoms = len(system)
    start = np.full(n_atoms, 1.0 / n_atoms)
    centre = np.eye(n_atoms) - 1.0 / n_atoms
    inverse = linalg.pinvh(centre @ system @ centre)
    return start + (right - system @ start) @ inverse


def _solve_each(problem: CodingProblem, ridge: NDArray, sum_to_one: bool) -> NDArray:
    codes = np.empty_like(problem.cross)
    for row, own_ridge in enumerate(ridge):
        alone = problem.take(slice(row, row + 1))
        codes[row] = _solve_shared(alone, own_ridge, sum_to_one)[0]
    return codes


def _cutoff(system: NDArray) -> float:
    return len(system) * np.finfo(np.float64).eps * float(np.abs(np.diag(system)).max())
