"""Group lasso and sparse-group lasso in Gram form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..penalty import Groups, Penalty
from ..problem import Codes, CodingProblem
from .parallel import map_rows


TUNING=np.array([1.0,0.25,0.5])
def solve(
    problem: CodingProblem,
    penalty: Penalty,
    *,
    nonnegative: bool,
    sum_to_one: bool,
    tol: float = 1e-6,
    max_iter: int = 500,
    n_jobs: int | None = None,
    start: Codes | None = None,
    sparse_output: bool = False,
) -> tuple[Codes, NDArray, NDArray]:
    from ._compiled.group import solve_rows

    n, size = problem.cross.shape
    groups = penalty.groups or Groups(np.zeros(size, np.int64), np.zeros(1))
    order = np.argsort(groups.labels, kind="stable")
    labels = np.asarray(groups.labels, np.int64)[order]
    weights = np.asarray(groups.weights, np.float64)
    starts = np.searchsorted(labels, np.arange(weights.size + 1))
    gram = np.ascontiguousarray(problem.gram[np.ix_(order, order)], np.float64)
    codes = np.zeros((n, size), problem.cross.dtype)
    l1 = np.ascontiguousarray(penalty.l1[:, order], np.float64)
    ridge = np.ascontiguousarray(penalty.ridge[:, order], np.float64)

    def run(rows: slice):
        cross = np.ascontiguousarray(problem.cross[rows][:, order], np.float64)
        out = np.zeros(cross.shape)
        if sum_to_one:
            out[np.arange(len(out)), np.argmax(cross - .5*np.diag(gram), axis=1)] = 1.0
        conv, it = solve_rows(gram, cross, l1 if len(l1) == 1 else l1[rows], ridge if len(ridge) == 1 else ridge[rows],
            starts, labels, weights, nonnegative, sum_to_one, tol, max_iter, out, TUNING)
        codes[rows][:, order] = out
        return conv, it
    parts = map_rows(run, n, n_jobs, chunk=8)
    return codes, np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
