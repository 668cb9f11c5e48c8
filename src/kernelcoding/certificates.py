r"""The judge: upper bounds on how far a code is from optimal.

Solvers do not mark their own work. Everything here is computed in double precision at the codes
that are handed in, whoever made them, and each number is an upper bound on
:math:`P(y) - \min_{C} P`.

Write :math:`P(y) = \tfrac12\|\phi - \Phi y\|^2 + p(y)`, :math:`v = k - Ky`, and take the dual
point :math:`u = s(\phi - \Phi y)`. Then weak duality gives, for every multiplier :math:`\mu` of
:math:`\mathbf 1^\top y = 1` (zero without that constraint),

.. math:: P(y) - P^* \le P(y) - s\,(\langle u_1, \phi\rangle - \mu) + \tfrac{s^2}{2}\|u_1\|^2
          \quad\text{as soon as } s(v - \mu) \in \partial p(0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .constraints import AtMost, Constraint, OneAtom, SumToOne
from .dictionary import Neighbours
from .formulation import Formulation
from .penalty import Penalty
from .priors import Prior
from .problem import Codes, CodingProblem

# Violations below this fraction of the data's scale are rounding, not disagreement.
ROUNDING = 64 * np.finfo(np.float64).eps


def certify(problem: CodingProblem, formulation: Formulation, codes: Codes) -> NDArray:
    """Upper bound on how far each code is from optimal, (n,); infinite outside the constraint.

    For a prior of the user's own, whose dual is unknown, it is the fixed-point residual instead:
    zero exactly at the optimum, but not a bound in units of the objective.
    """
    tolerance = 1e-8 if codes.dtype == np.float64 else 1e-4
    problem = problem.astype(np.float64)
    dense = codes if isinstance(codes, np.ndarray) else codes.toarray()
    allowed = formulation.constraint.contains(dense, tolerance)
    finite = np.where(np.isfinite(dense), dense, 0.0).astype(np.float64)
    if isinstance(formulation.constraint, OneAtom):
        gap = assignment_gap(problem, formulation, finite)
    elif isinstance(formulation.constraint, AtMost):
        gap = support_gap(problem, formulation, finite)
    elif not isinstance(formulation.prior, Prior):
        return np.where(allowed, fixed_point_residual(problem, formulation, finite), np.inf)
    else:
        penalty = formulation.penalty(problem)
        gap = duality_gap(problem, penalty, formulation.constraint, finite)
    return np.where(allowed, np.maximum(gap, 0.0), np.inf)


def duality_gap(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Duality gap of each row for a convex pair, (n,)."""
    correlation = problem.correlation(codes)
    if penalty.groups is None and np.all(penalty.ridge > 0):
        return _conjugate_gap(correlation, penalty, constraint, codes)
    gap = _scaled_gap(problem, penalty, constraint, codes, correlation)
    if constraint.nonnegative and not constraint.sum_to_one and penalty.groups is None:
        gap = np.minimum(gap, _shifted_gap(problem, penalty, codes, correlation))
    return gap


def assignment_gap(problem: CodingProblem, formulation: Formulation, codes: NDArray) -> NDArray:
    """Objective above the best single atom, by looking at all of them, (n,)."""
    return formulation.objective(problem, codes) - single_atom_objectives(problem, formulation).min(
        axis=1
    )


def single_atom_objectives(problem: CodingProblem, formulation: Formulation) -> NDArray:
    """Objective of coding each sample by each atom alone, with weight one, (n, N)."""
    if isinstance(formulation.prior, Prior):
        prior = formulation.penalty(problem).of_single_atoms()
    else:
        prior = formulation.alpha * np.asarray(formulation.prior.value(np.eye(problem.n_atoms)))
    return 0.5 * problem.squared_distances() + prior


def support_gap(problem: CodingProblem, formulation: Formulation, codes: NDArray) -> NDArray:
    """Objective above that of unlimited support: the best support is not known, a bound is."""
    unlimited = problem.cross @ linalg.pinvh(problem.gram)
    return formulation.objective(problem, codes) - formulation.objective(problem, unlimited)


def fixed_point_residual(
    problem: CodingProblem, formulation: Formulation, codes: NDArray
) -> NDArray:
    """Largest change a proximal gradient step makes, in units of the gradient, (n,)."""
    lipschitz = largest_eigenvalue(problem.gram)
    step = 1.0 / lipschitz
    stepped = formulation.prox(codes + step * problem.correlation(codes), step)
    return lipschitz * np.abs(stepped - codes).max(axis=1)


def largest_eigenvalue(gram: NDArray) -> float:
    """Lipschitz constant of the gradient (a positive number even for a zero matrix)."""
    n_atoms = gram.shape[0]
    top = linalg.eigvalsh(gram, subset_by_index=[n_atoms - 1, n_atoms - 1])[0]
    return max(float(top), np.finfo(np.float64).tiny)


