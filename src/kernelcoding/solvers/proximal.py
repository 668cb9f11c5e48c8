r"""Accelerated proximal gradient for a prior that offers nothing but ``value`` and ``prox``.

FISTA with restarts (O'Donoghue and Candes): momentum is dropped in each row whose step turns
against it. Every row stops on its own, so a code never depends on its neighbours.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..constraints import Constraint
from ..penalty import AnyPenalty, constrained_prox
from ..problem import CodingProblem
from .result import CodingResult, Options


def solve(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, options: Options
) -> CodingResult:
    """Codes of a penalty of which only value and proximal map are known.

    A row stops when a proximal gradient step moves no coefficient by more than
    ``tol * max|k|`` in units of the gradient (``tol * max(|k|, K_jj)`` for codes that sum to one).
    """
    dtype, problem = problem.cross.dtype, problem.astype(np.float64)
    lipschitz = problem.facts.lipschitz
    largest = np.abs(problem.cross).max(axis=1)
    if constraint.sum_to_one:  # no small code, no small gradient, whatever k
        largest = np.maximum(largest, problem.squares.max())
    threshold = options.tol * largest / lipschitz
    codes = np.zeros_like(problem.cross)
    n_iter = np.zeros(problem.n_samples, dtype=int)
    running = np.arange(problem.n_samples)
    step = partial(_step, penalty, constraint.sum_to_one, lipschitz)
    # Feasible, also with a sum constraint.
    current = constrained_prox(penalty, codes, 1.0 / lipschitz, constraint.sum_to_one)
    ahead, momentum = current.copy(), np.ones(problem.n_samples)
    for _ in range(options.max_iter):
        part = problem.take(running)
        stepped = step(part, ahead)
        momentum, ahead = _accelerate(stepped, current, ahead, momentum)
        current = stepped
        n_iter[running] += 1
        # The test is made at the point itself, not at the extrapolated one.
        moved = np.abs(step(part, current) - current).max(axis=1)
        codes[running] = current
        active = moved > threshold[running]
        if not active.all():
            running, current = running[active], current[active]
            ahead, momentum = ahead[active], momentum[active]
        if running.size == 0:
            break
    converged = np.ones(problem.n_samples, dtype=bool)
    converged[running] = False
    return CodingResult(codes.astype(dtype, copy=False), converged, n_iter)


def _step(
    penalty: AnyPenalty,
    sum_to_one: bool,
    lipschitz: float,
    problem: CodingProblem,
    points: NDArray,
) -> NDArray:
    ahead = points + problem.correlation(points) / lipschitz
    return constrained_prox(penalty, ahead, 1.0 / lipschitz, sum_to_one)


def _accelerate(
    stepped: NDArray, previous: NDArray, ahead: NDArray, momentum: NDArray
) -> tuple[NDArray, NDArray]:
    against = ((ahead - stepped) * (stepped - previous)).sum(axis=1) > 0
    momentum = np.where(against, 1.0, momentum)
    following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
    weight = np.where(against, 0.0, (momentum - 1.0) / following)
    return following, stepped + weight[:, None] * (stepped - previous)
