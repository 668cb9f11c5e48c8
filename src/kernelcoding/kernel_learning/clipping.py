"""Indefinite kernels while they are learned: clip the spectrum, and differentiate through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..dictionary.points import INDEFINITE
from ..long_calls import eigh


class Clipping:
    """The projection of atoms and samples on the positive part of the atoms' spectrum.

    The same rule as in :class:`~kernelcoding.dictionary.PointDictionary`: eigenvalues up to a
    cutoff are dropped, and k(x, x) is raised to what the projection of the sample implies.

    Parameters
    ----------
    among : array of shape (N, N)
        Similarities of the atoms.
    between : array of shape (n, N)
        Similarities of samples and atoms.
    own : array of shape (n,)
        k(x, x).
    """

    def __init__(self, among: NDArray, between: NDArray, own: NDArray):
        self.given = (among, between, own)
        self.is_needed = not is_definite(among)
        if not self.is_needed:
            return
        self.values, self.vectors = eigh(among, driver="evd")
        cutoff = INDEFINITE * self.values[-1]
        self.is_needed = bool(self.values[0] < -cutoff)
        self.keep = self.values > cutoff

    def apply(self) -> tuple[NDArray, NDArray, NDArray]:
        """Atoms among themselves, samples and atoms, and k(x, x), clipped where needed."""
        among, between, own = self.given
        if not self.is_needed:
            return among, between, own
        kept = self.vectors[:, self.keep]
        among, between = (kept * self.values[self.keep]) @ kept.T, (between @ kept) @ kept.T
        self.solved = (between @ kept / self.values[self.keep]) @ kept.T  # K^+ k, row by row
        least = np.einsum("ij,ij->i", self.solved, between)
        self.raised = least > own
        return 0.5 * (among + among.T), between, np.maximum(own, least)

    def pull_back(
        self, d_among: NDArray, d_between: NDArray, d_own: NDArray
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Derivatives in the clipped arrays become derivatives in the given ones.

        The kept eigenspace turns with the matrix: divided differences of the functions "positive
        part" and "is kept" at pairs of eigenvalues say how.
        """
        if not self.is_needed:
            return d_among, d_between, d_own
        values, vectors, keep = self.values, self.vectors, self.keep
        lifted = np.where(self.raised, d_own, 0.0)
        d_own = np.where(self.raised, 0.0, d_own)
        d_between = d_between + 2.0 * lifted[:, None] * self.solved
        d_among = d_among - self.solved.T @ (lifted[:, None] * self.solved)
        gaps = values[:, None] - values
        equal = np.abs(gaps) < 1e-12 * np.abs(values).max()
        gaps[equal] = 1.0
        kept = keep.astype(float)
        positive = np.where(keep, values, 0.0)
        of_part = np.where(equal, kept[:, None], (positive[:, None] - positive) / gaps)
        of_projector = np.where(equal, 0.0, (kept[:, None] - kept) / gaps)
        inner = vectors.T @ d_among @ vectors
        outer = (self.given[1] @ vectors).T @ (d_between @ vectors)  # few rows: cheap
        turned = of_part * inner + of_projector * outer
        d_among = vectors @ (0.5 * (turned + turned.T)) @ vectors.T
        return d_among, (d_between @ vectors[:, keep]) @ vectors[:, keep].T, d_own


def is_definite(matrix: NDArray) -> bool:
    """Whether no eigenvalue is below the cutoff; False also where one factor cannot tell.

    A Cholesky factor costs a tenth of a spectrum.
    """
    vector = np.ones(len(matrix)) / np.sqrt(len(matrix))
    for _ in range(3):  # a lower bound of the largest eigenvalue makes the test stricter
        vector = matrix @ vector
        largest = float(np.linalg.norm(vector))
        if not largest > 0.0:
            return False
        vector /= largest
    shifted = matrix.copy()
    shifted[np.diag_indices_from(shifted)] += INDEFINITE * largest
    return linalg.lapack.dpotrf(shifted, overwrite_a=True, clean=False)[1] == 0