def local_gap(near: Neighbours, gram: NDArray, regularization: float, codes: NDArray) -> NDArray:
    r"""Gap of approximate LLC, (n,); infinite for weights outside the neighbours.

    On the neighbours it is :math:`\min \tfrac12 y^\top H y,\ \mathbf 1^\top y = 1` with
    :math:`H = C + \beta\,\mathrm{tr}(C) I`. Strong convexity turns the gradient along the
    constraint into a bound without solving again,
    :math:`P(y) - P^* \le \|Hy - \mu\mathbf 1\|^2 / 2\lambda_{\min}(H)`.
    """
    tolerance = 1e-8 if codes.dtype == np.float64 else 1e-4
    weights = np.take_along_axis(codes, near.indices, axis=1).astype(np.float64)
    curvature, smallest = _local_curvature(near, gram, regularization)
    gradient = np.einsum("nij,nj->ni", curvature, weights)
    # The multiplier that leaves the smallest residual along the constraint is the mean.
    residual = gradient - gradient.mean(axis=1, keepdims=True)
    gap = 0.5 * (residual**2).sum(axis=1) / smallest
    inside = np.count_nonzero(codes, axis=1) == np.count_nonzero(weights, axis=1)
    allowed = inside & SumToOne().contains(weights, tolerance)
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
    trace = np.maximum(np.trace(local, axis1=1, axis2=2), 0.0)
    ridge = np.maximum(regularization * trace, floor)
    return local + ridge[:, None, None] * np.eye(size), ridge


def soft_assignment_gap(optimal: NDArray, codes: NDArray, sigma: float) -> NDArray:
    r"""Gap of soft assignment as the entropy-regularised assignment it solves, (n,).

    Softmax weights minimise :math:`\tfrac12\sum_j y_j d_j^2 + \tfrac1{2\sigma}\sum_j y_j \log y_j`
    over the simplex; the gap is a Kullback-Leibler divergence over :math:`2\sigma`.
    """
    tolerance = 1e-8 if codes.dtype == np.float64 else 1e-4
    codes = codes.astype(np.float64)
    safe = np.where(codes > 0, codes, 1.0)
    with np.errstate(divide="ignore"):
        ratio = np.where(codes > 0, np.log(safe) - np.log(optimal), 0.0)
    divergence = (codes * np.where(codes > 0, ratio, 0.0)).sum(axis=1)
    allowed = (codes.min(axis=1) >= 0) & (np.abs(codes.sum(axis=1) - 1.0) <= tolerance)
    return np.where(allowed, np.maximum(divergence, 0.0) / (2.0 * sigma), np.inf)


def _scaled_gap(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    codes: NDArray,
    correlation: NDArray,
) -> NDArray:
    """Gap with the residual scaled into the dual feasible set; the ridge joins the quadratic."""
    primal = 0.5 * _energy(problem, penalty, codes, correlation) + _norms(penalty).value(codes)
    dual_codes, correlation, multiplier = _dual_point(
        problem, penalty, constraint, codes, correlation - penalty.ridge * codes
    )
    inner = problem.self_similarity - (problem.cross * dual_codes).sum(axis=1)
    energy = inner - (correlation * dual_codes).sum(axis=1)
    shifted = correlation - multiplier[:, None]
    slack = ROUNDING * (np.abs(problem.cross).max(axis=1) + np.abs(multiplier))
    shifted = np.sign(shifted) * np.maximum(np.abs(shifted) - slack[:, None], 0.0)
    gauge = penalty.gauge(shifted, one_sided=constraint.nonnegative)
    largest = np.divide(1.0, gauge, out=np.full_like(gauge, np.inf), where=gauge > 0)
    slope = inner - multiplier
    ideal = np.divide(slope, energy, out=np.ones_like(slope), where=energy > 0)
    scale = np.clip(ideal, 0.0, largest)
    return primal - scale * slope + 0.5 * scale**2 * np.maximum(energy, 0.0)


