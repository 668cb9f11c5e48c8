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
near the optimum the best are near the codes. No objective is negative, so P(y) itself is always a
bound, and the only one where the Gram matrix cannot tell whether atoms are independent and nothing
holds their coefficients back. :mod:`~kernelcoding.dual_bounds` says for which problems, beside that
of the stored numbers, all this holds; what rounding may have done is added to every certificate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from .codes import Codes, dense
from .constraints import AtMost, Constraint, Free, OneAtom, SumToOne
from .dual_bounds import Joined, lower_bound, unpenalised
from .penalty import AnyPenalty, CustomPenalty, Penalty, constrained_prox
from .problem import CodingProblem, Neighbours


def certify(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, codes: Codes
) -> NDArray:
    """Upper bound on how far each code is from optimal, (n,); infinite outside the constraint.

    For a prior of the user's own, whose dual is unknown, it is the fixed-point residual instead:
    zero exactly at the optimum, but not a bound in units of the objective. Where such codes must
    not be negative, nothing is known: infinity.
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
        if constraint.nonnegative:
            return np.full(len(given), np.inf)
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
    joined = Joined.of(problem, penalty.ridge)
    plain = problem.correlation(codes)
    correlation = plain - penalty.ridge * codes
    norms = Penalty(penalty.l1, np.zeros_like(penalty.ridge), penalty.groups)
    squared = np.maximum(joined.squared_residual(codes, correlation), 0.0)
    primal = 0.5 * squared + norms.value(codes) + joined.rounding(codes)
    gap = primal  # no objective is negative
    if penalty.groups is None and np.all(penalty.ridge > 0):
        slack = Joined.of(problem, np.zeros((1, 1))).slack(codes)
        gap = np.minimum(gap, _conjugate_gap(plain, slack, penalty, constraint, codes))
        if unpenalised(penalty).any():
            return gap
    return np.minimum(gap, primal - lower_bound(joined, penalty, constraint, codes, correlation))


def assignment_gap(problem: CodingProblem, penalty: AnyPenalty, codes: NDArray) -> NDArray:
    """Objective above the best single atom, by looking at all of them, (n,)."""
    squares = problem.squares.astype(np.float64)
    slack = 0.5 * distance_slack(problem.self_similarity, squares, problem.facts.precision)
    best = (single_atom_objectives(problem, penalty) - slack).min(axis=1)
    return objective(problem, penalty, codes) + (slack * codes).sum(axis=1) - best


def single_atom_objectives(problem: CodingProblem, penalty: AnyPenalty) -> NDArray:
    """Objective of coding each sample by each atom alone, with weight one, (n, N)."""
    return 0.5 * problem.single_atom_errors() + penalty.of_single_atoms(problem.n_atoms)


def support_gap(problem: CodingProblem, penalty: AnyPenalty, codes: NDArray) -> NDArray:
    """Objective above that of unlimited support: the best support is not known, a bound is."""
    assert isinstance(penalty, Penalty)  # greedy coding takes no prior
    return duality_gap(problem, penalty, Free(), codes)


def fixed_point_residual(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, codes: NDArray
) -> NDArray:
    """Largest change a proximal gradient step makes, in units of the gradient, (n,)."""
    lipschitz = problem.facts.lipschitz
    step = 1.0 / lipschitz
    points = codes + step * problem.correlation(codes)
    stepped = constrained_prox(penalty, points, step, constraint.sum_to_one)
    return lipschitz * np.abs(stepped - codes).max(axis=1)


def local_gap(
    near: Neighbours, problem: CodingProblem, regularization: float, codes: Codes
) -> NDArray:
    r"""Gap of approximate LLC, (n,); infinite for weights outside the neighbours.

    On the neighbours it is :math:`\min \tfrac12 y^\top H y,\ \mathbf 1^\top y = 1` with
    :math:`H = C + \beta\,\mathrm{tr}(C) I`. Let B be an orthonormal basis of the directions that
    leave the sum alone. Strong convexity turns the gradient along them into a bound without
    solving again, :math:`P(y) - P^* \le \|B^\top Hy\|^2 / 2\lambda_{\min}(B^\top H B)`. Where
    rounding may hide all curvature, P(y) itself is the bound.
    """
    given = dense(codes)
    weights = np.take_along_axis(given, near.indices, axis=1).astype(np.float64)
    inside = np.count_nonzero(given, axis=1) == np.count_nonzero(weights, axis=1)
    allowed = inside & SumToOne().contains(weights, _tolerance(codes))
    weights[~allowed] = 0.0
    centred, sizes = _centred_gram(near, problem)
    trace = np.trace(centred, axis1=1, axis2=2) if near.trace is None else near.trace
    ridge = regularization * np.maximum(trace, 0.0)
    basis = linalg.helmert(centred.shape[1])
    gradient = np.einsum("nij,nj->ni", centred, weights) + ridge[:, None] * weights
    lowest = np.linalg.eigvalsh(basis @ centred @ basis.T).min(axis=1, initial=np.inf)
    # No entry of C is wrong by more than the precision times two sizes.
    unsure = problem.facts.precision * (sizes**2).sum(axis=1)
    reach = (sizes * np.abs(weights)).sum(axis=1, keepdims=True)
    error = problem.facts.precision * sizes * reach
    error += regularization * unsure[:, None] * np.abs(weights)
    slope = np.linalg.norm(gradient @ basis.T, axis=1) + np.linalg.norm(error, axis=1)
    curvature = lowest + ridge - (1.0 + regularization) * unsure
    gap = np.divide(0.5 * slope**2, curvature, out=np.full_like(slope, np.inf), where=curvature > 0)
    value = np.maximum(0.5 * (weights * gradient + np.abs(weights) * error).sum(axis=1), 0.0)
    off = np.abs(weights.sum(axis=1) - 1.0)  # the optimum grows with the square of the sum
    return np.where(allowed, np.minimum(gap + (2.0 + off) * off * value, value), np.inf)


def _centred_gram(near: Neighbours, problem: CodingProblem) -> tuple[NDArray, NDArray]:
    """C of each sample, (n, m, m), and of what its differences are made: sums of norms, (n, m)."""
    cross = near.cross.astype(np.float64)
    own = near.self_similarity.astype(np.float64)
    local = np.empty((*near.indices.shape, near.indices.shape[1]))
    for rows, places, gram in problem.parts(near.indices):
        local[rows] = gram[places[:, :, None], places[:, None, :]]
    norms = np.sqrt(np.maximum(np.diagonal(local, axis1=1, axis2=2), 0.0))
    sizes = np.sqrt(np.maximum(own, 0.0))[:, None] + norms
    return local - cross[:, :, None] - cross[:, None, :] + own[:, None, None], sizes


def distance_slack(own: NDArray, squares: NDArray, precision: float) -> NDArray:
    """What squared distances of samples and atoms may be wrong by, (n, m)."""
    own = np.sqrt(np.maximum(own.astype(np.float64), 0.0))
    return precision * (own[:, None] + np.sqrt(np.maximum(squares, 0.0))) ** 2


def soft_assignment_optimum(cross: NDArray, atom_norms: NDArray, sigma: float) -> NDArray:
    """Logarithms of soft weights by the formula, in double precision, (n, m)."""
    scores = 2.0 * cross.astype(np.float64) - atom_norms.astype(np.float64)
    return special.log_softmax(sigma * scores, axis=1)


def soft_assignment_gap(
    optimal: NDArray, codes: Codes, sigma: float, slack: NDArray | float = 0.0
) -> NDArray:
    r"""Gap of soft assignment as the entropy-regularised assignment it solves, (n,).

    Softmax weights minimise :math:`\tfrac12\sum_j y_j d_j^2 + \tfrac1{2\sigma}\sum_j y_j \log y_j`
    over the simplex; the gap is a Kullback-Leibler divergence over :math:`2\sigma`.

    Parameters
    ----------
    optimal : array of shape (n, N)
        Logarithms of the best weights; minus infinity for an atom that must have none.
    codes : array or CSR array of shape (n, N)
    sigma : float
    slack : array of shape (n, N), default=0.0
        What squared distances may be wrong by.
    """
    tolerance = _tolerance(codes)
    codes = dense(codes).astype(np.float64)
    safe = np.where(codes > 0, codes, 1.0)
    ratio = np.where(codes > 0, np.log(safe) - optimal, 0.0)
    divergence = np.maximum((codes * ratio).sum(axis=1), 0.0)
    # At worst the atoms in use are farther than they seem, and all that the optimum weighs nearer.
    divergence += sigma * (codes * slack).sum(axis=1)
    divergence += special.logsumexp(optimal + sigma * slack, axis=1)
    allowed = (codes.min(axis=1) >= 0) & (np.abs(codes.sum(axis=1) - 1.0) <= tolerance)
    return np.where(allowed, np.maximum(divergence, 0.0) / (2.0 * sigma), np.inf)


def _tolerance(codes: Codes) -> float:
    """How far from the constraint rounding may have left codes of this precision."""
    return 1e-8 if codes.dtype == np.float64 else 1e-4


def _conjugate_gap(
    correlation: NDArray,
    slack: NDArray,
    penalty: Penalty,
    constraint: Constraint,
    codes: NDArray,
) -> NDArray:
    """Fenchel gap when every atom carries a ridge: the conjugate is finite, nothing is scaled.

    ``slack`` is what correlations may be wrong by.
    """
    multiplier = np.zeros(len(codes))
    if constraint.sum_to_one:
        multiplier = _conjugate_multiplier(correlation, penalty, constraint)
    above = _above(correlation - multiplier[:, None], penalty, constraint, slack)
    conjugate = (0.5 * above**2 / penalty.ridge).sum(axis=1)
    value, size = penalty.value(codes), np.abs(codes)
    products = ((np.abs(correlation) + slack) * size).sum(axis=1)
    rounding = len(codes.T) * np.finfo(np.float64).eps * (value + conjugate + products)
    rounding += 4 * np.finfo(np.float64).eps * np.abs(multiplier) + (slack * size).sum(axis=1)
    return value + conjugate + multiplier - (correlation * codes).sum(axis=1) + rounding


def _above(
    shifted: NDArray, penalty: Penalty, constraint: Constraint, slack: NDArray | float = 0.0
) -> NDArray:
    """How far each correlation exceeds its l1 weight, at most."""
    size = shifted if constraint.nonnegative else np.abs(shifted)
    return np.maximum(size + slack - penalty.l1, 0.0)


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
