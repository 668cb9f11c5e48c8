"""The dictionary, or the landmarks, that an estimator's parameters describe."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.base import Kernel
from ..memory import announce, memory_advice, within_budget
from ..selection import counting_rows
from ..stacks import Stack, as_points, in_memory, precision, require_alike, with_type
from ..views import Views
from .base import Dictionary
from .candidates import Candidates
from .choosing import CHOICES, MEANS, cluster_means, named_choice
from .combinations import CombinationDictionary
from .point_gram import FEWER_ATOMS, gram_size, is_small
from .points import PointDictionary

EIGEN_COPIES = 3  # that clipping the spectrum of an indefinite kernel takes beside the Gram matrix
POOL = 10  # candidates per landmark: more cost time and change little


def build_dictionary(
    kernel: Kernel,
    X: Stack,
    atoms: int | ArrayLike | Dictionary | None,
    init: str,
    random_state: np.random.RandomState,
    whole: bool = True,
    by_parts: bool = False,
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
    init : {"k-means++", "random", "leverage", "greedy", "kernel-k-means"}
        How an integer number of atoms is chosen.
    random_state : RandomState
        Source of random numbers.
    whole : bool, default=True
        Whether the whole Gram matrix will be needed: it is computed here, then, so that what is
        wrong with it is heard of at once. A small one is in any case.
    by_parts : bool, default=False
        Whether parts of it will do where the whole is beyond the memory budget.
    """
    if isinstance(atoms, Dictionary):
        return _fitting(atoms, X)
    count = _compared(kernel, X, atoms, init)
    # A given matrix is there already; whether it is definite is asked of some atoms, then.
    by_parts = by_parts and (bool(kernel.is_positive_definite) or kernel.uses_index)
    needed = whole or not kernel.is_positive_definite
    if needed and not by_parts:
        whole = True
    else:
        fits = within_budget(gram_size(kernel, count, precision(X)))
        whole = (needed or is_small(count)) and fits
    if whole:
        announce(*_gram_matrix(kernel, X, atoms, count), FEWER_ATOMS, stacklevel=4)
    with memory_advice(FEWER_ATOMS):
        dictionary = _built(kernel, X, atoms, init, random_state)
        return dictionary if not whole else _with_gram(dictionary)


def _with_gram(dictionary: Dictionary) -> Dictionary:
    """The dictionary, its Gram matrix computed."""
    _ = dictionary.gram
    return dictionary


def _built(
    kernel: Kernel,
    X: Stack,
    atoms: int | ArrayLike | None,
    init: str,
    random_state: np.random.RandomState,
) -> Dictionary:
    if atoms is None:
        return PointDictionary(kernel, X, np.arange(len(X)))
    if isinstance(atoms, (int, np.integer)) and not isinstance(atoms, bool):
        return _chosen(kernel, X, int(atoms), init, random_state)
    return _given(kernel, X, atoms)


def _compared(kernel: Kernel, X: Stack, atoms: int | ArrayLike | None, init: str) -> int:
    """How many points are compared with each other, all at once."""
    if atoms is None:
        return len(X)
    if isinstance(atoms, (int, np.integer)):
        # The means of clusters look at all samples: by parts, where the whole is too large.
        fits = within_budget(gram_size(kernel, len(X), precision(X)))
        every = init == MEANS and (fits or not kernel.is_positive_definite)
        return len(X) if every else min(max(int(atoms), 0), len(X))
    points = as_points(atoms, X)
    stacked = isinstance(points, Views) or points.ndim > 0  # what is no stack is refused later
    return len(points) if stacked else 0


def _gram_matrix(
    kernel: Kernel, X: Stack, atoms: int | ArrayLike | None, count: int
) -> tuple[float, str]:
    """Bytes that the Gram matrix takes while it is computed, and its name."""
    needed = gram_size(kernel, count, precision(X))
    if not kernel.is_positive_definite:
        needed += float(count) ** 2 * EIGEN_COPIES * precision(X).itemsize
    of_all = " (atoms=None: every sample is an atom)" if atoms is None else ""
    return needed, f"The Gram matrix of {count} atoms{of_all}"