def _dual_point(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    codes: NDArray,
    correlation: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:
    """Codes whose residual is tried as dual point, their correlation, and the multiplier.

    Atoms that no term of the penalty prices admit no slack in the dual: there the codes are moved
    to exact stationarity first (they need not be feasible, only their residual is used).
    """
    if not constraint.nonnegative:
        unpriced = _unpriced(penalty)
        if unpriced.any():
            move, multiplier = _stationary_move(problem, penalty, constraint, correlation, unpriced)
            correlation = correlation - move @ problem.gram - penalty.ridge * move
            codes = codes + move
            if unpriced.all():
                return codes, correlation, multiplier
    multiplier = np.zeros(len(codes))
    if constraint.sum_to_one:
        multiplier = _multiplier(penalty, codes, correlation)
    return codes, correlation, multiplier


def _unpriced(penalty: Penalty) -> NDArray:
    free = np.all(penalty.l1 == 0, axis=0)
    if penalty.groups is not None:
        free = free & (penalty.groups.weights[penalty.groups.labels] == 0)
    return free


def _stationary_move(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    correlation: NDArray,
    unpriced: NDArray,
) -> tuple[NDArray, NDArray]:
    """Move of the unpriced coefficients that zeroes their correlation (up to the multiplier)."""
    size = int(unpriced.sum())
    system = problem.gram[np.ix_(unpriced, unpriced)] + np.diag(penalty.ridge[0, unpriced])
    right = correlation[:, unpriced]
    if constraint.sum_to_one:
        ones = np.ones((size, 1))
        system = np.block([[system, ones], [ones.T, np.zeros((1, 1))]])
        right = np.hstack([right, np.zeros((len(right), 1))])
    solution = right @ linalg.pinvh(system)
    move = np.zeros_like(correlation)
    move[:, unpriced] = solution[:, :size]
    multiplier = solution[:, size] if constraint.sum_to_one else np.zeros(len(right))
    return move, multiplier


def _multiplier(penalty: Penalty, codes: NDArray, correlation: NDArray) -> NDArray:
    """Multiplier of the sum constraint suggested by the codes; any number gives a valid bound."""
    if penalty.groups is None:
        # At the optimum some coefficient is positive, and its condition is an equality.
        return (correlation - penalty.l1).max(axis=1)
    norms = penalty.groups.norms(codes)
    inverse = np.divide(penalty.groups.weights, norms, out=np.zeros_like(norms), where=norms > 0)
    pull = penalty.l1 * np.sign(codes) + inverse[:, penalty.groups.labels] * codes
    weights = np.abs(codes)
    return ((correlation - pull) * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-300)


def _norms(penalty: Penalty) -> Penalty:
    return Penalty(penalty.l1, np.zeros_like(penalty.ridge), penalty.groups)


def _energy(
    problem: CodingProblem, penalty: Penalty, codes: NDArray, correlation: NDArray
) -> NDArray:
    """Squared residual plus the ridge term, (n,)."""
    inner = problem.cross + correlation - penalty.ridge * codes
    return problem.self_similarity - (codes * inner).sum(axis=1)


def _shifted_gap(
    problem: CodingProblem, penalty: Penalty, codes: NDArray, correlation: NDArray
) -> NDArray:
    r"""Gap for :math:`y \ge 0` with a dual point made feasible by adding a little of every atom.

    Works whenever each atom has a positive total similarity to the others (always for Gaussian
    kernels), also where the penalty has no weight and scaling cannot help.
    """
    row_totals = problem.gram.sum(axis=1) + penalty.ridge
    if np.any(row_totals <= 0):
        return np.full(len(codes), np.inf)
    primal = 0.5 * _energy(problem, penalty, codes, correlation) + _norms(penalty).value(codes)
    excess = correlation - penalty.ridge * codes - penalty.l1
    amount = np.maximum(excess / row_totals, 0.0).max(axis=1)
    smooth = problem.cross - correlation + penalty.ridge * codes  # (K + Q) y
    norm = (
        (codes * smooth).sum(axis=1)
        + 2.0 * amount * smooth.sum(axis=1)
        + amount**2 * row_totals.sum(axis=1)
    )
    return primal - 0.5 * (problem.self_similarity - norm)


def _conjugate_gap(
    correlation: NDArray, penalty: Penalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Fenchel gap when every atom carries a ridge: the conjugate is finite, nothing is scaled."""
    multiplier = np.zeros(len(codes))
    if constraint.sum_to_one:
        multiplier = _conjugate_multiplier(correlation, penalty, constraint, codes)
    above = _above(correlation - multiplier[:, None], penalty, constraint)
    conjugate = (0.5 * above**2 / penalty.ridge).sum(axis=1) + multiplier
    return penalty.value(codes) + conjugate - (correlation * codes).sum(axis=1)


def _above(shifted: NDArray, penalty: Penalty, constraint: Constraint) -> NDArray:
    """How far each correlation exceeds the l1 price."""
    size = shifted if constraint.nonnegative else np.abs(shifted)
    return np.maximum(size - penalty.l1, 0.0)


def _conjugate_multiplier(
    correlation: NDArray, penalty: Penalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Newton's method on the piecewise linear condition that the dual's own codes sum to one."""
    price = penalty.l1 * np.sign(codes) + penalty.ridge * codes
    weights = np.abs(codes)
    multiplier = ((correlation - price) * weights).sum(axis=1) / np.maximum(
        weights.sum(axis=1), np.finfo(np.float64).tiny
    )
    for _ in range(50):
        shifted = correlation - multiplier[:, None]
        above = _above(shifted, penalty, constraint)
        total = (np.sign(shifted) * above / penalty.ridge).sum(axis=1)
        slope = ((above > 0) / penalty.ridge).sum(axis=1)
        # Where nothing is above its price the multiplier is too high: go to the first that is.
        lower = (correlation - penalty.l1 - penalty.ridge).max(axis=1) - multiplier
        step = np.divide(total - 1.0, slope, out=lower, where=slope > 0)
        multiplier = multiplier + step
        if np.all(np.abs(step) <= ROUNDING * (1.0 + np.abs(multiplier))):
            break
    return multiplier
