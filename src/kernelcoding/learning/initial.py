"""First dictionaries: combinations of samples, balanced over classes where labels are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from ..atoms import INITIALISERS
from ..dictionary import CombinationDictionary
from ..kernels.base import Kernel
from ..problem import Codes


def initial_loads(
    kernel: Kernel,
    X: NDArray,
    n_atoms: int,
    init: str,
    random_state: np.random.RandomState,
    y: NDArray | None = None,
) -> Codes:
    """The first atoms as combinations of the samples, (n, n_atoms).

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array of shape (n, ...)
        Samples.
    n_atoms : int
    init : {"random", "k-means++", "kernel-k-means"}
    random_state : RandomState
    y : array of shape (n,), default=None
        Class labels: each class then gets its share of the atoms.
    """
    parts = shares(y, n_atoms) if has_classes(y) else [(np.arange(len(X)), n_atoms)]
    loads = sparse.lil_array((len(X), n_atoms))
    done = 0
    for rows, count in parts:
        # Rows of a given matrix are samples whose columns are the same training set.
        samples = X[np.ix_(rows, rows)] if kernel.uses_index else X[rows]
        chosen = INITIALISERS[init](kernel, samples, count, random_state)
        columns = np.arange(done, done + count)
        if isinstance(chosen, CombinationDictionary):
            loads[np.ix_(rows, columns)] = chosen.weights
        else:
            loads[rows[chosen.index], columns] = 1.0
        done += count
    return loads.tocsr()


def has_classes(y: NDArray | None) -> bool:
    """Whether these are labels of classes, one a sample."""
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
