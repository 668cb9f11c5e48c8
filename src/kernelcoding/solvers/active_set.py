"""Lasso-type problems, exactly: a second-order active-set method on the Gram matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..penalty import Penalty
from ..problem import Codes, CodingProblem
from .layout import plain
from .parallel import map_rows


def solve(
    problem: CodingProblem,
    penalty: Penalty,
    *,
    nonnegative: bool,
    sum_to_one: bool,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    start: Codes | None = None,
    sparse_output: bool = False,
) -> tuple[Codes, NDArray, NDArray]:
    r"""Minimise a quadratic plus weighted l1 and ridge terms, each row to the same accuracy.

    .. math:: \min_y \tfrac12 y^\top (K + \mathrm{diag}(q)) y - k^\top y + \sum_j l_j |y_j|

    Parameters
    ----------
    problem : CodingProblem
    penalty : Penalty
        Its groups are not looked at.
    nonnegative, sum_to_one : bool
        Constraints on the codes.
    tol : float
        A row has converged when no optimality condition is violated by more than ``tol`` times
        the atom's ``l1`` (``tol`` times the largest entry of ``cross`` where that is zero).
    max_iter : int
        Most steps, one linear solve each, spent on a row.
    n_jobs : int or None
        Threads, as in joblib.
    start : array or CSR array of shape (n, N), optional
        Codes to start from. They change the time, not the answer.
    sparse_output : bool
        Return a CSR array.

    Returns
    -------
    codes : array or CSR array of shape (n, N)
    converged : bool array of shape (n,)
    n_iter : int array of shape (n,)

    Notes
    -----
    Section 3 of the paper, kernel sparse coding and kernel LCC. Atoms that depend linearly on
    active ones are exchanged for them, so a singular Gram matrix needs no jitter.
    """
    from .._compiled.active_set import solve_rows

    # Single precision would win 5 to 20 % of the time, and everything would be compiled twice.
    exact = problem.astype(np.float64)
    gram, cross = plain(exact.gram), plain(exact.cross)
    l1, ridge = (plain(part, np.float64) for part in (penalty.l1, penalty.ridge))
    given = sparse.csr_array(cross.shape) if start is None else sparse.csr_array(start)
    starts, atoms = given.indptr.astype(np.int64), given.indices.astype(np.int64)
    values = np.asarray(given.data, np.float64)
    precision = problem.n_atoms * float(np.finfo(problem.gram.dtype).eps)

    def run(rows: slice):
        return solve_rows(
            gram,
            cross[rows],
            l1 if l1.shape[0] == 1 else l1[rows],
            ridge if ridge.shape[0] == 1 else ridge[rows],
            starts[rows.start : rows.stop + 1],
            atoms,
            values,
            nonnegative,
            sum_to_one,
            tol,
            precision,
            max_iter,
        )

    parts = map_rows(run, problem.n_samples, n_jobs)
    codes = assemble(parts, problem.cross)
    converged = np.concatenate([part[4] for part in parts])
    n_iter = np.concatenate([part[3] for part in parts])
    return codes if sparse_output else codes.toarray(), converged, n_iter


def assemble(parts: list, cross: NDArray) -> sparse.csr_array:
    """The packed codes of consecutive rows as one array, in the precision of ``cross``."""
    counts = np.concatenate([np.diff(part[0]) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.concatenate([part[1] for part in parts])
    values = np.concatenate([part[2] for part in parts]).astype(cross.dtype, copy=False)
    return sparse.csr_array((values, indices, indptr), shape=cross.shape)
