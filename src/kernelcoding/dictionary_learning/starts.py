"""First dictionaries: combinations of samples, balanced over classes where labels are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from ..codes import Codes
from ..dictionary.candidates import Candidates, KnownCandidates
from ..dictionary.choosing import CHOICES, MEANS, cluster_means, named_choice
from ..selection import counting_rows, drawn_rows
from ..stacks import Stack, in_memory
from .frames import Frame, SampleFrame

POOL = 20  # samples looked at for each first atom, where landmarks are few
SMALL = 2000  # and at least so many


def initial_loads(
    candidates: Candidates,
    n_atoms: int,
    init: str,
    random_state: np.random.RandomState,
    y: NDArray | None = None,
) -> Codes:
    """The first atoms as combinations of candidates, (n, n_atoms).

    Parameters
    ----------
    candidates : Candidates
        n samples.
    n_atoms : int
    init : {"k-means++", "random", "leverage", "greedy", "kernel-k-means"}
    random_state : RandomState
    y : array of shape (n,), default=None
        Class labels: each class then gets its share of the atoms.
    """
    init = named_choice(init, "init", means=True)
    choose = CHOICES["k-means++" if init == MEANS else init]
    all_rows = np.arange(len(candidates))
    parts = shares(y, n_atoms) if has_classes(y) else [(all_rows, n_atoms)]
    places: list[tuple[NDArray, NDArray]] = []
    values: list[NDArray] = []
    done = 0
    for rows, count in parts:
        part = candidates if len(rows) == len(candidates) else candidates.take(rows)
        chosen = choose(part, count, random_state)
        if init == MEANS:
            means = cluster_means(part.facts(), chosen, part.sample_weight).tocoo()
            places.append((rows[means.coords[0]], done + means.coords[1]))
            values.append(means.data.astype(np.float64))
        else:
            places.append((rows[chosen], np.arange(done, done + count)))
            values.append(np.ones(count))
        done += count
    where = tuple(np.concatenate(axis) for axis in zip(*places, strict=True))
    shape = len(candidates), n_atoms
    return sparse.csr_array((np.concatenate(values), where), shape=shape)


def first_atoms(
    frame: Frame,
    X: Stack,
    n_atoms: int,
    init: str,
    random_state: np.random.RandomState,
    y: NDArray | None = None,
) -> tuple[NDArray, Codes]:
    """Samples, and how they combine to the first atoms; few are looked at if landmarks are few."""
    kernel = frame.landmarks.kernel
    weight = frame.sample_weight
    rows = counting_rows(len(X), weight)
    if frame.landmarks.n_atoms < len(X):
        rows = drawn_rows(rows, max(POOL * n_atoms, SMALL), random_state)
    weight = None if weight is None else weight[rows]
    labels = np.asarray(y)[rows] if has_classes(y) else None
    if isinstance(frame, SampleFrame):
        matrix = frame.kernel_matrix
        known = matrix if len(rows) == len(matrix) else matrix[np.ix_(rows, rows)]
        candidates: Candidates = KnownCandidates(known, weight)
    else:
        candidates = Candidates(kernel, in_memory(X[rows]), rows, weight)
    loads = initial_loads(candidates, n_atoms, init, random_state, labels)
    used = np.unique(loads.nonzero()[0])
    return rows[used], loads[used]


def has_classes(y: NDArray | None) -> bool:
    """Whether these are labels of classes, one per sample."""
    return y is not None and type_of_target(y) in ("binary", "multiclass")


def shares(y: NDArray | None, n_atoms: int) -> list[tuple[NDArray, int]]:
    """For each class its samples and its number of atoms: equal shares as far as samples allow."""
    labels, members = np.unique(np.asarray(y), return_inverse=True)
    rows = [np.flatnonzero(members == c) for c in range(len(labels))]
    counts = np.zeros(len(labels), dtype=int)
    while counts.sum() < n_atoms:
        open_classes = [c for c in range(len(labels)) if counts[c] < len(rows[c])]
        missing = n_atoms - int(counts.sum())
        each = max(1, missing // len(open_classes))
        for c in open_classes[:missing]:
            counts[c] += min(each, len(rows[c]) - counts[c])
    return [(rows[c], int(counts[c])) for c in range(len(labels)) if counts[c] > 0]
