r"""The judge: upper bounds on how far a code is from optimal.

Solvers do not mark their own work. Everything here is computed in double precision at the codes
that are handed in, whoever made them, and each number is an upper bound on
:math:`P(y) - \min_{C} P`.

Write :math:`P(y) = \tfrac12\|\phi - \Phi y\|^2 + p(y)`, :math:`v = k - Ky`, and take the dual
point :math:`u = s(\phi - \Phi y)`. Then weak duality gives, for every multiplier :math:`\mu` of
:math:`\mathbf 1^\top y = 1` (zero without that constraint),

.. math:: P(y) - P^* \le P(y) - s\,(\langle u_1, \phi\rangle - \mu) + \tfrac{s^2}{2}\|u_1\|^2
          \quad\text{as soon as } s(v - \mu) \in \partial p(0).

The codes behind a dual point need not be feasible, nor be those that are judged: any will do, and
near the optimum the best are near the codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from .codes import Codes, dense
from .constraints import AtMost, Constraint, OneAtom, SumToOne
from .penalty import AnyPenalty, CustomPenalty, Penalty, constrained_prox
from .problem import CodingProblem, Neighbours

# Differences below this fraction of the terms they come from are rounding, not disagreement.
ROUNDING = 16 * np.finfo(np.float64).eps


def certify(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, codes: Codes
) -> NDArray:
    """Upper bound on how far each code is from optimal, (n,); infinite outside the constraint.

    For a prior of the user's own, whose dual is unknown, it is the fixed-point residual instead:
    zero exactly at the optimum, but not a bound in units of the objective.
    """
    problem = problem.astype(np.float64)
    given = dense(codes)
    allowed = constraint.contains(given, _tolerance(codes))
    finite = np.where(np.isfinite(given), given, 0.0).astype(np.float64)
    if isinstance(constraint, OneAtom):
        gap = assignment_gap(problem, penalty, finite)
    elif isinstance(constraint, AtMost):
        gap = support_gap(problem, penalty, finite)
    elif isinstance(penalty, CustomPenalty):
        residual = fixed_point_residual(problem, penalty, constraint, finite)
        return np.where(allowed, residual, np.inf)
    else:
        gap = duality_gap(problem, penalty, constraint, finite)
    return np.where(allowed, np.maximum(gap, 0.0), np.inf)


def objective(problem: CodingProblem, penalty: AnyPenalty, codes: Codes) -> NDArray:
    """Half the squared error and the penalty of each code, (n,)."""
    return 0.5 * problem.squared_error(codes) + penalty.value(codes)


def duality_gap(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Duality gap of each row for a convex pair, (n,)."""
    correlation = problem.correlation(codes)
    unpenalised = _unpenalised(penalty)
    # The ridge joins the quadratic: a few more coordinates of the residual.
    joined = correlation - penalty.ridge * codes
    norms = Penalty(penalty.l1, np.zeros_like(penalty.ridge), penalty.groups)
    primal = 0.5 * _energy(problem, codes, joined) + norms.value(codes)
    gap = primal  # no objective is negative
    if penalty.groups is None and np.all(penalty.ridge > 0):
        gap = np.minimum(gap, _conjugate_gap(correlation, penalty, constraint, codes))
        if unpenalised.any():
            return gap
    start = _DualPoint(codes, joined, np.zeros(len(codes)))
    for point in _dual_points(problem, penalty, constraint, start, unpenalised):
        gap = np.minimum(gap, primal - _dual_value(problem, penalty, constraint, point))
    return gap


def assignment_gap(problem: CodingProblem, penalty: AnyPenalty, codes: NDArray) -> NDArray:
    """Objective above the best single atom, by looking at all of them, (n,)."""
    best = single_atom_objectives(problem, penalty).min(axis=1)
    return objective(problem, penalty, codes) - best


def single_atom_objectives(problem: CodingProblem, penalty: AnyPenalty) -> NDArray:
    """Objective of coding each sample by each atom alone, with weight one, (n, N)."""
    return 0.5 * problem.single_atom_errors() + penalty.of_single_atoms(problem.n_atoms)


def support_gap(problem: CodingProblem, penalty: AnyPenalty, codes: NDArray) -> NDArray:
    """Objective above that of unlimited support: the best support is not known, a bound is."""
    unlimited = problem.facts.solve(problem.cross)
    return objective(problem, penalty, codes) - objective(problem, penalty, unlimited)


