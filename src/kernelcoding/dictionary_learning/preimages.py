"""Points of the input space that show atoms: pre-images (Mika et al., 1999)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..kernels import Gaussian, Linear
from ..sparse_vectors import SparseVectors

HALVINGS = 8


def climb(
    point: NDArray, targets: NDArray, weights: NDArray, gamma: float, steps: int = 1
) -> NDArray:
    r"""Raise :math:`\sum_i w_i \kappa(u, t_i)` by safeguarded fixed-point steps."""
    for _ in range(steps):
        value, pulls = similarity_sum(point, targets, weights, gamma)
        total = pulls.sum()
        direction = pulls @ (targets - point)  # of differences: data may be far from zero
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
    landmarks = np.asarray(landmarks, dtype=np.float64)
    similarity = Gaussian(gamma)(landmarks) @ weights
    starts = landmarks[similarity.argmax(axis=0)]
    return np.array(
        [climb(start, landmarks, weights[:, j], gamma, steps) for j, start in enumerate(starts)]
    )


def preimages_of(dictionary: Dictionary, steps: int) -> NDArray | sparse.csr_array:
    """Points that show the atoms of any dictionary of vectors, or the most similar landmarks."""
    if isinstance(dictionary, PointDictionary):
        return _shown(dictionary.points.copy())
    assert isinstance(dictionary, CombinationDictionary)
    landmarks, weights, kernel = dictionary.landmarks, dictionary.weights, dictionary.kernel
    if kernel.uses_index:
        raise ValueError("A precomputed kernel knows no points: atoms have no pre-images.")
    if isinstance(kernel, Linear):
        return weights.T @ _shown(landmarks.points)
    if isinstance(kernel, Gaussian):
        if isinstance(landmarks.points, SparseVectors):
            raise ValueError(
                "Pre-images of the Gaussian kernel are means of all landmarks and do not stay "
                "sparse: fit to X.toarray(), if it fits in memory, to see them."
            )
        return preimages(weights, landmarks.points, float(kernel.gamma), steps)
    norms = np.sqrt(np.maximum(np.diag(landmarks.gram), np.finfo(float).tiny))
    similarity = (landmarks.gram @ weights) / norms[:, None]
    return _shown(landmarks.points[similarity.argmax(axis=0)])


def _shown(points: NDArray | SparseVectors) -> NDArray | sparse.csr_array:
    """Points as users know them."""
    return points.tocsr() if isinstance(points, SparseVectors) else points


class PreimagesMixin:
    """The atoms of a learned dictionary, as points."""

    dictionary_: Dictionary

    def preimages(self, n_steps: int = 100) -> NDArray:
        """Points of the input space that show the atoms.

        Exact for the linear kernel and for atoms that are points; for the Gaussian kernel the
        points most similar to the atoms, by fixed-point iteration; for other kernels on vectors
        the most similar landmarks.

        Parameters
        ----------
        n_steps : int, default=100
            Largest number of steps of the fixed-point iteration.

        Returns
        -------
        points : array of shape (n_atoms, n_features)
            One point per atom, in the order of ``dictionary_``.
        """
        check_is_fitted(self, "dictionary_")
        return preimages_of(self.dictionary_, n_steps)
