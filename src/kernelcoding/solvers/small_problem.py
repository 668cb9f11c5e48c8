"""The small problem of one sample: some of the atoms, with their own Gram matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from ..constraints import Constraint
from ..gram import TILE, GramFacts
from ..guide import Guide
from ..penalty import Penalty
from ..problem import CodingProblem
from . import active_set
from .result import Options
from .scaling import share_of_spread, solve_scaled

FIRST = 100  # atoms to start with
AT_ONCE = 40  # atoms that enter together, or as many as the code has
KNOWN = 1e-3  # part of a sample's square outside the guide's span that tells nothing
ROUNDING = 1e-14  # of correlations, next to the largest: solvers can tell nothing smaller
SPARE = 50  # atoms that stay though the code does not use them, or half as many as it uses


class Sample(NamedTuple):
    """Where a sample lies."""

    inside: NDArray  # (m,) coordinates in the span of the guide
    square: float  # its squared norm


class Move(NamedTuple):
    """How far a reconstruction is from that of the reference: by so much of the sample, and more.

    Correlations at the code of zeros are similarities to the sample itself. A reconstruction
    resembles it, so what it has of the sample needs no estimate there.
    """

    share: float  # of the sample; the rest is about what remains
    inside: NDArray  # (m,) coordinates in the span of the guide
    outside: float  # upper bound on the norm of the rest
    rounding: float  # that inner products with atoms may be off by


class SmallProblem:
    """Atoms that may matter to one sample, their inner products, and the code on them.

    Parameters
    ----------
    problem : CodingProblem
    row : int
        The sample.
    penalty : Penalty
        Of this sample.
    scale : float
        Largest similarity to any atom.
    sample : Sample
    """

    def __init__(
        self, problem: CodingProblem, row: int, penalty: Penalty, scale: float, sample: Sample
    ):
        self.problem, self.row, self.penalty, self.scale = problem, row, penalty, scale
        self.sample = sample
        self.atoms = np.empty(0, np.int64)  # ascending
        self.gram, self.cross = np.empty((0, 0)), np.empty(0)
        self.code = self.reference = np.empty(0)
        self.multiplier = 0.0
        self.converged, self.n_iter = False, 0

    def begin(self, cross: NDArray, constraint: Constraint, options: Options) -> None:
        """Take the atoms that explain most on their own, and code with these."""
        gain = cross if constraint.nonnegative or constraint.sum_to_one else np.abs(cross)
        gain = gain - self.penalty.l1[0]
        if constraint.sum_to_one:
            self.scale += float(self.problem.squares.mean())
            gain -= 0.5 * self.problem.squares
        self._take(_largest(gain, FIRST))
        self.solve(constraint, options)

    def _take(self, new: NDArray) -> None:
        """Let further atoms in."""
        facts, kept = self.problem.facts, len(self.atoms)
        new = np.sort(new)
        every = np.concatenate([self.atoms, new])
        gram = np.empty((len(every), len(every)))
        gram[:kept, :kept] = self.gram
        gram[kept:] = facts.block(new, every if kept else new)
        gram[:kept, kept:] = gram[kept:, :kept].T
        gram[kept:, kept:] = 0.5 * (gram[kept:, kept:] + gram[kept:, kept:].T)
        cross = np.concatenate([self.cross, self.problem.cross_at(self.row, new)])
        order = np.argsort(every)
        room = np.zeros(len(new))
        self.atoms, self.cross = every[order], cross[order]
        self.gram = np.ascontiguousarray(gram[np.ix_(order, order)])
        self.code = np.concatenate([self.code, room])[order]
        self.reference = np.concatenate([self.reference, room])[order]

    def _leave(self, kept: NDArray) -> None:
        """Keep some of the atoms."""
        self.atoms, self.cross, self.gram = (
            self.atoms[kept],
            self.cross[kept],
            self.gram[np.ix_(kept, kept)],
        )
        self.code, self.reference = self.code[kept], self.reference[kept]

    def _shed(self) -> None:
        """Let atoms go that are far from being used."""
        used = (self.code != 0) | (self.reference != 0)
        idle = np.flatnonzero(~used)
        excess = np.abs(self._gradient()[idle]) - self.penalty.l1[0, self.atoms[idle]]
        spare = max(SPARE, int(np.count_nonzero(self.code)) // 2)
        self._leave(np.sort(np.concatenate([np.flatnonzero(used), idle[_largest(excess, spare)]])))

    def add(self, atoms: NDArray, violation: NDArray) -> None:
        """Let the strongest violators in; atoms far from being used leave."""
        size = int(np.count_nonzero(self.code))
        self._shed()
        self._take(atoms[_largest(violation, max(AT_ONCE, size))])

    def solve(self, constraint: Constraint, options: Options) -> bool:
        """Code the sample with these atoms; whether any is used that was not."""
        before = self.code != 0
        penalty = Penalty(self.penalty.l1[:, self.atoms], self.penalty.ridge[:, self.atoms])
        squares = np.diag(self.gram)
        own = np.divide(self.cross**2, squares, out=np.zeros_like(squares), where=squares > 0)
        small = CodingProblem(own.max(keepdims=True), self.cross[None], self.gram)
        start = sparse.csr_array(self.code[None])
        alone = replace(options, start=start, n_jobs=1, sparse_output=False)
        result = solve_scaled(active_set.solve, small, penalty, constraint, alone)
        self.code = np.asarray(result.codes)[0]
        self.converged = bool(result.converged[0])
        self.n_iter += int(result.n_iter[0])
        if constraint.sum_to_one:
            used = np.flatnonzero(self.code)
            slope = penalty.l1[0, used] * np.sign(self.code[used])
            rest = self._gradient()[used] - penalty.ridge[0, used] * self.code[used] - slope
            self.multiplier = float(rest.mean()) if used.size else 0.0
        return bool(np.any(self.code[~before]))

    def _gradient(self) -> NDArray:
        """Correlations of these atoms with the residual, (m,)."""
        used = np.flatnonzero(self.code)
        return self.cross - self.code[used] @ self.gram[used]

    def violation(self, atoms: NDArray, constraint: Constraint, tol: float) -> NDArray:
        """By how much correlations of other atoms exceed what is tolerated, (m,)."""
        if not atoms.size:
            return np.empty(0)
        used = np.flatnonzero(self.code)
        found = self.problem.cross_at(self.row, atoms) - self.multiplier
        for some in gen_batches(len(atoms), max(1, TILE // used.size)) if used.size else ():
            block = self.problem.facts.block(self.atoms[used], atoms[some])
            found[some] -= self.code[used] @ block
        l1 = self.penalty.l1[0, atoms]
        free = tol * self.scale
        if constraint.sum_to_one and not l1.all():
            # As where all atoms are at hand, and no less than rounding.
            free *= max(share_of_spread(GramFacts(self.gram)), ROUNDING / tol)
        allowed = np.where(l1 > 0, tol * np.minimum(l1, self.scale), free)
        return (found if constraint.nonnegative else np.abs(found)) - l1 - allowed

    def moved(self, guide: Guide) -> Move:
        """Where the reconstruction went since the reference."""
        step = self.code - self.reference
        used = np.flatnonzero(step)
        step, atoms = step[used], self.atoms[used]
        inside = step.astype(np.float32) @ guide.coordinates[atoms]
        squared = float(step @ self.gram[np.ix_(used, used)] @ step)
        size = float(np.abs(step) @ guide.norms[atoms])
        share = 0.0
        if not self.reference.any():
            along = float(step @ self.cross[used])
            share = self._share(along, inside)
            inside -= np.float32(share) * self.sample.inside
            squared += share * (share * self.sample.square - 2.0 * along) if share else 0.0
            size += abs(share) * float(np.sqrt(self.sample.square)) if share else 0.0
        rest = squared - float(inside.astype(np.float64) @ inside) + guide.slack * size**2
        rounding = guide.slack * size * float(guide.norms.max(initial=0.0))
        return Move(share, inside, float(np.sqrt(max(rest, 0.0))), rounding)

    def _share(self, along: float, inside: NDArray) -> float:
        """How much of the sample leaves least of a reconstruction outside the guide's span."""
        own, square = self.sample
        outside = square - float(own.astype(np.float64) @ own)
        if not outside > KNOWN * square:  # or the square is not known
            return 0.0
        return float(np.float32((along - float(own.astype(np.float64) @ inside)) / outside))

    def renew(self) -> None:
        """The present code becomes the reference; atoms far from being used leave."""
        self.reference = self.code
        self._shed()

    def end(self) -> None:
        """Forget all but the code: thousands of small matrices are a large one."""
        self.gram = np.empty((0, 0))

    def code_row(self) -> sparse.csr_array:
        """The code as a row of all atoms."""
        used = np.flatnonzero(self.code)
        parts = (self.code[used], self.atoms[used], np.array([0, len(used)]))
        return sparse.csr_array(parts, shape=(1, self.problem.n_atoms))


def _largest(values: NDArray, count: int) -> NDArray:
    """Places of the largest values, at most ``count`` of them."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]
