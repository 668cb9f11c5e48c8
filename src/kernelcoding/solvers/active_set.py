"""Lasso-type problems, exactly: a second-order active-set method on the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes
from ..constraints import Constraint
from ..parallel import map_rows, stop_flag
from ..penalty import Penalty
from ..problem import CodingProblem
from .layout import plain
from .result import CodingResult, Options

STEPS = 32  # looks at the whole Gram matrix that a row may take


def solve(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, options: Options
) -> CodingResult:
    r"""Minimise a quadratic plus weighted l1 and ridge terms, each row to the same accuracy.

    .. math:: \min_y \tfrac12 y^\top (K + \mathrm{diag}(q)) y - k^\top y + \sum_j l_j |y_j|

    Parameters
    ----------
    problem : CodingProblem
    penalty : Penalty
        Its groups are not looked at.
    constraint : Constraint
        Convex.
    options : Options
        A row has converged when no optimality condition is violated by more than ``tol`` times
        the atom's ``l1`` (``tol`` times the largest entry of ``cross`` where that is zero).
        ``max_iter`` limits the steps spent on a row, one linear solve each.

    Returns
    -------
    CodingResult

    Notes
    -----
    Section 3 of the paper, kernel sparse coding and kernel LCC. Atoms that depend linearly on
    active ones are exchanged for them, so a singular Gram matrix needs no jitter.
    """
    from .._compiled.active_set import solve_rows

    arrays = Arrays.of(problem, penalty, options.start)
    shared = np.array([problem.n_atoms]), np.zeros(1)  # all atoms, and each row's own scale

    def run(rows: slice) -> Solved:
        found = Solved.empty(rows.stop - rows.start, problem.n_atoms)
        solve_rows(
            arrays.gram[None],
            *arrays.of_rows(rows),
            *shared,
            *arrays.of_start(rows),
            constraint.nonnegative,
            constraint.sum_to_one,
            options.tol,
            arrays.precision,
            options.max_iter,
            stop_flag(),
            *found,
        )
        return found.cut()

    parts = map_rows(run, problem.n_samples, options.n_jobs, cost=STEPS * problem.n_atoms**2)
    codes = assemble(parts, problem.cross)
    converged = np.concatenate([part.converged for part in parts])
    n_iter = np.concatenate([part.n_iter for part in parts])
    return CodingResult(codes if options.sparse_output else codes.toarray(), converged, n_iter)


@dataclass(frozen=True, slots=True)
class Arrays:
    """What compiled code is given of a problem: plain arrays in double precision.

    Single precision would win 5 to 20 % of the time, and everything would be compiled twice.
    """

    gram: NDArray
    cross: NDArray
    l1: NDArray
    ridge: NDArray
    start: sparse.csr_array | None
    precision: float  # relative size of a pivot that is all rounding errors

    @classmethod
    def of(cls, problem: CodingProblem, penalty: Penalty, start: Codes | None) -> Arrays:
        """The arrays of a problem, its penalties, and codes to start from."""
        exact = problem.astype(np.float64)
        return cls(
            problem.facts.double,
            plain(exact.cross),
            plain(penalty.l1, np.float64),
            plain(penalty.ridge, np.float64),
            None if start is None else sparse.csr_array(start).astype(np.float64),
            problem.n_atoms * float(np.finfo(problem.facts.dtype).eps),
        )

    def of_rows(self, rows: slice) -> tuple[NDArray, ...]:
        """Cross-similarities and penalties of some rows."""
        penalties = (part if part.shape[0] == 1 else part[rows] for part in (self.l1, self.ridge))
        return self.cross[rows], *penalties

    def of_start(self, rows: slice) -> tuple[NDArray, NDArray, NDArray]:
        """The codes to start from, as compiled code reads them."""
        given = self.start
        if given is None:
            n_rows = rows.stop - rows.start
            return np.zeros(n_rows + 1, np.int64), np.empty(0, np.int64), np.empty(0)
        starts = given.indptr[rows.start : rows.stop + 1].astype(np.int64)
        return starts, given.indices.astype(np.int64, copy=False), given.data


class Solved(NamedTuple):
    """Codes of consecutive rows as compiled code fills them in, and how each of them ended."""

    indptr: NDArray
    indices: NDArray
    values: NDArray
    n_iter: NDArray
    converged: NDArray

    @classmethod
    def empty(cls, n_rows: int, n_atoms: int) -> Solved:
        """Room for codes without a zero; memory that is not touched costs nothing."""
        room = n_rows * n_atoms
        return cls(
            np.zeros(n_rows + 1, np.int64),
            np.empty(room, np.int64),
            np.empty(room),
            np.zeros(n_rows, np.int64),
            np.zeros(n_rows, np.bool_),
        )

    def cut(self) -> Solved:
        """Without the room that was not needed."""
        size = int(self.indptr[-1])
        return self._replace(indices=self.indices[:size].copy(), values=self.values[:size].copy())


def assemble(parts: list[Solved], cross: NDArray) -> sparse.csr_array:
    """The packed codes of consecutive rows as one array, in the precision of ``cross``."""
    counts = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.concatenate([part.indices for part in parts])
    values = np.concatenate([part.values for part in parts]).astype(cross.dtype, copy=False)
    return sparse.csr_array((values, indices, indptr), shape=cross.shape)
