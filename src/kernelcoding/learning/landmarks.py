"""Choosing landmarks: the few samples whose combinations are to stand for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms import spread_indices
from ..dictionary import PointDictionary
from ..kernels.base import Kernel
from .frames import orthonormal_basis

POOL = 10  # candidates a landmark: more cost time and change little


def choose_landmarks(
    kernel: Kernel,
    X: NDArray,
    n_landmarks: int,
    how: str,
    random_state: np.random.RandomState,
) -> PointDictionary:
    """Landmarks from the samples.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array of shape (n, ...)
        Samples; only those in a random pool of ``10 * n_landmarks`` are looked at.
    n_landmarks : int
    how : {"uniform", "k-means++", "leverage"}
        At random; spread in H; or with probability proportional to ridge leverage scores, which
        favours samples that others do not explain.
    random_state : RandomState
    """
    n_landmarks = min(n_landmarks, len(X))
    size = min(len(X), POOL * n_landmarks)
    pool = np.sort(random_state.choice(len(X), size, replace=False))
    # Rows of a given matrix are samples whose columns are the same training set.
    candidates = X[np.ix_(pool, pool)] if kernel.uses_index else np.asarray(X[pool])
    index = np.sort(pool[CHOICES[how](kernel, candidates, n_landmarks, random_state)])
    return PointDictionary(kernel, np.asarray(X[index]), index)


def given_landmarks(kernel: Kernel, landmarks: Any, X: NDArray) -> PointDictionary:
    """The user's own landmarks, checked against the samples."""
    points = np.asarray(landmarks).astype(X.dtype, copy=False)
    if points.ndim == 0 or len(points) == 0:
        raise ValueError("landmarks must hold at least one point.")
    points = kernel.check(points)
    if points.shape[1:] != X.shape[1:]:
        raise ValueError(
            f"landmarks have shape {points.shape[1:]} each, but the samples have {X.shape[1:]}."
        )
    return PointDictionary(kernel, points)


def uniform(
    kernel: Kernel, X: NDArray, n_landmarks: int, random_state: np.random.RandomState
) -> NDArray:
    """Drawn without replacement."""
    return random_state.choice(len(X), n_landmarks, replace=False)


def leverage(
    kernel: Kernel, X: NDArray, n_landmarks: int, random_state: np.random.RandomState
) -> NDArray:
    r"""Drawn in proportion to ridge leverage scores, estimated on uniform landmarks.

    .. math:: \ell_i = [K(K + \lambda I)^{-1}]_{ii}, \qquad \lambda = \mathrm{tr}(K) / m

    With B an orthonormal basis of the span of the pilot landmarks, f_i the coordinates of sample i
    and :math:`\rho_i` what they miss of its norm, the estimate is
    :math:`f_i^\top(F^\top F + \lambda I)^{-1}f_i + \rho_i / \lambda`.
    """
    pilot_index = np.sort(uniform(kernel, X, n_landmarks, random_state))
    pilot = PointDictionary(kernel, X[pilot_index], pilot_index)
    self_similarity, cross = pilot.similarities(X)
    features = cross.astype(np.float64) @ orthonormal_basis(pilot)
    ridge = float(self_similarity.sum()) / n_landmarks
    inner = features.T @ features + ridge * np.eye(features.shape[1])
    explained = np.einsum("ij,ij->i", features, np.linalg.solve(inner, features.T).T)
    missed = np.maximum(self_similarity - np.einsum("ij,ij->i", features, features), 0.0)
    scores = np.maximum(explained + missed / ridge, 1e-12)
    return random_state.choice(len(X), n_landmarks, replace=False, p=scores / scores.sum())


CHOICES = {"uniform": uniform, "k-means++": spread_indices, "leverage": leverage}
