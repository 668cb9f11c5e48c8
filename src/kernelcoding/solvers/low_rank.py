"""Lasso-type problems whose shared Gram matrix has a term of low rank added in each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, is_csr, products, times, times_codes
from ..constraints import Constraint
from ..parallel import count_threads, map_blocks, map_rows, stop_flag
from ..penalty import Penalty
from ..problem import CodingProblem
from .active_set import Arrays, Solved
from .layout import plain
from .result import CodingResult, Options

if TYPE_CHECKING:
    from .._compiled.low_rank import RowOptions, SmallProblems
BLOCK = 1024  # rows side by side, at most
CACHED = 2**18  # numbers that are still in a processor's cache when they are read again
ROOM = 2**25  # numbers that their matrices of low rank may have at the very worst (256 MB)
PASSES = 50


@dataclass(frozen=True, slots=True)
class Scores:
    r"""Scores that are bilinear in samples and codes, and where they should be.

    .. math:: f_{is}(y) = \sum_z C_{zs}\, k(x_i, z)\,(y_z \cdot y)
    """

    similarity: NDArray  # (n, Z) of samples and centres
    coefficients: NDArray  # (Z, S)
    centres: Codes  # (Z, N) codes of the centres; by atom (CSC) where prepared
    targets: NDArray  # (n, S) where scores should be
    etas: NDArray  # (n,) weight of half the squared distance to the targets
    at_start: NDArray | None = None  # (n, S) of the codes to start from, where known

    def prepared(self) -> Scores:
        """The same for compiled code: plain arrays in double precision, centres by atom (CSC)."""
        arrays = (self.similarity, self.coefficients, self.targets, self.etas)
        similarity, coefficients, targets, etas = (plain(part, np.float64) for part in arrays)
        centres = sparse.csc_array(self.centres).astype(np.float64)
        return Scores(similarity, coefficients, centres, targets, etas, self.at_start)

    def take(self, rows: slice | NDArray) -> Scores:
        """Those of some samples."""
        return replace(
            self,
            similarity=self.similarity[rows],
            targets=self.targets[rows],
            etas=self.etas[rows],
            at_start=None if self.at_start is None else self.at_start[rows],
        )

    def values(self, codes: Codes) -> NDArray:
        """Scores of codes, (n, S)."""
        return (products(codes, self.centres) * self.similarity) @ self.coefficients

    def pulled_back(self, residual: NDArray) -> NDArray:
        r"""What the atoms would add to scores that fall short, :math:`\eta B r`, (n, N)."""
        carry = self.coefficients @ (self.etas[:, None] * residual).T  # as products want it
        carry *= self.similarity.T
        return times_codes(carry.T, self.centres)


def solve(
    problem: CodingProblem,
    penalty: Penalty,
    constraint: Constraint,
    options: Options,
    scores: Scores,
    max_passes: int | None = None,
) -> CodingResult:
    r"""Minimise a coding objective plus the squared distance of scores to their targets.

    .. math:: \min_y \tfrac12 y^\top (K + \mathrm{diag}(q)) y - k^\top y + \sum_j l_j |y_j|
              + \tfrac{\eta_i}2 \|t_i - f_i(y)\|^2

    The Gram matrix of row i is :math:`K + \eta_i B_i B_i^\top` with as many columns in
    :math:`B_i` as there are classes. Neither is formed: memory is that of the rows of :math:`B_i`
    that belong to atoms in use, for one block of samples per thread.

    Parameters
    ----------
    problem, penalty, constraint, options
        As in :func:`kernelcoding.solvers.active_set.solve`.
    scores : Scores
    max_passes : int, default=None
        Passes in which atoms may join. Already one, from a start, makes codes better; None goes on
        until they are optimal.

    Returns
    -------
    CodingResult
        Limited passes are what was asked for: rows that could go on count as converged.
    """
    from .._compiled.low_rank import RowOptions, RowStates

    arrays = Arrays.of(problem, penalty, options.start)
    exact = scores.prepared()
    settings = RowOptions(
        constraint.nonnegative, constraint.sum_to_one, options.tol, arrays.precision
    )

    def run(rows: slice) -> RowStates:
        block = RowBlock(arrays, exact, rows)
        block.solve(settings, options.max_iter, PASSES if max_passes is None else max_passes)
        return block.rows

    share = -(-problem.n_samples // count_threads(options.n_jobs))
    room = ROOM // (problem.n_atoms * exact.coefficients.shape[1])
    rows = max(1, min(BLOCK, share, room))
    found = map_blocks(run, problem.n_samples, rows, options.n_jobs)
    codes = sparse.vstack([sparse.csr_array(part.codes) for part in found], format="csr")
    codes = sparse.csr_array(codes, dtype=problem.cross.dtype)
    converged = np.concatenate([part.converged for part in found])
    reached = exact.targets - np.concatenate([part.residual for part in found])
    if max_passes is None:
        converged &= np.concatenate([part.finished for part in found])
    return CodingResult(
        codes if options.sparse_output else codes.toarray(),
        converged,
        np.concatenate([part.iterations for part in found]),
        scores=reached if codes.dtype == np.float64 else None,  # of codes before rounding
    )


class RowBlock:
    """Rows that are solved side by side, so that their correlations are matrix products.

    Parameters
    ----------
    arrays : Arrays
        The whole problem.
    scores : Scores
        Of the whole problem, prepared.
    rows : slice
        The rows of this block.
    """

    def __init__(self, arrays: Arrays, scores: Scores, rows: slice):
        from .._compiled.low_rank import RowStates, Shared

        self.scores = scores.take(rows)
        cross, l1, ridge = arrays.of_rows(rows)
        self.shared = Shared(arrays.gram, cross, l1, ridge, self.scores.targets, self.scores.etas)
        scales = np.maximum(cross.max(axis=1), -cross.min(axis=1))
        self._scales = np.where(scales > 0, scales, 1.0)
        n, n_atoms = cross.shape
        start = sparse.csr_array((n, n_atoms)) if arrays.start is None else arrays.start[rows]
        at_start = self.scores.at_start
        at_start = self.scores.values(start) if at_start is None else at_start
        self.rows = RowStates(
            start.toarray(),
            np.full((n, n_atoms), -1),
            self.scores.targets - at_start,
            np.zeros(n, np.int64),
            np.zeros(n, np.bool_),
            np.ones(n, np.bool_),
            np.zeros(n, np.bool_),
        )
        self._low = np.empty((0, scores.coefficients.shape[1]))  # rows of B, as they were needed
        self._waiting: list[tuple[NDArray, NDArray]] = []  # rows and atoms of those that come next
        self._admit(*start.nonzero())

    def solve(self, options: RowOptions, max_iter: int, max_passes: int) -> None:
        """Passes over the rows in which atoms still violate their conditions.

        Parameters
        ----------
        options : RowOptions
            Of the compiled code.
        max_iter : int
            Steps of the active-set method for one row and pass.
        max_passes : int
        """
        from .._compiled.low_rank import find_violators

        pending = np.arange(len(self.rows.codes))
        for _ in range(max_passes):
            joining = np.zeros(self.rows.codes.shape, np.bool_)
            correlation = self.correlation(pending)
            find_violators(self.shared, options, correlation, pending, self.rows, joining)
            pending = np.flatnonzero(~self.rows.finished)
            if not len(pending):
                break
            self._admit(*np.nonzero(joining))
            self._respond()
            self._solve_working_sets(options, pending, max_iter)

    def _solve_working_sets(self, options: RowOptions, pending: NDArray, max_iter: int) -> None:
        sizes = (self.rows.place[pending] >= 0).sum(axis=1)
        largest = max(int(sizes.max()), 1)
        together = min(max(1, CACHED // largest**2), len(pending))
        small = small_problems(together, largest)  # once: new memory costs as much as filling it

        def run(some: slice) -> None:
            for start in range(some.start, some.stop, together):
                few = slice(start, min(start + together, some.stop))
                self._solve_few(options, pending[few], small, max_iter)

        cost = largest**2 * (largest + self._low.shape[1])
        map_rows(run, len(pending), 1, chunk=len(pending), cost=cost)

    def _solve_few(
        self, options: RowOptions, few: NDArray, small: SmallProblems, max_iter: int
    ) -> None:
        """Best codes on the working sets of a few rows, from the codes before."""
        from .._compiled.active_set import solve_rows
        from .._compiled.low_rank import SmallCodes, fill_problems, take_codes

        found = Solved.empty(len(few), small.cross.shape[1])
        fill_problems(self.shared, self._low, few, self.rows, small)
        shared = (small.l1, small.ridge, small.sizes, self._scales[few])
        start = (small.starts, small.start_atoms, small.start_values)
        arrays = (small.grams, small.cross[: len(few)], *shared, *start)
        solve_rows(*arrays, *options, max_iter, stop_flag(), *found)
        codes = SmallCodes(found.indptr, found.indices, found.values)
        take_codes(self.shared, self._low, few, self.rows, small.members, codes)
        self.rows.iterations[few] += found.n_iter
        self.rows.converged[few] = found.converged
        self.rows.solved[few] = True

    def correlation(self, pending: NDArray) -> NDArray:
        r"""Minus the gradient of the smooth part, :math:`k - K y + \eta B (t - B^\top y)`."""
        every = len(pending) == len(self.rows.codes)  # all of them are not copied
        some = slice(None) if every else pending
        codes = sparse.csr_array(self.rows.codes[some])
        pulled = self.scores.take(some).pulled_back(self.rows.residual[some])
        return self.shared.cross[some] - times(codes, self.shared.gram) + pulled

    def _admit(self, rows: NDArray, atoms: NDArray) -> None:
        """Let atoms into working sets; their rows of B come after the others."""
        waiting = sum(len(before) for before, _ in self._waiting)
        self.rows.place[rows, atoms] = len(self._low) + waiting + np.arange(len(rows))
        self._waiting.append((rows, atoms))

    def _respond(self) -> None:
        """Rows of B of the atoms that were let in since, together: they have the same centres."""
        from .._compiled.low_rank import respond

        rows, atoms = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
        self._waiting = []
        places = len(self._low) + np.arange(len(rows))
        self._low = np.concatenate([self._low, np.empty((len(rows), self._low.shape[1]))])
        scores, order = self.scores, np.argsort(atoms, kind="stable")
        centres = scores.centres
        assert is_csr(centres)  # by atom, as prepared
        index = [part.astype(np.int64) for part in (centres.indptr, centres.indices)]
        respond(
            scores.similarity,
            scores.coefficients,
            *index,
            centres.data,
            rows[order],
            atoms[order],
            places[order],
            self._low,
        )


def small_problems(n_rows: int, largest: int) -> SmallProblems:
    """Room for problems on working sets of at most so many atoms."""
    from .._compiled.low_rank import SmallProblems

    shape = n_rows, largest
    return SmallProblems(
        members=np.empty(shape, np.int64),
        sizes=np.empty(n_rows, np.int64),
        grams=np.empty((*shape, largest)),
        cross=np.empty(shape),
        l1=np.empty(shape),
        ridge=np.empty(shape),
        starts=np.empty(n_rows + 1, np.int64),
        start_atoms=np.empty(n_rows * largest, np.int64),
        start_values=np.empty(n_rows * largest),
    )
