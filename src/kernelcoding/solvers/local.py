"""Approximate locality-constrained coding: one small linear system per sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..parallel import map_rows
from ..problem import CodingProblem, Neighbours
from .layout import plain, scatter
from .result import CodingResult, Options


def solve(
    near: Neighbours, problem: CodingProblem, regularization: float, options: Options
) -> CodingResult:
    r"""Codes of approximate kernel LLC: affine least squares on given atoms.

    .. math:: \min_y \; y^\top (C + \beta\,\mathrm{tr}(C) I) y \quad\text{subject to}\quad
              1^\top y = 1, \qquad C = K_B - k 1^\top - 1 k^\top + k(x, x) 1 1^\top

    solved as :math:`(C + \beta\,\mathrm{tr}(C) I) w = 1`, :math:`y = w / 1^\top w`.

    Parameters
    ----------
    near : Neighbours
        The atoms each sample may use, no atom twice in a row.
    problem : CodingProblem
        Knows the inner products of atoms.
    regularization : float
        The ridge :math:`\beta`, relative to the trace of C (to ``near.trace`` where given).
    options : Options

    Returns
    -------
    CodingResult

    Notes
    -----
    The paper prints ``(K - k 1') y = 1`` divided by the l1 norm, which breaks :math:`1^\top y = 1`
    as soon as a weight is negative; this is the symmetric form of Wang et al. (2010) in H.

    C is known up to the rounding of the kernel values, ``4 m eps max(k(x, x), K_jj)``. A sample
    whose trace is below that coincides with all its neighbours: its code is one at the nearest.
    Where :math:`\beta` leaves a pivot below that, the ridge of this sample is raised to it, so that
    :math:`\beta = 0` gives a minimiser of :math:`y^\top C y` up to rounding, even for singular C.
    """
    from .._compiled.local import affine_codes

    dtype = np.result_type(near.cross, np.float32)
    self_similarity = plain(near.self_similarity, dtype)
    neighbours = plain(near.indices, np.intp)
    cross = plain(near.cross, dtype)
    eps, ridge = float(np.finfo(dtype).eps), float(regularization)
    weights = np.empty(neighbours.shape, dtype)
    # A negative trace asks compiled code for the trace of C itself.
    trace = np.full(len(neighbours), -1.0) if near.trace is None else near.trace
    traces = plain(trace, np.float64)

    def code(some: slice, places: NDArray, gram: NDArray) -> None:
        def run(rows: slice) -> None:
            known = own[rows], places[rows], similarity[rows]
            affine_codes(*known, gram, ridge, trace_of[rows], eps, out[rows])

        own, similarity = self_similarity[some], cross[some]
        trace_of, out = traces[some], weights[some]
        map_rows(run, len(own), options.n_jobs, chunk=256, cost=100 + neighbours.shape[1] ** 3)

    for some, places, gram in problem.parts(neighbours):
        code(some, plain(places, np.intp), plain(gram, dtype))
    codes = scatter(weights, neighbours, problem.n_atoms, options.sparse_output)
    return CodingResult.closed_form(codes)
