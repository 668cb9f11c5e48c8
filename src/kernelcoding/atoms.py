"""Choosing the atoms of a first dictionary from samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .dictionary import CombinationDictionary, Dictionary, PointDictionary
from .kernels.base import Kernel

MAX_LLOYD_ROUNDS = 100


def build_dictionary(
    kernel: Kernel,
    X: NDArray,
    atoms: int | NDArray | Dictionary | None,
    init: str,
    random_state: np.random.RandomState,
) -> Dictionary:
    """The dictionary that an estimator's ``atoms`` and ``init`` describe.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array of shape (n, ...)
        Training samples.
    atoms : None, int, array or Dictionary
        Every sample, that many, these points (for a precomputed kernel: these training
        indices), or a dictionary made elsewhere.
    init : {"random", "k-means++", "kernel-k-means"}
        How an integer number of atoms is chosen.
    random_state : RandomState
        Source of random numbers.
    """
    if isinstance(atoms, Dictionary):
        return _fitting(atoms, X)
    if atoms is None:
        return PointDictionary(kernel, X, np.arange(len(X)))
    if isinstance(atoms, (int, np.integer)) and not isinstance(atoms, bool):
        return _chosen(kernel, X, int(atoms), init, random_state)
    return _given(kernel, X, atoms)


def _fitting(dictionary: Dictionary, X: NDArray) -> Dictionary:
    """The dictionary itself, if it can answer for samples like these."""
    try:
        dictionary.cross(X[:1])
    except ValueError as error:
        raise ValueError(f"atoms is a dictionary that the samples do not fit: {error}") from error
    return dictionary


def _given(kernel: Kernel, X: NDArray, atoms) -> PointDictionary:
    points = np.asarray(atoms)
    if points.ndim == 0:
        raise ValueError(
            f"atoms must be None, an integer, an array of points or a Dictionary, got {atoms!r}."
        )
    if kernel.uses_index:
        if points.ndim != 1 or not np.issubdtype(points.dtype, np.integer):
            raise ValueError(
                "With a precomputed kernel, atoms must be an integer, None, or a 1-D array of "
                f"indices of training samples; got an array of shape {points.shape} and type "
                f"{points.dtype}."
            )
        if points.size == 0 or points.min() < 0 or points.max() >= len(X):
            raise ValueError(f"atoms must be indices from 0 to {len(X) - 1}.")
        return PointDictionary(kernel, X[points], points)
    try:
        points = kernel.check(points.astype(X.dtype, copy=False))
    except ValueError as error:
        raise ValueError(f"atoms: {error}") from error
    if len(points) == 0:
        raise ValueError("atoms must hold at least one point, got an empty array.")
    if points.shape[1:] != X.shape[1:]:
        raise ValueError(
            f"atoms have shape {points.shape[1:]} each, but the samples have {X.shape[1:]}."
        )
    return PointDictionary(kernel, points)


def _chosen(
    kernel: Kernel, X: NDArray, n_atoms: int, init: str, random_state: np.random.RandomState
) -> Dictionary:
    if init not in INITIALISERS:
        raise ValueError(f"init must be one of {sorted(INITIALISERS)}, got {init!r}.")
    if not 1 <= n_atoms <= len(X):
        raise ValueError(
            f"atoms={n_atoms} must be at least 1 and at most the number of training samples, "
            f"n_samples={len(X)}."
        )
    return INITIALISERS[init](kernel, X, n_atoms, random_state)


def random_atoms(
    kernel: Kernel, X: NDArray, n_atoms: int, random_state: np.random.RandomState
) -> PointDictionary:
    """Samples drawn without replacement."""
    index = np.sort(random_state.choice(len(X), n_atoms, replace=False))
    return PointDictionary(kernel, X[index], index)


def spread_atoms(
    kernel: Kernel, X: NDArray, n_atoms: int, random_state: np.random.RandomState
) -> PointDictionary:
    """k-means++ in H: each next sample is drawn in proportion to its squared distance."""
    index = spread_indices(kernel, X, n_atoms, random_state)
    return PointDictionary(kernel, X[index], index)


def spread_indices(
    kernel: Kernel, X: NDArray, n_atoms: int, random_state: np.random.RandomState
) -> NDArray:
    """Indices of samples chosen by k-means++ in H."""
    return spread(*similarity_columns(kernel, X), n_atoms, random_state)


def similarity_columns(kernel: Kernel, X: NDArray) -> tuple[NDArray, Callable[[int], NDArray]]:
    """Self-similarities, and a function that gives the similarities of all samples to one."""
    everyone = np.arange(len(X))
    prepared = kernel.prepare(X, everyone)

    def similarity_to(i: int) -> NDArray:
        one = kernel.prepare(X[i : i + 1], everyone[i : i + 1])
        return kernel.between(prepared, one)[:, 0].astype(np.float64)

    return kernel.diagonal_of(prepared), similarity_to


def spread(
    self_similarity: NDArray,
    similarity_to: Callable[[int], NDArray],
    n_atoms: int,
    random_state: np.random.RandomState,
) -> NDArray:
    """k-means++ from similarities: ``similarity_to(i)`` are those of all samples to sample i."""
    self_similarity = self_similarity.astype(np.float64)
    n_samples = len(self_similarity)
    chosen: list[int] = []
    distances = np.ones(n_samples)
    for _ in range(n_atoms):
        total = distances.sum()
        if total > 0:
            weights = distances / total
        else:  # only copies of chosen samples are left: any of those not yet taken
            weights = np.ones(n_samples)
            weights[chosen] = 0.0
            weights /= weights.sum()
        new = int(random_state.choice(n_samples, p=weights))
        chosen.append(new)
        away = self_similarity - 2.0 * similarity_to(new) + self_similarity[new]
        away = np.maximum(away, 0.0)
        distances = away if len(chosen) == 1 else np.minimum(distances, away)
        distances[chosen] = 0.0
    return np.array(chosen)


def centroid_atoms(
    kernel: Kernel, X: NDArray, n_atoms: int, random_state: np.random.RandomState
) -> CombinationDictionary:
    """Kernel k-means: atoms are the means in H of the clusters, combinations of all samples."""
    samples = PointDictionary(kernel, X, np.arange(len(X)))
    starts = spread_indices(kernel, X, n_atoms, random_state)
    return CombinationDictionary(samples, cluster_means(samples.gram, starts))


def cluster_means(gram: NDArray, starts: NDArray) -> NDArray:
    """Lloyd's algorithm on a kernel matrix, from samples as centres: weights of the means."""
    n_atoms = len(starts)
    centres = np.zeros((len(gram), n_atoms), dtype=gram.dtype)
    centres[starts, np.arange(n_atoms)] = 1.0
    labels = np.full(len(gram), -1)
    for _ in range(MAX_LLOYD_ROUNDS):
        cross = gram @ centres
        scores = np.einsum("ij,ij->j", centres, cross) - 2.0 * cross
        new_labels = scores.argmin(axis=1)
        _refill_empty(new_labels, scores.min(axis=1) + np.diag(gram), n_atoms)
        if np.array_equal(new_labels, labels):
            break
        labels = new_labels
        centres = (labels[:, None] == np.arange(n_atoms)).astype(gram.dtype)
        centres /= centres.sum(axis=0)
    return centres


def _refill_empty(labels: NDArray, distances: NDArray, n_atoms: int) -> None:
    """Give each empty cluster the worst represented sample of a cluster that can spare one."""
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_atoms) == 0):
        can_spare = np.bincount(labels, minlength=n_atoms)[labels] > 1
        worst = np.argmax(np.where(can_spare, distances, -np.inf))
        labels[worst] = empty
        distances[worst] = -np.inf


INITIALISERS = {
    "random": random_atoms,
    "k-means++": spread_atoms,
    "kernel-k-means": centroid_atoms,
}
