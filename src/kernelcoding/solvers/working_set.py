r"""Exact codes without the Gram matrix of all atoms: small problems, and a look at the others.

Each sample has a small problem of atoms that may matter to it. All other atoms stay out as long as
their correlations :math:`c_j = k_j - (Ky)_j` are below their weights in the prior. Correlations are
known exactly (up to a bound) at one *reference* code, for all atoms; from there they move by
:math:`\langle\phi(d_j), \Phi(D)(y - y_{ref})\rangle`, which a guide
(:mod:`kernelcoding.guide`) estimates for all atoms at once, and bounds. Atoms that the bound does
not clear are looked at one by one, in double precision; where these are too many, the present code
becomes the reference: one pass over all atoms that all such samples share.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..constraints import Constraint
from ..gram import TILE
from ..long_calls import product
from ..penalty import Penalty
from ..problem import CodingProblem, Comparison
from .result import CodingResult, Options
from .small_problem import Move, Sample, SmallProblem

FEW, SHARE = 512, 32  # atoms that are looked at one by one: so many, or one in so many of all
ROUNDS = 8  # estimates in a row before the reference is renewed
PASSES = 40  # renewals before a sample is given up
# Atoms whose inner products are in memory at a time: with each other, and with all that are used.
SQUARE, NARROWEST = 1024, 256
CHUNK = 64  # samples whose estimates are in memory at a time
UNIT = float(np.finfo(np.float32).eps)


def solve(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, options: Options
) -> CodingResult:
    """What :func:`kernelcoding.solvers.active_set.solve` finds, for dictionaries of any size.

    Parameters
    ----------
    problem : CodingProblem
        It is asked for parts of its arrays only; (n, N) numbers in single precision are kept.
    penalty : Penalty
        Its groups are not looked at.
    constraint : Constraint
        Convex.
    options : Options
        As for the active-set method; a row has converged when the conditions hold for all atoms.

    Returns
    -------
    CodingResult
    """
    search = _Search(problem, penalty, constraint, options)
    active = search.start()
    for _ in range(PASSES):
        waiting: list[int] = []
        for _ in range(ROUNDS):
            active, late = search.round(active)
            waiting += late
            if not active:
                break
        waiting += active
        if not waiting:
            break
        search.renew(np.array(waiting))
        active = waiting
    search.give_up(active)
    return search.result()


class _Search:
    """The small problems of all samples, and what is known of the atoms outside."""

    def __init__(
        self, problem: CodingProblem, penalty: Penalty, constraint: Constraint, options: Options
    ):
        self.problem, self.penalty, self.constraint, self.options = (
            problem,
            penalty,
            constraint,
            options,
        )
        n, n_atoms = problem.n_samples, problem.n_atoms
        self.guide = problem.facts.guide
        self.largest_norm = float(self.guide.norms.max(initial=0.0))
        self.l1 = penalty.l1.astype(np.float32)
        self.correlation = np.empty((n, n_atoms), np.float32)  # at the reference
        self.errors = np.zeros(n)  # how far these may be off
        self.few = max(FEW, n_atoms // SHARE)
        # New memory would cost more than what is computed in it.
        self.room = np.empty((min(n, CHUNK), n_atoms), np.float32)
        self.row_room = np.empty(n_atoms, np.float32)
        self.small: list[SmallProblem] = []

    def start(self) -> list[int]:
        """Small problems of the atoms that resemble each sample most."""
        rows = np.arange(self.problem.n_samples)
        self._look(rows, sparse.csr_array(self.correlation.shape))
        squares, near = self.problem.cross_with(self.guide.landmarks)
        inside = product(near.astype(np.float64, copy=False), self.guide.basis).astype(np.float32)
        for row in rows:
            cross = self.correlation[row]
            scale = float(np.abs(cross).max(initial=0.0))
            penalty = self.penalty.take(slice(row, row + 1))
            sample = Sample(inside[row], float(squares[row]))
            self.small.append(SmallProblem(self.problem, int(row), penalty, scale, sample))
            self.small[row].begin(cross, self.constraint, self.options)
        return rows.tolist()

    def _look(self, rows: NDArray, codes: sparse.csr_array) -> None:
        """Correlations of all atoms at codes of some rows, which become their reference."""
        used, places = np.unique(codes.indices, return_inverse=True)
        shape = len(rows), len(used)
        weights = sparse.csr_array((codes.data, places.reshape(-1), codes.indptr), shape=shape)
        weights = weights.astype(np.float32)
        seen = self.problem.compared(rows, used)
        self._look_at_used(rows, used, weights, seen)
        self._look_at_others(rows, used, weights, seen)
        largest = np.array([np.abs(self.correlation[row]).max(initial=0.0) for row in rows])
        size = abs(codes)
        terms = np.diff(codes.indptr) + 4
        sums = self.largest_norm * (size @ self.guide.norms) + largest
        errors = np.zeros(self.problem.n_atoms)
        errors[used] = seen.atom_errors
        self.errors[rows] = seen.sample_errors + size @ errors + UNIT * terms * sums

    def _look_at_used(
        self, rows: NDArray, used: NDArray, weights: sparse.csr_array, seen: Comparison
    ) -> None:
        """Correlations of atoms that codes use: inner products of two of them serve both."""
        own = len(rows)
        parts = [slice(k, min(k + SQUARE, len(used))) for k in range(0, len(used), SQUARE)]
        weighed = [weights[:, part] for part in parts]
        found = np.empty((own, len(used)), np.float32)
        for part in parts:
            found[:, part] = seen.between(slice(0, own), used[part])
        for first, part in enumerate(parts):
            for second in range(first, len(parts)):
                others = parts[second]
                values = seen.between(slice(own + others.start, own + others.stop), used[part])
                values = values.astype(np.float32, copy=False)
                found[:, part] -= weighed[second] @ values
                if second > first:
                    found[:, others] -= weighed[first] @ values.T
        self.correlation[np.ix_(rows, used)] = found

    def _look_at_others(
        self, rows: NDArray, used: NDArray, weights: sparse.csr_array, seen: Comparison
    ) -> None:
        """Correlations of atoms that no code uses."""
        own, both = len(rows), len(rows) + len(used)
        others = np.setdiff1d(np.arange(self.problem.n_atoms), used, assume_unique=True)
        step = max(NARROWEST, TILE // 2 // max(both, 1))
        for start in range(0, len(others), step):
            atoms = others[start : start + step]
            values = seen.between(slice(0, both), atoms).astype(np.float32, copy=False)
            self.correlation[np.ix_(rows, atoms)] = values[:own] - weights @ values[own:]

    def renew(self, rows: NDArray) -> None:
        """Make present codes the reference."""
        for row in rows:
            self.small[row].renew()
        codes = sparse.csr_array(sparse.vstack([self.small[row].code_row() for row in rows]))
        self._look(rows, codes)

    def round(self, rows: list[int]) -> tuple[list[int], list[int]]:
        """Look at all atoms; return rows that got new ones, and rows that need a new reference."""
        grown: list[int] = []
        waiting: list[int] = []
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            moves = [self.small[row].moved(self.guide) for row in some]
            for row, move, shift in zip(some, moves, self._shifts(moves), strict=True):
                small = self.small[row]
                certain = self._settle(small, *self._estimates(row, move, shift))
                if certain is None:
                    waiting.append(row)
                elif certain:
                    small.end()
                else:
                    helped = small.solve(self.constraint, self.options)
                    (grown if helped else waiting).append(row)
        return grown, waiting

    def _shifts(self, moves: list[Move]) -> NDArray:
        """By how much correlations have moved since the reference, as the guide sees it, (n, N)."""
        room = self.room[: len(moves)]
        inside = np.array([move.inside for move in moves])
        if inside.any():
            return product(inside, self.guide.coordinates.T, out=room)
        room[:] = 0.0
        return room

    def _estimates(self, row: int, move: Move, shift: NDArray) -> tuple[NDArray, NDArray]:
        """By how much correlations exceed weights, and how far that may be off, (N,) each.

        The first is written over ``shift``, the second over that of the row before.
        """
        known = np.multiply(self.correlation[row], np.float32(1.0 - move.share), out=self.row_room)
        found = np.subtract(known, shift, out=shift)
        found -= np.float32(self.small[row].multiplier)
        if not self.constraint.nonnegative:
            np.abs(found, out=found)
        found -= self.l1[row % len(self.l1)]  # one row for all samples, or one each
        unsure = np.multiply(self.guide.spread, np.float32(move.outside), out=self.row_room)
        unsure += np.float32(abs(1.0 - move.share) * self.errors[row] + move.rounding)
        return found, unsure

    def _settle(self, small: SmallProblem, excess: NDArray, unsure: NDArray) -> bool | None:
        """Whether no atom need enter the small problem: True, False (some do), None: not known."""
        excess[small.atoms] = -np.inf
        unsure += excess
        suspects = np.flatnonzero(unsure > 0.0)
        # Estimates of movements say no more where nothing has moved.
        has_moved = not np.array_equal(small.code, small.reference)
        if len(suspects) <= self.few or not has_moved:
            violation = small.violation(suspects, self.constraint, self.options.tol)
            if not np.any(violation > 0.0):
                return True
            small.add(suspects[violation > 0.0], violation[violation > 0.0])
            return False
        likely = np.flatnonzero(excess > 0.0)
        if not len(likely):
            return None
        small.add(likely, excess[likely])
        return False

    def give_up(self, rows: list[int]) -> None:
        """These rows were looked at often enough."""
        for row in rows:
            self.small[row].converged = False

    def result(self) -> CodingResult:
        """The codes of all rows."""
        small = self.small
        shape = (0, self.problem.n_atoms)
        parts = [one.code_row() for one in small] or [sparse.csr_array(shape)]
        codes = sparse.csr_array(sparse.vstack(parts, format="csr"))
        converged = np.array([one.converged for one in small], bool)
        n_iter = np.array([one.n_iter for one in small], int)
        codes = codes.astype(self.problem.facts.dtype, copy=False)
        result = CodingResult(codes, converged, n_iter)
        return result if self.options.sparse_output else replace(result, codes=codes.toarray())