def _fitting(dictionary: Dictionary, X: Stack) -> Dictionary:
    """The dictionary itself, if it can answer for samples like these."""
    try:
        dictionary.cross(X[:1])
    except ValueError as error:
        raise ValueError(f"atoms is a dictionary that the samples do not fit: {error}") from error
    return dictionary


def _given(kernel: Kernel, X: Stack, atoms: ArrayLike) -> PointDictionary:
    points = as_points(atoms, X)
    if not isinstance(points, Views) and points.ndim == 0:
        raise ValueError(
            f"atoms must be None, an integer, an array of points or a Dictionary, got {atoms!r}."
        )
    if kernel.uses_index:
        points = np.arange(0.0) if isinstance(points, Views) else points
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
        points = kernel.check(with_type(points, precision(X)))
    except ValueError as error:
        raise ValueError(f"atoms: {error}") from error
    if len(points) == 0:
        raise ValueError("atoms must hold at least one point, got an empty array.")
    require_alike("atoms", points, X)
    return PointDictionary(kernel, points)


def _chosen(
    kernel: Kernel, X: Stack, n_atoms: int, init: str, random_state: np.random.RandomState
) -> Dictionary:
    init = named_choice(init, "init", means=True)
    if not 1 <= n_atoms <= len(X):
        raise ValueError(
            f"atoms={n_atoms} must be at least 1 and at most the number of training samples, "
            f"n_samples={len(X)}."
        )
    candidates = Candidates(kernel, X)
    index = CHOICES["k-means++" if init == MEANS else init](candidates, n_atoms, random_state)
    if init != MEANS:
        return PointDictionary(kernel, X[index], index)
    samples = PointDictionary(kernel, X, np.arange(len(X)))
    return CombinationDictionary(samples, cluster_means(samples.facts, index).toarray())


def choose_landmarks(
    kernel: Kernel,
    X: Stack,
    n_landmarks: int,
    choice: str,
    random_state: np.random.RandomState,
    n_candidates: int | None = None,
    sample_weight: NDArray | None = None,
) -> PointDictionary:
    """Landmarks from the samples.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : stack of n samples, or Blocks
        Only those in a random pool are looked at.
    n_landmarks : int
    choice : {"k-means++", "random", "leverage", "greedy"}
    random_state : RandomState
    n_candidates : int, default=None
        Size of the pool; None is ``10 * n_landmarks``.
    sample_weight : array of shape (n,), default=None
        Weights of samples; those of weight zero are not looked at.
    """
    n_samples = X.shape[0]
    rows = counting_rows(n_samples, sample_weight)
    n_landmarks = min(n_landmarks, len(rows))
    size = min(len(rows), max(n_candidates or POOL * n_landmarks, n_landmarks))
    pool = np.sort(rows[random_state.choice(len(rows), size, replace=False)])
    weight = None if sample_weight is None else sample_weight[pool]
    candidates = Candidates(kernel, in_memory(X[pool]), pool, weight)
    chosen = np.sort(CHOICES[choice](candidates, n_landmarks, random_state))
    return PointDictionary(kernel, candidates.X[chosen], pool[chosen])


def given_landmarks(kernel: Kernel, landmarks: ArrayLike, X: Stack) -> PointDictionary:
    """The user's own landmarks, checked against the samples."""
    if kernel.uses_index:
        raise ValueError(
            "landmarks cannot be points where similarities come as a matrix, which compares the "
            "training samples alone: give their number by n_landmarks, and a choice by name, such "
            'as landmarks="k-means++".'
        )
    points = with_type(as_points(landmarks, X), precision(X))
    if (not isinstance(points, Views) and points.ndim == 0) or len(points) == 0:
        raise ValueError("landmarks must hold at least one point.")
    points = kernel.check(points)
    require_alike("landmarks", points, X)
    return PointDictionary(kernel, points)
