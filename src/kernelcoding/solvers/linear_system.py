r"""Quadratic priors without signs: linear systems.

Stationarity of :math:`\tfrac12 y^\top H y - k^\top y` is :math:`Hy = k`. With
:math:`\mathbf 1^\top y = 1`, start from equal weights and move along directions of zero sum,
where H acts as the Gram matrix of the centred atoms.

A ridge shared by all samples costs one eigendecomposition per dictionary. A ridge of its own for
each sample (locality) goes to conjugate gradients on all samples at once, and to one
factorisation per sample, :math:`N^3/3`, where those do not converge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..constraints import Constraint
from ..gram import GramFacts
from ..long_calls import cho_factor
from ..parallel import map_blocks
from ..penalty import Penalty
from ..problem import CodingProblem
from .conjugate_gradient import solve_affine
from .result import CodingResult, Options, Status

STATIONARY = 1e-6
# Beyond this ratio of the largest to the smallest ridge of a sample, iterations need not converge.
LARGEST_RATIO = 1e8
# Below this many atoms a factorisation is cheaper than iterations.
FEW_ATOMS = 100


def solve(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, options: Options
) -> CodingResult:
    """Codes of a quadratic penalty, free or summing to one; computed in double precision.

    A row has converged when it is stationary: the residual's part along each atom, both of unit
    norm, is at most ``STATIONARY``, or rounding; and when nothing that would lower its objective
    by more than ``tol`` was left out with the directions that rounding dominates.
    """
    exact, sum_to_one = problem.astype(np.float64), constraint.sum_to_one
    codes = _solve(exact, penalty, sum_to_one, options.n_jobs)
    converged = _is_stationary(exact, penalty, sum_to_one, codes)
    if not np.any(penalty.ridge):
        converged &= _left_out(exact, sum_to_one, codes) <= options.tol * exact.self_similarity
    ones = np.ones(len(codes), dtype=int)
    rounded = codes.astype(problem.cross.dtype, copy=False)
    return CodingResult(rounded, converged, ones, Status.SINGULAR)


def _left_out(problem: CodingProblem, sum_to_one: bool, codes: NDArray) -> NDArray:
    """What directions without an inverse could at least take off each objective, (n,).

    A direction of curvature c along which the objective has slope s can take off s^2 / 2c. Its
    curvature is at most twice the cut-off; slopes that rounding explains count nothing.
    """
    facts = problem.facts.centred if sum_to_one else problem.facts
    values, vectors = facts.spectrum
    dropped = facts.inverse_values() == 0.0
    # Atoms that are all equal up to rounding have no differences to tell a cut-off from.
    cutoff = facts.cutoff if values[-1] > 0.0 else problem.facts.cutoff
    if not dropped.any() or cutoff == 0.0:
        return np.zeros(len(codes))
    slope = problem.correlation(codes)
    if sum_to_one:
        slope -= slope.mean(axis=1, keepdims=True)
    slopes = slope @ vectors[:, dropped]
    norms = np.sqrt(np.maximum(problem.squares, 0.0))
    size = np.sqrt(np.maximum(problem.self_similarity, 0.0)) + np.abs(codes) @ norms
    rounding = problem.facts.precision * size * np.sqrt((norms**2).sum())
    slopes[np.abs(slopes) <= rounding[:, None]] = 0.0
    return (slopes**2).sum(axis=1) / (4.0 * cutoff)


def _is_stationary(
    problem: CodingProblem, penalty: Penalty, sum_to_one: bool, codes: NDArray
) -> NDArray:
    """Which rows are solutions of their systems, (n,) booleans."""
    norms = np.sqrt(np.maximum(problem.squares, 0.0) + penalty.ridge)
    slope = problem.correlation(codes) - penalty.ridge * codes
    unit = np.sqrt(np.maximum(problem.self_similarity, 0.0))
    size = unit + (np.abs(codes) * norms).sum(axis=1)
    if sum_to_one:
        # A further coordinate, the same for all atoms, stands for the sum. Any multiplier would
        # do: that of the atoms for which it is best known.
        norms = np.sqrt(norms**2 + problem.facts.affine_shift)
        weights = 1.0 / norms**2
        slope -= ((slope * weights).sum(axis=1) / weights.sum(axis=1))[:, None]
        unit = unit + np.sqrt(problem.facts.affine_shift)
    rounding = 16 * problem.n_atoms * float(np.finfo(problem.facts.dtype).eps) * size
    allowed = norms * (STATIONARY * unit + rounding)[:, None]
    return np.all(np.abs(slope) <= allowed, axis=1)  # false where a code is not a number


def _solve(
    problem: CodingProblem, penalty: Penalty, sum_to_one: bool, n_jobs: int | None
) -> NDArray:
    if problem.n_samples == 0:
        return problem.cross
    if penalty.ridge.shape[0] == 1 and np.ptp(penalty.ridge) == 0:
        return _spectral(problem.facts, problem.cross, float(penalty.ridge[0, 0]), sum_to_one)
    ridge = np.broadcast_to(penalty.ridge, problem.cross.shape)
    if problem.n_atoms < FEW_ATOMS or not sum_to_one or not np.all(ridge > 0):
        return factorise_each(problem, ridge, sum_to_one, n_jobs)
    codes = np.empty_like(problem.cross)
    iterated = ridge.max(axis=1) <= LARGEST_RATIO * ridge.min(axis=1)
    rows = np.flatnonzero(iterated)
    if rows.size:
        # Beyond a sixth of N iterations of 2 N^2 operations, a factor would have been cheaper.
        part = problem if iterated.all() else problem.take(rows)
        codes[rows], converged = solve_affine(part, ridge[rows], max_iter=problem.n_atoms // 6)
        iterated[rows] = converged
    rest = np.flatnonzero(~iterated)
    if rest.size:
        codes[rest] = factorise_each(problem.take(rest), ridge[rest], sum_to_one, n_jobs)
    return codes


def _spectral(facts: GramFacts, right: NDArray, ridge: float, sum_to_one: bool) -> NDArray:
    """All rows with one constant ridge; the smallest solution where there are many."""
    if not sum_to_one:
        return facts.solve(right, ridge)
    right = right - facts.double.mean(axis=1)
    right -= right.mean(axis=1, keepdims=True)
    move = facts.centred.solve(right, ridge)
    return 1.0 / right.shape[1] + move - move.mean(axis=1, keepdims=True)


def factorise_each(
    problem: CodingProblem, ridge: NDArray, sum_to_one: bool, n_jobs: int | None = None
) -> NDArray:
    """Codes by one Cholesky factor per sample, for ridges (n, N) of their own."""

    def rows_of(rows: slice) -> NDArray:
        part, own = problem.take(rows), ridge[rows]
        codes = np.empty_like(part.cross)
        for row in range(part.n_samples):
            system = problem.gram + np.diag(own[row])
            codes[row] = _solve_one(system, part.cross[row], sum_to_one)
        return codes

    return np.concatenate(map_blocks(rows_of, problem.n_samples, 8, n_jobs))


def _solve_one(system: NDArray, right: NDArray, sum_to_one: bool) -> NDArray:
    diagonal = np.diag(system)
    # To a unit diagonal: ridges over many decades are no reason to call the system singular.
    positive = diagonal > 0
    scale = np.divide(1.0, np.sqrt(diagonal), out=np.ones_like(diagonal), where=positive)
    try:
        factor = cho_factor(system * scale[:, None] * scale[None, :])
    except linalg.LinAlgError:
        return _spectral(GramFacts(system), right[None], 0.0, sum_to_one)[0]
    cutoff = len(system) * np.finfo(np.float64).eps
    if np.diag(factor[0]).min() ** 2 <= cutoff:  # singular, as far as one can tell
        return _spectral(GramFacts(system), right[None], 0.0, sum_to_one)[0]
    codes = scale * linalg.cho_solve(factor, scale * right)
    if not sum_to_one:
        return codes
    direction = scale * linalg.cho_solve(factor, scale)
    codes -= (codes.sum() - 1.0) / direction.sum() * direction
    return codes
