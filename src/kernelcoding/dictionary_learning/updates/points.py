r"""Atoms that are points of the input space, for the Gaussian kernel (Gao et al., 2010).

With codes Y, :math:`S = Y^\top Y` and :math:`\kappa` the kernel, atom c alone has the objective

.. math:: f_c(u) = \sum_{t \ne c} S_{ct}\,\kappa(u, u_t) - \sum_i y_{ic}\,\kappa(u, x_i)

whose gradient vanishes at the weighted mean of all :math:`x_i` and :math:`u_t`, with weights taken
at u itself. That fixed point may overshoot, so each step is halved until the objective falls.
Coding a query then costs N kernel values, not one per landmark.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...codes import Codes, second_moment, weighted
from ...formulations import Formulation
from ...kernels import Gaussian, Kernel
from ..preimages import climb
from .base import Update


class PointsUpdate(Update):
    """Atoms are moved in the input space; see :class:`~..half_steps.point_learner.PointLearner`."""

    name = "points"
    moves_points = True

    @classmethod
    def check(cls, formulation: Formulation, kernel: Kernel) -> None:
        """Only the Gaussian kernel has this fixed point."""
        if not isinstance(kernel, Gaussian):
            raise ValueError(
                'update="points" is for the Gaussian kernel; use update="auto" for others.'
            )


def move_points(
    points: NDArray,
    X: NDArray,
    codes: Codes,
    gamma: float,
    sweeps: int = 2,
    sample_weight: NDArray | None = None,
) -> NDArray:
    """Move every point in turn, the codes fixed; the reconstruction error never rises.

    Parameters
    ----------
    points : array of shape (N, d)
    X : array of shape (n, d)
    codes : array or CSR array of shape (n, N)
    gamma : float
        Width of the Gaussian kernel.
    sweeps : int, default=2
    sample_weight : array of shape (n,), default=None
    """
    points = np.array(points, dtype=np.float64)
    columns = sparse.csc_array(weighted(codes, sample_weight))
    second = second_moment(codes, sample_weight)
    for _ in range(sweeps):
        for atom in range(len(points)):
            rows = columns.indices[columns.indptr[atom] : columns.indptr[atom + 1]]
            if rows.size == 0:
                continue
            loads = columns.data[columns.indptr[atom] : columns.indptr[atom + 1]]
            partners = np.flatnonzero(second[atom])
            partners = partners[partners != atom]
            targets = np.vstack([X[rows], points[partners]])
            weights = np.concatenate([loads, -second[atom, partners]])
            points[atom] = climb(points[atom], targets, weights, gamma)
    return points
