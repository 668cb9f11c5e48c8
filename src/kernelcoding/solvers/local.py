"""Approximate locality-constrained coding: few nearest atoms, one small linear system a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem import Codes
from .layout import plain, scatter
from .parallel import map_rows


def solve(
    self_similarity: NDArray,
    neighbours: NDArray,
    cross_at_neighbours: NDArray,
    gram: NDArray,
    regularization: float,
    n_jobs: int | None = None,
    sparse_output: bool = False,
    trace: NDArray | None = None,
) -> Codes:
    r"""Codes of approximate kernel LLC: affine least squares on given atoms.

    .. math:: \min_y \; y^\top (C + \beta\,\mathrm{tr}(C) I) y \quad\text{subject to}\quad
              1^\top y = 1, \qquad C = K_B - k 1^\top - 1 k^\top + k(x, x) 1 1^\top

    solved as :math:`(C + \beta\,\mathrm{tr}(C) I) w = 1`, :math:`y = w / 1^\top w`.

    Parameters
    ----------
    self_similarity : (n,) array
    neighbours : (n, m) array of int
        The atoms each sample may use, no atom twice in a row.
    cross_at_neighbours : (n, m) array
        Kernel values of the samples and these atoms.
    gram : (N, N) array
        Kernel values of all atoms.
    regularization : float
        The ridge :math:`\beta`, relative to the trace of C.
    n_jobs : int, optional
        Threads over rows.
    sparse_output : bool
        Codes as a CSR array instead of a dense one.
    trace : (n,) array, optional
        What the ridge is relative to, where not the trace of C.

    Returns
    -------
    codes : (n, N) array or CSR array

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

    dtype = np.result_type(cross_at_neighbours, gram, np.float32)
    self_similarity = plain(self_similarity, dtype)
    neighbours = plain(neighbours, np.intp)
    cross = plain(cross_at_neighbours, dtype)
    gram = plain(gram, dtype)
    eps, ridge = float(np.finfo(dtype).eps), float(regularization)
    weights = np.empty(neighbours.shape, dtype)
    traces = np.full(len(neighbours), -1.0) if trace is None else plain(trace, np.float64)

    def code(rows: slice) -> None:
        samples = self_similarity[rows], neighbours[rows], cross[rows]
        affine_codes(*samples, gram, ridge, traces[rows], eps, weights[rows])

    map_rows(code, neighbours.shape[0], n_jobs, chunk=256)
    return scatter(weights, neighbours, gram.shape[0], sparse_output)
