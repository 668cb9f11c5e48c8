"""Stacks of symmetric positive definite matrices: checks, logarithms, and their mean.

A sample is a matrix, (n, p, p), or several of one size, (n, b, p, p): one per band.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from .checks import as_floats, require_finite, tolerance

__all__ = [
    "affine_mean",
    "check_symmetric",
    "cholesky_logdets",
    "inverse_root",
    "log_vectors",
    "refuse",
]

MEAN_ROUNDS, MEAN_TOL = 200, 1e-10


def check_symmetric(X: ArrayLike, owner: str) -> NDArray:
    """Return X as a finite stack of symmetric matrices."""
    matrices = as_floats(X, owner)
    if matrices.ndim not in (3, 4):
        hint = " For one sample use X[np.newaxis]." if matrices.ndim == 2 else ""
        raise ValueError(
            f"{owner} expected samples of shape (n, p, p), or (n, b, p, p) for several bands, got "
            f"{matrices.shape}.{hint}"
        )
    require_finite(matrices, owner)
    matrices = np.ascontiguousarray(matrices)
    if matrices.shape[-2] != matrices.shape[-1]:
        raise ValueError(
            f"{owner} expected square matrices (n, p, p), got shape {matrices.shape}; make "
            "covariances of signals (n, channels, times) by np.array([np.cov(x) for x in X])."
        )
    axes = tuple(range(1, matrices.ndim))
    size = np.abs(matrices).max(axis=axes, initial=0.0)
    skew = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(axis=axes, initial=0.0)
    if (skew > tolerance(matrices) * size).any():
        raise ValueError(
            f"{owner} expected symmetric matrices, sample {int(np.argmax(skew))} differs from its "
            f"transpose by {skew.max():.3g}; use (X + np.swapaxes(X, -1, -2)) / 2."
        )
    return matrices


def cholesky_logdets(matrices: NDArray, owner: str) -> NDArray:
    """Logarithms of determinants in float64, summed over bands, (n,); raises unless all are SPD."""
    wide = matrices.astype(np.float64, copy=False)
    try:
        factors = np.linalg.cholesky(wide)
    except np.linalg.LinAlgError:
        refuse(np.linalg.eigvalsh(wide), owner)
    logs = np.log(np.diagonal(factors, axis1=-2, axis2=-1))
    return 2.0 * logs.sum(axis=tuple(range(1, logs.ndim)))


def refuse(eigenvalues: NDArray, owner: str) -> NoReturn:
    """Raise for the sample whose smallest eigenvalue is lowest."""
    smallest = eigenvalues.reshape(len(eigenvalues), -1).min(axis=1)
    raise ValueError(
        f"{owner} expected positive definite matrices, sample {int(np.argmin(smallest))} has "
        f"smallest eigenvalue {smallest.min():.3g}; add a small ridge, such as "
        "1e-4 * trace / p on the diagonal."
    )


def applied(function: Callable[[NDArray], NDArray], matrices: NDArray, owner: str) -> NDArray:
    """A function of the eigenvalues of positive definite matrices, in float64."""
    values, vectors = np.linalg.eigh(matrices.astype(np.float64, copy=False))
    if values.size and values.min() <= 0:
        refuse(values, owner)
    return (vectors * function(values)[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)


def log_vectors(matrices: NDArray, owner: str) -> NDArray:
    """Matrix logarithms as vectors whose Euclidean norm is the Frobenius norm, shape (n, d).

    Upper triangles with off-diagonal entries times sqrt(2), the bands one after the other.
    """
    logs = applied(np.log, matrices, owner)
    rows, columns = np.triu_indices(matrices.shape[-1])
    triangles = logs[..., rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    width = int(np.prod(triangles.shape[1:]))
    return triangles.reshape(len(triangles), width).astype(matrices.dtype, copy=False)


def inverse_root(matrix: NDArray, owner: str) -> NDArray:
    """The symmetric inverse square root of (p, p), or of each of (b, p, p)."""
    return applied(lambda values: 1.0 / np.sqrt(values), matrix, owner)


def affine_mean(matrices: NDArray, owner: str) -> NDArray:
    r"""The affine-invariant (Karcher) mean of each band, shape (p, p) or (b, p, p).

    It is where the mean of :math:`\log(M^{-1/2} X_i M^{-1/2})` is zero. A gradient descent from the
    log-Euclidean mean, whose steps are shortened where they went too far; a ConvergenceWarning
    where it does not get there.
    """
    if matrices.ndim == 4:
        bands = [affine_mean(matrices[:, b], owner) for b in range(matrices.shape[1])]
        return np.stack(bands)
    mean = _exponential(applied(np.log, matrices, owner).mean(axis=0))
    step, before = 1.0, np.inf
    for _ in range(MEAN_ROUNDS):
        root = applied(np.sqrt, mean[np.newaxis], owner)[0]
        inverse = np.linalg.inv(root)
        inside = inverse @ matrices @ inverse
        tangent = applied(np.log, 0.5 * (inside + np.swapaxes(inside, -1, -2)), owner).mean(axis=0)
        size = float(np.linalg.norm(tangent))
        if size <= MEAN_TOL * np.sqrt(len(mean)):
            return mean
        step *= 0.5 if step * size > before else 1.0
        before = step * size
        mean = root @ _exponential(step * tangent) @ root
        mean = 0.5 * (mean + mean.T)
    warnings.warn(
        f"{owner}: the affine-invariant mean was not found to {MEAN_TOL:g} in {MEAN_ROUNDS} "
        f"rounds; the mean tangent vector has norm {size:.3g}. The kernel is valid at any "
        "reference; rescale the matrices for a better one.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return mean


def _exponential(symmetric: NDArray) -> NDArray:
    values, vectors = np.linalg.eigh(symmetric)
    return (vectors * np.exp(values)) @ vectors.T
