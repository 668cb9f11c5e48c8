r"""Atoms that are points of the input space, for the Gaussian kernel (Gao et al., 2010).

With codes Y, :math:`S = Y^\top Y` and :math:`\kappa` the kernel, atom c alone has the objective

.. math:: f_c(u) = \sum_{t \ne c} S_{ct}\,\kappa(u, u_t) - \sum_i y_{ic}\,\kappa(u, x_i)

whose gradient vanishes at the weighted mean of all :math:`x_i` and :math:`u_t`, with weights taken
at u itself. That fixed point may overshoot, so each step is halved until the objective falls.
Coding a query then costs N kernel values, not one a landmark. :func:`preimages` uses the same step
to show atoms that are not points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..kernels import Gaussian, Linear
from ..problem import Codes

HALVINGS = 8


def move_points(
    points: NDArray, X: NDArray, codes: Codes, gamma: float, sweeps: int = 2
) -> NDArray:
    """Move every point in turn, the codes fixed; the reconstruction error never rises.

    Parameters
    ----------
    points : array of shape (N, d)
    X : array of shape (n, d)
    codes : array or CSR array of shape (n, N)
    gamma : float
        Width of the Gaussian kernel.
    """
    points = np.array(points, dtype=np.float64)
    columns = sparse.csc_array(codes)
    second = np.asarray((columns.T @ columns).todense())
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


def climb(point: NDArray, targets: NDArray, weights: NDArray, gamma: float, steps: int = 1):
    r"""Raise :math:`\sum_i w_i \kappa(u, t_i)` by safeguarded fixed-point steps."""
    for _ in range(steps):
        value, pulls = similarity_sum(point, targets, weights, gamma)
        total = pulls.sum()
        direction = pulls @ targets - total * point
        # Where the weights cancel the fixed point is far away: never further than the data are.
        step = 1.0 / max(abs(total), 1e-3 * np.abs(pulls).sum(), np.finfo(float).tiny)
        for _ in range(HALVINGS):
            candidate = point + step * direction
            if similarity_sum(candidate, targets, weights, gamma)[0] > value:
                point = candidate
                break
            step *= 0.5
        else:
            break
    return point


def similarity_sum(
    point: NDArray, targets: NDArray, weights: NDArray, gamma: float
) -> tuple[float, NDArray]:
    """The weighted sum of kernel values at a point, and its terms."""
    differences = targets - point
    terms = weights * np.exp(-gamma * np.einsum("ij,ij->i", differences, differences))
    return float(terms.sum()), terms


def preimages(weights: NDArray, landmarks: NDArray, gamma: float, steps: int = 100) -> NDArray:
    r"""For each atom :math:`\Phi(Z)a` the point whose image has the largest inner product with it.

    Parameters
    ----------
    weights : array of shape (m, N)
        A.
    landmarks : array of shape (m, d)
        Z.
    gamma : float
        Width of the Gaussian kernel.

    Returns
    -------
    points : array of shape (N, d)
        Local maxima, from the most similar landmark on (Mika et al., 1999).
    """
    from sklearn.metrics.pairwise import rbf_kernel

    landmarks = np.asarray(landmarks, dtype=np.float64)
    similarity = rbf_kernel(landmarks, gamma=gamma) @ weights
    starts = landmarks[similarity.argmax(axis=0)]
    return np.array(
        [climb(start, landmarks, weights[:, j], gamma, steps) for j, start in enumerate(starts)]
    )


def preimages_of(dictionary: Dictionary, steps: int) -> NDArray:
    """Points that show the atoms of any dictionary of vectors, or the most similar landmarks."""
    if isinstance(dictionary, PointDictionary):
        return dictionary.points.copy()
    assert isinstance(dictionary, CombinationDictionary)
    landmarks, weights, kernel = dictionary.landmarks, dictionary.weights, dictionary.kernel
    if kernel.uses_index:
        raise ValueError("A precomputed kernel knows no points: atoms have no pre-images.")
    if isinstance(kernel, Linear):
        return weights.T @ landmarks.points
    if isinstance(kernel, Gaussian):
        return preimages(weights, landmarks.points, float(kernel.gamma), steps)
    norms = np.sqrt(np.maximum(np.diag(landmarks.gram), np.finfo(float).tiny))
    similarity = (landmarks.gram @ weights) / norms[:, None]
    return landmarks.points[similarity.argmax(axis=0)]
