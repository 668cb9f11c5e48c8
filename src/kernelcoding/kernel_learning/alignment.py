"""Weights of several kernels by centred alignment with labels (Cortes, Mohri and Rostamizadeh)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import nnls


def aligned_weights(matrices: Sequence[NDArray], y: Any) -> NDArray:
    r"""Weights, none negative and summing to one, that align the sum best with the labels.

    .. math:: \max_{w \ge 0} \frac{\langle\sum_k w_k \bar K_k, T\rangle}
              {\|\sum_k w_k \bar K_k\|}

    with :math:`\bar K` centred in H and T the centred matrix of equal labels. The maximiser is, up
    to its scale, the solution of a non-negative least squares problem.

    Parameters
    ----------
    matrices : sequence of arrays of shape (n, n)
        Kernel matrices of the training samples.
    y : array of shape (n,)
        Class labels.
    """
    from sklearn.preprocessing import LabelBinarizer

    targets = LabelBinarizer(neg_label=0, pos_label=1).fit_transform(y).astype(np.float64)
    if targets.shape[1] == 1:
        targets = np.hstack([1.0 - targets, targets])
    centred = [centre(np.asarray(matrix, np.float64)) for matrix in matrices]
    # Compared at equal norm: weights must not depend on how a kernel is scaled.
    norms = np.array([max(np.linalg.norm(matrix), 1e-300) for matrix in centred])
    products = np.array([[np.vdot(a, b) for b in centred] for a in centred])
    products /= norms * norms[:, None]
    fits = np.array([np.vdot(targets, matrix @ targets) for matrix in centred]) / norms
    values, vectors = eigh(products)
    root = vectors * np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    weights = nnls(root.T, np.linalg.solve(root, fits))[0] / norms
    if not weights.any():
        raise ValueError("No kernel is aligned with the labels: all weights would be zero.")
    return weights / weights.sum()


def centre(matrix: NDArray) -> NDArray:
    """The kernel matrix of samples seen from their mean in H."""
    matrix = matrix - matrix.mean(axis=0)
    return matrix - matrix.mean(axis=1, keepdims=True)
