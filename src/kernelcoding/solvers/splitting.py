r"""Alternating directions for a prior of the user's own under a constraint.

.. math:: \min\ \tfrac12 x^\top K x - k^\top x + \alpha\,r(z) + \iota_{\ge 0}(w)
          \quad\text{with } x = z = w,\ \mathbf 1^\top x = 1 \text{ where asked for}

The quadratic is minimised exactly, in the eigenvectors of K; the prior is asked for one proximal
map per step, where the proximal map of prior and constraint together would take many. Every row
stops, and weighs its two residuals against each other, on its own: weights are powers of two, and
rows of equal weight are worked on together, as a prior's map takes one number for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codes import dense
from ..constraints import Constraint
from ..penalty import AnyPenalty, constrained_prox
from ..problem import CodingProblem
from .result import CodingResult, Options

BALANCED = 10.0  # one residual may be this many times the other
LOOKS = 10  # steps between looks at them
SETTLED = 2000  # steps after which weights stay, so that the method converges
AGREED = 1e-3  # part of the tolerance by which objectives of the copies of a code may differ
FIRST = 0.1  # part of the tolerance at which codes are looked at: few steps more, a digit more
TIGHTER = 0.3  # part of the tolerance where codes that met it were not good enough
ROUNDING = 1e-13  # of the numbers of a problem: residuals never get much smaller


@dataclass
class Rows:
    """Where some rows stand."""

    index: NDArray  # (m,) in the problem
    cross: NDArray  # (m, N)
    targets: NDArray  # (b, m, N) copies of the code: of the prior, and non-negative where asked
    multipliers: NDArray  # (b, m, N) scaled
    levels: NDArray  # (m,) logarithms of weights, to the base of two
    limits: NDArray  # (m,) residuals that are small enough, in units of the gradient

    def take(self, rows: NDArray) -> Rows:
        """Some of them."""
        return Rows(
            self.index[rows],
            self.cross[rows],
            self.targets[:, rows],
            self.multipliers[:, rows],
            self.levels[rows],
            self.limits[rows],
        )


class Splitting:
    """One dictionary, penalty and constraint."""

    def __init__(self, problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint):
        self.problem, self.penalty, self.constraint = problem, penalty, constraint
        self.values, self.vectors = problem.facts.spectrum
        self.values = np.maximum(self.values, 0.0)
        self.ones = self.vectors.sum(axis=0)  # the vector of ones, in eigenvectors
        self.largest = float(self.values[-1]) or 1.0  # atoms that are all zero have no scale

    def weight(self, level: int) -> float:
        """The weight of a level."""
        return self.largest * 2.0**level

    def begin(self, start: NDArray, limits: NDArray) -> Rows:
        """Rows at their first codes."""
        copies = 2 if self.constraint.nonnegative else 1
        first = np.repeat(start[None], copies, axis=0)
        levels = np.full(len(start), -4)
        index = np.arange(len(start))
        return Rows(index, self.problem.cross, first, np.zeros_like(first), levels, limits)

    def step(self, rows: Rows) -> tuple[NDArray, NDArray]:
        """One step of all rows, in place; residuals of equality and of optimality, (m,)."""
        apart, moved = np.empty(len(rows.index)), np.empty(len(rows.index))
        for level in np.unique(rows.levels):
            same = np.flatnonzero(rows.levels == level)
            rho = self.weight(int(level))
            before, multipliers = rows.targets[:, same], rows.multipliers[:, same]
            codes = self._least(rows.cross[same], before - multipliers, rho)
            after = np.empty_like(before)
            after[0] = self.penalty.prox(codes + multipliers[0], 1.0 / rho)
            if len(after) > 1:
                after[1] = np.maximum(codes + multipliers[1], 0.0)
            rows.targets[:, same] = after
            rows.multipliers[:, same] = multipliers + codes - after
            off = np.abs(codes - after)
            apart[same] = self.largest * off.max(axis=(0, 2))
            # What the multipliers charge for the difference: the objective may be off by that.
            charge = rho * (np.abs(rows.multipliers[:, same]) * off).sum(axis=(0, 2))
            apart[same] = np.maximum(apart[same], charge / AGREED)
            moved[same] = rho * np.abs(after - before).max(axis=(0, 2))
        return apart, moved

    def _least(self, cross: NDArray, aims: NDArray, rho: float) -> NDArray:
        """The code nearest to its copies that explains the sample, and sums to one if it must."""
        inverse = 1.0 / (self.values + len(aims) * rho)
        turned = (cross + rho * aims.sum(axis=0)) @ self.vectors * inverse
        if self.constraint.sum_to_one:
            of_ones = self.ones * inverse
            excess = (turned @ self.ones - 1.0) / float(self.ones @ of_ones)
            turned = turned - excess[:, None] * of_ones
        return turned @ self.vectors.T

    def balance(self, rows: Rows, apart: NDArray, moved: NDArray) -> None:
        """Weigh what is larger more: multipliers are scaled with the weight."""
        up = (apart > BALANCED * moved).astype(int)
        change = up - (moved > BALANCED * apart)
        rows.multipliers /= 2.0 ** change[None, :, None]
        rows.levels += change

    def finished(self, rows: Rows) -> tuple[NDArray, NDArray]:
        """Allowed codes of rows, and which of them are as good as asked for."""
        if self.constraint.nonnegative:
            # The copies agree up to the limit; made feasible, the better one is taken: a prior of
            # great weight counts what little they differ by.
            copies = [self.constraint.project(copy) for copy in rows.targets]
            first, second = (self._value(copy, rows.cross) for copy in copies)
            alike = np.abs(first - second) <= AGREED * rows.limits
            return np.where((first <= second)[:, None], *copies), alike
        codes = self._proximal_step(rows.targets[0], rows.cross)
        off = np.abs(self._proximal_step(codes, rows.cross) - codes).max(axis=1)
        return codes, self.largest * off <= rows.limits

    def _value(self, codes: NDArray, cross: NDArray) -> NDArray:
        """The objective up to what no code changes, (m,)."""
        fit = 0.5 * np.einsum("ij,ij->i", codes, codes @ self.problem.gram - 2.0 * cross)
        return fit + self.penalty.value(codes)

    def _proximal_step(self, codes: NDArray, cross: NDArray) -> NDArray:
        ahead = codes + (cross - codes @ self.problem.gram) / self.largest
        return constrained_prox(self.penalty, ahead, 1.0 / self.largest, sum_to_one=True)


def solve(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, options: Options
) -> CodingResult:
    """Codes of a penalty of which only value and proximal map are known, under a constraint.

    A row stops when copies of its code differ, and moved, by no more than
    ``tol * max|k|`` in units of the gradient (``tol * max(|k|, K_jj)`` for codes that sum to one).
    """
    dtype, problem = problem.cross.dtype, problem.astype(np.float64)
    limits = options.tol * _scale(problem, constraint)
    if constraint.sum_to_one:
        problem = _seen_from_mean(problem)
    split = Splitting(problem, penalty, constraint)
    limits = np.maximum(limits, ROUNDING * _scale(problem, constraint))
    codes = np.zeros_like(problem.cross)
    start = codes if options.start is None else dense(options.start).astype(np.float64)
    rows = split.begin(start, limits)
    wanted = FIRST * rows.limits
    n_iter = np.zeros(problem.n_samples, dtype=int)
    converged = np.zeros(problem.n_samples, dtype=bool)
    for turn in range(1, options.max_iter + 1):
        apart, moved = split.step(rows)
        n_iter[rows.index] = turn
        near = np.flatnonzero(np.maximum(apart, moved) <= wanted[rows.index])
        if near.size:
            found, good = split.finished(rows.take(near))
            done = near[good]
            codes[rows.index[done]], converged[rows.index[done]] = found[good], True
            wanted[rows.index[near[~good]]] *= TIGHTER
            rest = np.setdiff1d(np.arange(len(rows.index)), done)
            rows, apart, moved = rows.take(rest), apart[rest], moved[rest]
        if rows.index.size == 0:
            break
        if turn % LOOKS == 0 and turn <= SETTLED:
            split.balance(rows, apart, moved)
    if rows.index.size:
        codes[rows.index] = split.finished(rows)[0]
    return CodingResult(codes.astype(dtype, copy=False), converged, n_iter)


def _scale(problem: CodingProblem, constraint: Constraint) -> NDArray:
    """The largest gradient of each row, (n,)."""
    scale = np.abs(problem.cross).max(axis=1)
    if constraint.sum_to_one:  # no small code, no small gradient, whatever k
        scale = np.maximum(scale, problem.squares.max())
    return scale


def _seen_from_mean(problem: CodingProblem) -> CodingProblem:
    """The problem with the mean of the atoms as its origin, up to what no code changes.

    Codes that sum to one do not notice the origin, but steps would be as small as it is far.
    """
    facts = problem.facts.centred
    cross = problem.cross - problem.facts.double.mean(axis=0)
    cross -= cross.mean(axis=1, keepdims=True)
    return CodingProblem(problem.self_similarity, cross, facts.double, facts)
