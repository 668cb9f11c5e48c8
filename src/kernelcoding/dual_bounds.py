r"""Lower bounds on the optimum that rounding cannot break: dual points with all their errors.

What is bounded is the optimum of *every* positive semidefinite problem :math:`(k_{xx}, k, K)`
whose entries differ from the stored ones by at most :math:`\eta` times the norms of the two
vectors (:attr:`GramFacts.precision <kernelcoding.gram.GramFacts>`) and whose equal atoms are
equal. The stored numbers are such a problem where they are positive semidefinite themselves (where
they are not, their quadratic has no minimum at all), and so is the true kernel.

Write :math:`r = \phi - \Phi z` for codes z, :math:`c = k - Kz`, and :math:`a_j` for norms of atoms.
With :math:`\ell = \|\phi\| + \sum_j |z_j| a_j`, no entry of c is wrong by more than
:math:`\eta a_j \ell` and no squared norm by more than :math:`\eta\ell^2`. A multiple of r is a dual
point as soon as its correlations are within the penalties: that can be checked with errors added.
Atoms *without* a penalty, F, allow no correlation at all, which no computed r fulfils. But
:math:`r' = r - \Phi_F K_{FF}^{-1} c_F` does, exactly, and need not be computed:

.. math:: \|r - r'\|^2 = c_F^\top K_{FF}^{-1} c_F \le e^2, \qquad
          |\langle r', \phi_j\rangle| \le |c_j| + e\,a_j, \qquad
          \langle r', \phi\rangle \ge \langle r, \phi\rangle - e\|\phi\|

where e comes from a lower bound on the eigenvalues of :math:`K_{FF}` in which all rounding is
accounted for. Where there is none, F is not known to be independent: directions that look like
rounding may explain the sample in truth, with huge coefficients, and zero is the only bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .constraints import Constraint
from .gram import GramFacts, Span
from .penalty import Penalty
from .problem import CodingProblem


@dataclass(frozen=True, slots=True)
class Joined:
    """A problem whose ridge has joined the quadratic: a few more coordinates of the residual."""

    problem: CodingProblem
    ridge: NDArray  # (1, N) or (n, N)
    norms: NDArray  # (1, N) or (n, N)  of atoms
    precision: float

    @classmethod
    def of(cls, problem: CodingProblem, ridge: NDArray) -> Joined:
        """The problem with these ridges."""
        squared = np.maximum(problem.squares, 0.0) + ridge
        return cls(problem, ridge, np.sqrt(squared), problem.facts.precision)

    def correlation(self, codes: NDArray) -> NDArray:
        """Inner products of atoms and residuals, (n, N)."""
        return self.problem.correlation(codes) - self.ridge * codes

    def size(self, codes: NDArray) -> NDArray:
        """Sum of the norms of what the residual is made of, (n,)."""
        own = np.sqrt(np.maximum(self.problem.self_similarity, 0.0))
        return own + (np.abs(codes) * self.norms).sum(axis=1)

    def rounding(self, codes: NDArray) -> NDArray:
        """What the squared residual may be wrong by, (n,)."""
        return self.precision * self.size(codes) ** 2

    def slack(self, codes: NDArray) -> NDArray:
        """What correlations may be wrong by, (n, N)."""
        return self.precision * self.norms * self.size(codes)[:, None]

    def squared_residual(self, codes: NDArray, correlation: NDArray) -> NDArray:
        """Squared residual whose correlations are given, (n,)."""
        problem = self.problem
        return problem.self_similarity - (codes * (problem.cross + correlation)).sum(axis=1)


@dataclass(frozen=True, slots=True)
class DualPoint:
    """Codes near whose residual a dual point lies; they need not be feasible."""

    codes: NDArray  # (n, N)
    correlation: NDArray  # (n, N)  of atoms and residual
    multiplier: NDArray  # (n,)  of the sum constraint
    deviation: NDArray  # (n,)  e: how far the dual point may be from the residual
    exact: NDArray  # (N,)  atoms whose condition the dual point fulfils exactly
    known: NDArray  # (n,)  whether the point exists
    shift: float = 0.0  # square of the coordinate that stands for the sum constraint

    @classmethod
    def at(cls, codes: NDArray, correlation: NDArray) -> DualPoint:
        """The residual itself."""
        n, n_atoms = codes.shape
        nothing = np.zeros(n_atoms, dtype=bool)
        return cls(codes, correlation, np.zeros(n), np.zeros(n), nothing, np.ones(n, dtype=bool))


def lower_bound(
    joined: Joined, penalty: Penalty, constraint: Constraint, codes: NDArray, correlation: NDArray
) -> NDArray:
    """Lower bound on the optimum of each row from codes and their correlations, (n,)."""
    best = np.zeros(len(codes))  # no objective is negative
    for point in _dual_points(joined, penalty, constraint, DualPoint.at(codes, correlation)):
        best = np.maximum(best, _dual_value(joined, penalty, constraint, point))
    return best


def unpenalised(penalty: Penalty) -> NDArray:
    """Atoms without l1 and group penalty, (N,) booleans."""
    free = np.all(penalty.l1 == 0, axis=0)
    if penalty.groups is not None:
        free = free & (penalty.groups.weights[penalty.groups.labels] == 0)
    return free


def _dual_value(
    joined: Joined, penalty: Penalty, constraint: Constraint, point: DualPoint
) -> NDArray:
    """Dual objective at the best feasible multiple of a point, (n,), rounding against it."""
    problem, codes, multiplier = joined.problem, point.codes, point.multiplier
    deviation, away = point.deviation, point.deviation[:, None]
    root = np.sqrt(point.shift)
    rounding = joined.rounding(codes)
    energy = joined.squared_residual(codes, point.correlation)
    inner = problem.self_similarity - (problem.cross * codes).sum(axis=1)
    own = np.sqrt(np.maximum(problem.self_similarity, 0.0))
    slope = inner - rounding - deviation * (own + root)
    slope = slope - multiplier - joined.precision * np.abs(multiplier)
    if not constraint.sum_to_one:
        # The sample less the exact atoms has the same inner product: an error of second order.
        others = np.where(point.exact, 0.0, codes)
        second = energy - 2.0 * rounding - deviation**2 + (others * point.correlation).sum(axis=1)
        second -= deviation * (np.abs(others) * joined.norms).sum(axis=1)
        slope = np.maximum(slope, second)
    slack = joined.slack(codes) + away * (joined.norms + root)
    if constraint.nonnegative:
        shifted = (point.correlation + slack) - multiplier[:, None]
    else:
        shifted = np.abs(point.correlation - multiplier[:, None]) + slack
    gauge = penalty.gauge(np.where(point.exact, 0.0, shifted), one_sided=constraint.nonnegative)
    largest = np.divide(1.0, gauge, out=np.full_like(gauge, np.inf), where=gauge > 0)
    energy = np.maximum(energy, 0.0) + rounding
    ideal = np.divide(slope, energy, out=np.ones_like(slope), where=energy > 0)
    scale = np.clip(ideal, 0.0, largest)
    return np.where(point.known, scale * slope - 0.5 * scale**2 * energy, 0.0)


def _dual_points(
    joined: Joined, penalty: Penalty, constraint: Constraint, start: DualPoint
) -> Iterator[DualPoint]:
    r"""Points worth trying, the codes' own residual first.

    Scaling makes a residual feasible only where every atom has a penalty. Atoms without one allow
    no correlation at all (no positive one under :math:`y \ge 0`): there the codes are moved.
    """
    free = unpenalised(penalty)
    if constraint.nonnegative and constraint.sum_to_one:
        above = start.correlation + joined.slack(start.codes) - penalty.l1
        yield replace(start, multiplier=_simplex_multiplier(penalty, above))
    elif not free.any():
        if constraint.sum_to_one:
            multiplier = _multiplier(penalty, start.codes, start.correlation)
            start = replace(start, multiplier=multiplier)
        yield start
    elif not joined.problem.can_be_whole:
        return  # whether atoms are independent only their whole Gram matrix tells
    elif joined.ridge.shape[0] == 1 or not np.any(np.ptp(joined.ridge, axis=0)):
        yield from _stationary(joined, start, free, constraint.sum_to_one)
        if constraint.sum_to_one:  # opposite atoms make any sum for nothing: the multiplier is zero
            yield from _stationary(joined, start, free, False)
        if constraint.nonnegative:
            yield from _pushed_down(joined, start, free)


def _span(joined: Joined, atoms: NDArray, sum_to_one: bool) -> Span:
    """What is certain of the independence of some atoms; their dictionary may know."""
    facts = joined.problem.facts
    if atoms.all() and not joined.ridge.any():
        return facts.affine_span if sum_to_one else facts.span
    system = joined.problem.gram[np.ix_(atoms, atoms)] + np.diag(joined.ridge[0, atoms])
    return Span(system + (facts.affine_shift if sum_to_one else 0.0), joined.precision)


def _stationary(
    joined: Joined, start: DualPoint, atoms: NDArray, sum_to_one: bool
) -> Iterator[DualPoint]:
    """The codes of some atoms moved until their correlations vanish (equal the multiplier)."""
    span = _span(joined, atoms, sum_to_one)
    if not span.smallest > 0:
        return
    shift = joined.problem.facts.affine_shift if sum_to_one else 0.0
    chosen = np.flatnonzero(atoms)[span.atoms]
    codes, correlation = start.codes.copy(), start.correlation
    multiplier = np.zeros(len(codes))
    along = span.solve(np.ones((1, chosen.size)))
    for _ in range(3):  # the second and third take off the rounding errors of the first
        move = span.solve(correlation[:, chosen])
        if sum_to_one:  # the sum of the codes stays
            multiplier = move.sum(axis=1) / along.sum()
            move -= multiplier[:, None] * along
        codes[:, chosen] += move
        correlation = joined.correlation(codes)
    size = np.abs(correlation[:, chosen] - multiplier[:, None])
    size += joined.slack(codes)[:, chosen] + joined.precision * np.abs(multiplier)[:, None]
    deviation = np.sqrt(span.energy(size))
    known = span.agrees(joined.problem.cross[:, atoms])
    yield DualPoint(codes, correlation, multiplier, deviation, atoms, known, shift)


def _pushed_down(joined: Joined, start: DualPoint, atoms: NDArray) -> Iterator[DualPoint]:
    r"""For :math:`y \ge 0`: a little of something added that resembles every unpenalised atom.

    All atoms together do for kernels without negative values; the shortest vector of equal
    similarity to the unpenalised atoms does wherever there is one. Atoms whose opposite is in the
    dictionary have no sign: their correlations must vanish.
    """
    system = joined.problem.gram + np.diag(joined.ridge[0])
    both_signs = _with_opposite(system, atoms)
    one_sided = atoms & ~both_signs & (joined.norms[0] > 0)
    shortest = np.zeros(len(system))
    inner = GramFacts(system[np.ix_(one_sided, one_sided)])
    if one_sided.any():
        shortest[one_sided] = inner.solve(np.ones((1, len(inner.gram))))[0]
    for direction in (np.ones(len(system)), shortest):
        if both_signs.any():
            span = _span(joined, both_signs, False)
            if not span.smallest > 0:
                return
            chosen = np.flatnonzero(both_signs)[span.atoms]
            direction[both_signs] = 0.0
            direction[chosen] = -span.solve((direction @ system)[None, chosen])[0]
        pull = direction @ system
        if not np.all(pull[one_sided] > 0):
            continue
        point = start
        for _ in range(2):  # what is added has rounding errors, too
            for moved in _stationary(joined, point, both_signs, False) if both_signs.any() else ():
                point = moved
            slack = joined.slack(point.codes) + point.deviation[:, None] * joined.norms
            excess = (point.correlation + 1.5 * slack)[:, one_sided] / pull[one_sided]
            amount = np.maximum(excess, 0.0).max(axis=1, initial=0.0)[:, None]
            codes = point.codes + amount * direction
            point = replace(point, codes=codes, correlation=joined.correlation(codes))
        yield point


def _with_opposite(system: NDArray, atoms: NDArray) -> NDArray:
    """Which of the atoms have their opposite among them, (N,) booleans."""
    chosen = np.flatnonzero(atoms)
    span = Span(system[np.ix_(chosen, chosen)], 0.0)
    found = np.zeros(len(system), dtype=bool)
    opposed = np.isin(span.partner, span.partner[span.sign < 0])
    found[chosen[opposed]] = True
    return found


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


def _simplex_multiplier(penalty: Penalty, above: NDArray) -> NDArray:
    """The smallest multiplier that makes the residual feasible as it is, on the simplex.

    ``above`` is how far correlations exceed the l1 weights.
    """
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
