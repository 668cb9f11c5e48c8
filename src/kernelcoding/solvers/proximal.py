r"""Accelerated proximal gradient for a prior that offers nothing but ``value`` and ``prox``.

FISTA with restarts (O'Donoghue and Candes): momentum is dropped in each row whose step turns
against it. Every row stops on its own, so a code never depends on its neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formulation import Formulation
from ..problem import CodingProblem


def solve(
    problem: CodingProblem, formulation: Formulation, *, tol: float, max_iter: int
) -> tuple[NDArray, NDArray, NDArray]:
    """Codes (n, N), whether each row converged, and its iterations.

    A row stops when a proximal gradient step moves no coefficient by more than
    ``tol * max|k|`` in units of the gradient (``tol * max(|k|, K_jj)`` for codes that sum to one).
    """
    problem = problem.astype(np.float64)
    lipschitz = problem.facts.lipschitz
    largest = np.abs(problem.cross).max(axis=1)
    if formulation.constraint.sum_to_one:  # no small code, no small gradient, whatever k
        largest = np.maximum(largest, np.diag(problem.gram).max())
    threshold = tol * largest / lipschitz
    codes = np.zeros_like(problem.cross)
    n_iter = np.zeros(problem.n_samples, dtype=int)
    running = np.arange(problem.n_samples)
    current = formulation.prox(codes, 1.0 / lipschitz)  # feasible, also with a sum constraint
    ahead, momentum = current.copy(), np.ones(problem.n_samples)
    for _ in range(max_iter):
        part = problem.take(running)
        stepped = _step(part, formulation, ahead, lipschitz)
        momentum, ahead = _accelerate(stepped, current, ahead, momentum)
        current = stepped
        n_iter[running] += 1
        # The test is made at the point itself, not at the extrapolated one.
        moved = np.abs(_step(part, formulation, current, lipschitz) - current).max(axis=1)
        codes[running] = current
        active = moved > threshold[running]
        if not active.all():
            running, current = running[active], current[active]
            ahead, momentum = ahead[active], momentum[active]
        if running.size == 0:
            break
    converged = np.ones(problem.n_samples, dtype=bool)
    converged[running] = False
    return codes, converged, n_iter


def _step(
    problem: CodingProblem, formulation: Formulation, points: NDArray, lipschitz: float
) -> NDArray:
    return formulation.prox(points + problem.correlation(points) / lipschitz, 1.0 / lipschitz)


def _accelerate(
    stepped: NDArray, previous: NDArray, ahead: NDArray, momentum: NDArray
) -> tuple[NDArray, NDArray]:
    against = ((ahead - stepped) * (stepped - previous)).sum(axis=1) > 0
    momentum = np.where(against, 1.0, momentum)
    following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
    weight = np.where(against, 0.0, (momentum - 1.0) / following)
    return following, stepped + weight[:, None] * (stepped - previous)
