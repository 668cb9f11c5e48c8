"""Group lasso and sparse-group lasso in Gram form, with or without constraints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, dense, stacked
from ..constraints import Constraint
from ..parallel import map_rows, stop_flag
from ..penalty import Groups, Penalty
from ..problem import CodingProblem
from .result import CodingResult, Options

CHUNK = 8  # rows handed to a thread at once: one row may cost a second, another a millisecond
STEPS = 8  # factorisations of all atoms that a hard row may take


def solve(
    problem: CodingProblem, penalty: Penalty, constraint: Constraint, options: Options
) -> CodingResult:
    r"""Codes under group norms, by Newton's method on the atoms present.

    .. math:: \min_y \tfrac12 y^\top (K + \mathrm{diag}(q)) y - k^\top y
              + \sum_j l_j |y_j| + \sum_g w_g \|y_g\|_2

    with :math:`y \ge 0` and :math:`\mathbf 1^\top y = 1` as options.

    Parameters
    ----------
    problem : CodingProblem
        n samples, N atoms.
    penalty : Penalty
        Weights; any of them may be zero. Without groups, a weighted elastic net.
    constraint : Constraint
        Convex.
    options : Options
        A row stops when in each group the distance of the correlations from the subdifferential
        of the penalty is at most ``tol`` times ``w_g + ||l_g||_2``; ``max_iter`` limits the Newton
        steps per row. Codes to start from are made feasible if they are not.

    Returns
    -------
    CodingResult
        Codes in the precision of ``problem.cross``; zeros are exact.
    """
    from .._compiled.group import solve_rows

    layout = _sort_by_group(problem, penalty)

    def run(rows: slice) -> tuple[Codes, NDArray, NDArray]:
        cross = np.ascontiguousarray(problem.cross[rows][:, layout.order], np.float64)
        part = layout.penalty.take(rows)
        given = None if options.start is None else dense(options.start[rows])
        codes = _feasible_start(layout, part, cross, given, constraint)
        arrays = (layout.gram, cross, part.l1, part.ridge, *layout.groups)
        flags = (constraint.nonnegative, constraint.sum_to_one)
        limits = (float(options.tol), int(options.max_iter), stop_flag())
        done, steps = np.zeros(len(codes), np.bool_), np.zeros(len(codes), np.int64)
        solve_rows(*arrays, *flags, *limits, codes, done, steps)
        unsorted = np.empty(codes.shape, _precision(problem))
        unsorted[:, layout.order] = codes
        return sparse.csr_array(unsorted) if options.sparse_output else unsorted, done, steps

    n_jobs = options.n_jobs if problem.n_samples > CHUNK else 1
    parts = map_rows(run, problem.n_samples, n_jobs, CHUNK, cost=STEPS * problem.n_atoms**3)
    codes, converged, n_iter = zip(*parts, strict=True)
    return CodingResult(stacked(codes), np.concatenate(converged), np.concatenate(n_iter))


class _Layout(NamedTuple):
    """The problem with its atoms sorted by group, in float64."""

    order: NDArray  # (N,) atom at each sorted place
    gram: NDArray  # (N, N)
    penalty: Penalty
    groups: tuple[NDArray, NDArray, NDArray]  # weights (G,), starts (G + 1,), group of atom (N,)


def _sort_by_group(problem: CodingProblem, penalty: Penalty) -> _Layout:
    groups = penalty.groups
    if groups is None:
        groups = Groups(np.arange(problem.n_atoms), np.zeros(problem.n_atoms))
    labels = np.asarray(groups.labels, np.int64)
    order = np.argsort(labels, kind="stable")
    # A copy, like the fancy indices below: read-only arrays would be compiled for once more.
    weights = np.array(groups.weights, np.float64, order="C")
    starts = np.searchsorted(labels[order], np.arange(weights.size + 1))
    return _Layout(
        order,
        np.ascontiguousarray(problem.gram[np.ix_(order, order)], np.float64),
        Penalty(
            np.ascontiguousarray(penalty.l1[:, order], np.float64),
            np.ascontiguousarray(penalty.ridge[:, order], np.float64),
        ),
        (weights, starts, labels[order]),
    )


def _feasible_start(
    layout: _Layout,
    penalty: Penalty,
    cross: NDArray,
    given: NDArray | None,
    constraint: Constraint,
) -> NDArray:
    """Zeros, or the best single atom under ``sum_to_one``, or the given codes made feasible."""
    codes = np.zeros(cross.shape)
    if given is not None:
        codes[:] = given[:, layout.order]
        if constraint.nonnegative:
            np.maximum(codes, 0.0, out=codes)
        # Traces of rounding would count as atoms present, with huge curvature.
        codes[np.abs(codes) < 1e-12 * np.abs(codes).max(axis=1, keepdims=True, initial=1e-12)] = 0.0
    if constraint.sum_to_one:
        weights, _, group_of = layout.groups
        value = 0.5 * (np.diag(layout.gram) + penalty.ridge) + penalty.l1 + weights[group_of]
        best = np.argmin(value - cross, axis=1)
        total = codes.sum(axis=1)
        alone = np.flatnonzero(total < 0.1)
        codes[alone] = 0.0
        codes[alone, best[alone]] = total[alone] = 1.0
        codes /= total[:, None]
    return codes


def _precision(problem: CodingProblem) -> np.dtype:
    dtype = problem.cross.dtype
    return dtype if np.issubdtype(dtype, np.floating) else np.dtype(np.float64)
