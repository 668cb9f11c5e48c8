"""Atoms that no sample uses, or that exist twice, give way to the worst represented samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...blocks import Worst
from ...codes import Codes, is_csr
from ..frames import Frame

# Two atoms are one if their squared distance is below this part of the mean over all pairs. A bound
# on the cosine would not do: with a wide kernel all atoms point the same way.
TWINS = 1e-4


def unused(usage: NDArray) -> NDArray:
    """Atoms that no sample uses."""
    return np.flatnonzero(usage == 0)


def twins(gram: NDArray, usage: NDArray, signed: bool) -> list[tuple[int, int, float]]:
    """Pairs (kept, given up, sign): the second is the first, or its opposite, and used less.

    Parameters
    ----------
    gram : array of shape (N, N)
        Inner products of the atoms.
    usage : array of shape (N,)
        How many samples use each.
    signed : bool
        Whether opposites count: codes may then change sign.
    """
    norms = np.diag(gram)
    distances = norms + norms[:, None] - 2.0 * gram
    typical = distances.sum() / max(len(gram) * (len(gram) - 1), 1)
    least = norms + norms[:, None] - 2.0 * np.abs(gram) if signed else distances
    near = np.triu(least < TWINS * typical, 1)
    pairs: list[tuple[int, int, float]] = []
    gone: set[int] = set()
    for i, j in np.argwhere(near):
        if i in gone or j in gone:
            continue
        kept, given_up = (i, j) if usage[i] >= usage[j] else (j, i)
        gone.add(int(given_up))
        sign = -1.0 if signed and gram[i, j] < 0 else 1.0
        pairs.append((int(kept), int(given_up), sign))
    return pairs


def merge(codes: Codes, pairs: list[tuple[int, int, float]]) -> Codes:
    """Move the codes of given-up atoms to their twins."""
    moved = sparse.lil_array((codes.shape[1], codes.shape[1]))
    moved.setdiag(1.0)
    for kept, given_up, sign in pairs:
        moved[given_up, given_up] = 0.0
        moved[given_up, kept] = sign
    merged = codes @ moved.tocsr()
    if is_csr(merged):
        merged = sparse.csr_array(merged)
        merged.eliminate_zeros()
        merged.sort_indices()
    return merged


def replace_atoms(
    frame: Frame, vectors: NDArray, atoms: NDArray, worst: Worst, bounded: bool
) -> tuple[NDArray, NDArray]:
    """Put the worst represented samples in place of atoms; returns also which were replaced.

    Fewer are replaced than asked for where no badly represented samples are left.
    """
    least = 1e-12 * max(float(worst.errors.max(initial=0.0)), 1e-300)
    count = min(len(atoms), int(np.count_nonzero(worst.errors > least)))
    if count == 0:
        return vectors, atoms[:0]
    new = frame.worst(worst, count)
    norms = np.sqrt(frame.squares(new))
    new, atoms, norms = new[:, norms > 0], atoms[:count][norms > 0], norms[norms > 0]
    vectors = vectors.copy(order="F")
    vectors[:, atoms] = new / norms if bounded else new
    return vectors, atoms