def fixed_point_residual(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Largest change a proximal gradient step makes, in units of the gradient, (n,)."""
    lipschitz = problem.facts.lipschitz
    step = 1.0 / lipschitz
    points = codes + step * problem.correlation(codes)
    stepped = constrained_prox(penalty, points, step, constraint.sum_to_one)
    return lipschitz * np.abs(stepped - codes).max(axis=1)


def local_gap(near: Neighbours, gram: NDArray, regularization: float, codes: Codes) -> NDArray:
    r"""Gap of approximate LLC, (n,); infinite for weights outside the neighbours.

    On the neighbours it is :math:`\min \tfrac12 y^\top H y,\ \mathbf 1^\top y = 1` with
    :math:`H = C + \beta\,\mathrm{tr}(C) I`. Strong convexity turns the gradient along the
    constraint into a bound without solving again,
    :math:`P(y) - P^* \le \|Hy - \mu\mathbf 1\|^2 / 2\lambda_{\min}(H)`.
    """
    given = dense(codes)
    weights = np.take_along_axis(given, near.indices, axis=1).astype(np.float64)
    inside = np.count_nonzero(given, axis=1) == np.count_nonzero(weights, axis=1)
    allowed = inside & SumToOne().contains(weights, _tolerance(codes))
    weights[~allowed] = 0.0
    curvature, smallest = _local_curvature(near, gram, regularization)
    gradient = np.einsum("nij,nj->ni", curvature, weights)
    # The multiplier that leaves the smallest residual along the constraint is the mean.
    residual = gradient - gradient.mean(axis=1, keepdims=True)
    gap = 0.5 * (residual**2).sum(axis=1) / smallest
    return np.where(allowed, gap, np.inf)


def _local_curvature(
    near: Neighbours, gram: NDArray, regularization: float
) -> tuple[NDArray, NDArray]:
    """H of each sample, (n, m, m), and a lower bound of its eigenvalues, (n,)."""
    cross = near.cross.astype(np.float64)
    own = near.self_similarity.astype(np.float64)
    local = gram[near.indices[:, :, None], near.indices[:, None, :]].astype(np.float64)
    local = local - cross[:, :, None] - cross[:, None, :] + own[:, None, None]
    size = local.shape[1]
    scale = np.maximum(np.abs(own), np.abs(np.diag(gram)).max())
    # Kernel values are known to rounding only: no eigenvalue of C is better known than this.
    floor = 4 * size * np.finfo(gram.dtype).eps * scale
    trace = np.trace(local, axis1=1, axis2=2) if near.trace is None else near.trace
    trace = np.maximum(trace, 0.0)
    ridge = np.maximum(regularization * trace, floor)
    return local + ridge[:, None, None] * np.eye(size), ridge


def soft_assignment_optimum(cross: NDArray, atom_norms: NDArray, sigma: float) -> NDArray:
    """Soft weights by the formula, in double precision, (n, m)."""
    scores = 2.0 * cross.astype(np.float64) - atom_norms.astype(np.float64)
    return special.softmax(sigma * scores, axis=1)


def soft_assignment_gap(optimal: NDArray, codes: Codes, sigma: float) -> NDArray:
    r"""Gap of soft assignment as the entropy-regularised assignment it solves, (n,).

    Softmax weights minimise :math:`\tfrac12\sum_j y_j d_j^2 + \tfrac1{2\sigma}\sum_j y_j \log y_j`
    over the simplex; the gap is a Kullback-Leibler divergence over :math:`2\sigma`.
    """
    tolerance = _tolerance(codes)
    codes = dense(codes).astype(np.float64)
    safe = np.where(codes > 0, codes, 1.0)
    with np.errstate(divide="ignore"):
        ratio = np.where(codes > 0, np.log(safe) - np.log(optimal), 0.0)
    divergence = (codes * np.where(codes > 0, ratio, 0.0)).sum(axis=1)
    allowed = (codes.min(axis=1) >= 0) & (np.abs(codes.sum(axis=1) - 1.0) <= tolerance)
    return np.where(allowed, np.maximum(divergence, 0.0) / (2.0 * sigma), np.inf)


def _tolerance(codes: Codes) -> float:
    """How far from the constraint rounding may have left codes of this precision."""
    return 1e-8 if codes.dtype == np.float64 else 1e-4


@dataclass(frozen=True, slots=True)
class _DualPoint:
    """Codes whose residual is tried as dual point; they need not be feasible."""

    codes: NDArray  # (n, N)
    correlation: NDArray  # (n, N)  of atoms and residual
    multiplier: NDArray  # (n,)  of the sum constraint


def _dual_value(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, point: _DualPoint
) -> NDArray:
    """Dual objective at the best feasible multiple of a point, (n,): a lower bound on P.

    What cancellation leaves uncertain is subtracted: scaled up, it would not be small.
    """
    inner = problem.self_similarity - (problem.cross * point.codes).sum(axis=1)
    largest_norm = np.sqrt(np.maximum(np.diag(problem.gram).max(), 0.0))
    terms = np.sqrt(np.maximum(problem.self_similarity, 0.0))
    terms = terms + largest_norm * np.abs(point.codes).sum(axis=1)
    rounding = ROUNDING * terms**2
    slope = inner - point.multiplier - rounding
    energy = np.maximum(inner - (point.correlation * point.codes).sum(axis=1), 0.0) + rounding
    shifted = point.correlation - point.multiplier[:, None]
    slack = ROUNDING * (largest_norm * terms + np.abs(point.multiplier))
    shifted = np.sign(shifted) * np.maximum(np.abs(shifted) - slack[:, None], 0.0)
    gauge = penalty.gauge(shifted, one_sided=constraint.nonnegative)
    largest = np.divide(1.0, gauge, out=np.full_like(gauge, np.inf), where=gauge > 0)
    ideal = np.divide(slope, energy, out=np.ones_like(slope), where=energy > 0)
    scale = np.clip(ideal, 0.0, largest)
    return scale * slope - 0.5 * scale**2 * energy


def _dual_points(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    start: _DualPoint,
    unpenalised: NDArray,
) -> Iterator[_DualPoint]:
    r"""Points worth trying, the codes' own residual first.

    Scaling makes a residual feasible only where every atom has a penalty. Atoms without one allow
    no correlation at all (no positive one under :math:`y \ge 0`): there the codes are moved.
    """
    if constraint.nonnegative and constraint.sum_to_one:
        multiplier = _simplex_multiplier(penalty, start.correlation)
        yield _DualPoint(start.codes, start.correlation, multiplier)
    elif not unpenalised.any():
        multiplier = start.multiplier
        if constraint.sum_to_one:
            multiplier = _multiplier(penalty, start.codes, start.correlation)
        yield _DualPoint(start.codes, start.correlation, multiplier)
    else:
        yield _stationary(problem, penalty, constraint, start, unpenalised)
        if constraint.nonnegative:
            yield from _pushed_down(problem, penalty, start, unpenalised)


def _unpenalised(penalty: Penalty) -> NDArray:
    free = np.all(penalty.l1 == 0, axis=0)
    if penalty.groups is not None:
        free = free & (penalty.groups.weights[penalty.groups.labels] == 0)
    return free


def _stationary(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    start: _DualPoint,
    unpenalised: NDArray,
) -> _DualPoint:
    """The unpenalised coefficients moved until their correlations vanish (equal the multiplier)."""
    system = _curvature(problem, penalty, unpenalised)
    right = start.correlation[:, unpenalised]
    multiplier = start.multiplier
    if constraint.sum_to_one:
        centre = np.eye(len(system)) - 1.0 / len(system)
        solution = right @ linalg.pinvh(centre @ system @ centre)
        multiplier = (right - solution @ system).mean(axis=1)
    else:
        solution = right @ linalg.pinvh(system)
    move = np.zeros_like(start.codes)
    move[:, unpenalised] = solution
    correlation = start.correlation - move @ problem.gram - penalty.ridge * move
    return _DualPoint(start.codes + move, correlation, multiplier)


def _pushed_down(
    problem: CodingProblem, penalty: Penalty, start: _DualPoint, unpenalised: NDArray
) -> Iterator[_DualPoint]:
    r"""For :math:`y \ge 0`: a little of something added that resembles every unpenalised atom.

    All atoms together do for kernels without negative values; the shortest vector of equal
    similarity to the unpenalised atoms does wherever there is one.
    """
    shortest = np.zeros(problem.n_atoms)
    shortest[unpenalised] = linalg.pinvh(_curvature(problem, penalty, unpenalised)).sum(axis=1)
    for direction in (np.ones(problem.n_atoms), shortest):
        pull = direction @ problem.gram + penalty.ridge[0] * direction
        if np.all(pull[unpenalised] > 0):
            excess = start.correlation[:, unpenalised] / pull[unpenalised]
            amount = np.maximum(excess, 0.0).max(axis=1)[:, None]
            correlation = start.correlation - amount * pull
            yield _DualPoint(start.codes + amount * direction, correlation, start.multiplier)


def _curvature(problem: CodingProblem, penalty: Penalty, atoms: NDArray) -> NDArray:
    return problem.gram[np.ix_(atoms, atoms)] + np.diag(penalty.ridge[0, atoms])


def _multiplier(penalty: Penalty, codes: NDArray, correlation: NDArray) -> NDArray:
    """Multiplier of the sum constraint suggested by the codes; any number gives a valid bound."""
    if penalty.groups is None:
        # At the optimum some coefficient is positive, and its condition is an equality.
        return (correlation - penalty.l1).max(axis=1)
    norms = penalty.groups.norms(codes)
    inverse = np.divide(penalty.groups.weights, norms, out=np.zeros_like(norms), where=norms > 0)
    pull = penalty.l1 * np.sign(codes) + inverse[:, penalty.groups.labels] * codes
    weights = np.abs(codes)
    return ((correlation - pull) * weights).sum(axis=1) / np.maximum(
        weights.sum(axis=1), np.finfo(np.float64).tiny
    )


def _simplex_multiplier(penalty: Penalty, correlation: NDArray) -> NDArray:
    """The smallest multiplier that makes the residual feasible as it is, on the simplex."""
    above = correlation - penalty.l1
    if penalty.groups is None:
        return above.max(axis=1)
    labels, weights = penalty.groups.labels, penalty.groups.weights
    high = np.full((len(above), weights.size), -np.inf)
    np.maximum.at(high.T, labels, above.T)
    low = high - weights
    for _ in range(60):
        middle = 0.5 * (low + high)
        fits = penalty.groups.norms(np.maximum(above - middle[:, labels], 0.0)) <= weights
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return high.max(axis=1)


def _energy(problem: CodingProblem, codes: NDArray, correlation: NDArray) -> NDArray:
    """Squared residual whose correlations are given, (n,)."""
    return problem.self_similarity - (codes * (problem.cross + correlation)).sum(axis=1)


def _conjugate_gap(
    correlation: NDArray, penalty: Penalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Fenchel gap when every atom carries a ridge: the conjugate is finite, nothing is scaled."""
    multiplier = np.zeros(len(codes))
    if constraint.sum_to_one:
        multiplier = _conjugate_multiplier(correlation, penalty, constraint)
    above = _above(correlation - multiplier[:, None], penalty, constraint)
    conjugate = (0.5 * above**2 / penalty.ridge).sum(axis=1) + multiplier
    return penalty.value(codes) + conjugate - (correlation * codes).sum(axis=1)


def _above(shifted: NDArray, penalty: Penalty, constraint: Constraint) -> NDArray:
    """How far each correlation exceeds its l1 weight."""
    size = shifted if constraint.nonnegative else np.abs(shifted)
    return np.maximum(size - penalty.l1, 0.0)


def _conjugate_multiplier(
    correlation: NDArray, penalty: Penalty, constraint: Constraint
) -> NDArray:
    """The multiplier for which the dual's own codes sum to one, by bisection.

    Their sum falls with the multiplier, but neither convexly nor concavely: Newton's method could
    cycle.
    """
    reach = correlation - penalty.l1
    high = reach.max(axis=1)  # nothing above its weight: the sum is not positive
    low = (reach - penalty.ridge).max(axis=1)  # one coefficient is one, those above it positive
    if not constraint.nonnegative:
        low = np.minimum(low, (correlation + penalty.l1).min(axis=1))  # and none is negative
    for _ in range(60):
        middle = 0.5 * (low + high)
        shifted = correlation - middle[:, None]
        above = _above(shifted, penalty, constraint)
        enough = (np.sign(shifted) * above / penalty.ridge).sum(axis=1) >= 1.0
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low
