"""The seam: three arrays. Beyond this file nobody sees a sample or a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, row_sums, times
from .gram import GramFacts
from .selection import smallest


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest atoms of n samples, nearest first."""

    indices: NDArray  # (n, m)
    cross: NDArray  # (n, m)  k(x_i, d_j) at those atoms
    self_similarity: NDArray  # (n,)
    # (n,) sum of squared distances that ridges are relative to, where not those of these numbers
    trace: NDArray | None = None


class CodingProblem:
    r"""n independent coding problems that share one dictionary of N atoms.

    .. math:: \tfrac12\|\phi(x_i) - \Phi(D) y_i\|^2
              = \tfrac12 k(x_i, x_i) - k_i^\top y_i + \tfrac12 y_i^\top K y_i

    Codes are rows: ``(n, N)``, a dense array or a CSR array. Problems are values: nobody changes
    their arrays.

    Parameters
    ----------
    self_similarity : array of shape (n,)
        :math:`k(x_i, x_i)`.
    cross : array of shape (n, N)
        :math:`k(x_i, d_j)`.
    gram : array of shape (N, N)
        :math:`k(d_i, d_j)`.
    facts : GramFacts, default=None
        What is known of the Gram matrix already, where a dictionary keeps it.
    geometry : CodingProblem, default=None
        Whose distances priors look at, where not this problem's: labels added to a problem must
        not bring atoms nearer.
    """

    def __init__(
        self,
        self_similarity: NDArray,
        cross: NDArray,
        gram: NDArray,
        facts: GramFacts | None = None,
        geometry: CodingProblem | None = None,
    ):
        # Compiled code trusts these shapes; a model from a file need not keep its promises.
        n, n_atoms = cross.shape
        if gram.shape != (n_atoms, n_atoms) or self_similarity.shape != (n,):
            raise ValueError(
                f"Similarities of {n} samples and {n_atoms} atoms do not go with a Gram matrix of "
                f"shape {gram.shape} and {self_similarity.shape} self-similarities."
            )
        self._known = (self_similarity, cross)
        self.gram = gram
        self.facts = GramFacts(gram) if facts is None else facts
        self.geometry = geometry
        self.n_samples = n

    def _similarities(self) -> tuple[NDArray, NDArray]:
        """Self-similarities and cross-similarities; a dictionary may compute them on demand."""
        return self._known

    @property
    def self_similarity(self) -> NDArray:
        """``k(x_i, x_i)``, (n,)."""
        return self._similarities()[0]

    @property
    def cross(self) -> NDArray:
        """``k(x_i, d_j)``, (n, N)."""
        return self._similarities()[1]

    @property
    def n_atoms(self) -> int:
        """Number of atoms in the dictionary."""
        return self.gram.shape[0]

    def take(self, rows: NDArray | slice) -> CodingProblem:
        """The same dictionary with fewer samples."""
        geometry = None if self.geometry is None else self.geometry.take(rows)
        own, cross = self._similarities()
        return CodingProblem(own[rows], cross[rows], self.gram, self.facts, geometry)

    def for_atoms(self, atoms: NDArray) -> CodingProblem:
        """The same samples with some of the atoms."""
        if np.array_equal(atoms, np.arange(self.n_atoms)):
            return self
        geometry = None if self.geometry is None else self.geometry.for_atoms(atoms)
        gram = self.gram[np.ix_(atoms, atoms)]
        return CodingProblem(self.self_similarity, self.cross[:, atoms], gram, geometry=geometry)

    def astype(self, dtype: type) -> CodingProblem:
        """The same problem in another precision; itself where it has that precision."""
        own, cross = self._similarities()
        if own.dtype == cross.dtype == self.gram.dtype == dtype:
            return self
        gram = self.facts.double if dtype is np.float64 else np.asarray(self.gram, dtype)
        return CodingProblem(
            np.asarray(own, dtype), np.asarray(cross, dtype), gram, self.facts, self.geometry
        )

    def correlation(self, codes: Codes) -> NDArray:
        r"""Inner products of atoms and residuals, :math:`k - K y`: minus the gradient, (n, N)."""
        return self.cross - times(codes, self.gram)

    def squared_distances(self) -> NDArray:
        r"""Squared distances in H from samples to atoms that priors look at, (n, N)."""
        problem = self if self.geometry is None else self.geometry
        return problem.single_atom_errors()

    def single_atom_errors(self) -> NDArray:
        """Squared error of coding each sample by each atom alone, with weight one, (n, N)."""
        errors = self.self_similarity[:, None] - 2.0 * self.cross + np.diag(self.gram)
        return np.maximum(errors, 0.0, out=errors)

    def squared_error(self, codes: Codes) -> NDArray:
        r"""Squared reconstruction error :math:`\|\phi(x) - \Phi(D) y\|^2`, (n,), never negative."""
        inner = self.cross + self.correlation(codes)
        return np.maximum(self.self_similarity - row_sums(codes, inner), 0.0)

    def nearest(self, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample, by distances that priors look at."""
        own, cross = self._similarities()
        if self.geometry is None:
            indices = smallest(np.diag(self.gram) - 2.0 * cross, n_neighbors)
            return Neighbours(indices, np.take_along_axis(cross, indices, axis=1), own)
        distances = self.squared_distances()
        indices = smallest(distances, n_neighbors)
        trace = np.take_along_axis(distances, indices, axis=1).sum(axis=1)
        return Neighbours(indices, np.take_along_axis(cross, indices, axis=1), own, trace)
