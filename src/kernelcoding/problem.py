"""The seam: three arrays. Beyond this file nobody sees a sample or a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, columns_used, dense, explained, row_sums, times
from .gram import TILE, GramFacts
from .selection import smallest

# Atoms whose inner products are computed together where there is no Gram matrix: more cost
# more than they share, fewer cost more calls.
TOGETHER = 160


class Comparison(NamedTuple):
    """Samples and then atoms beside any atoms, and how far values may be off."""

    sample_errors: NDArray  # (n,)
    atom_errors: NDArray  # (u,)
    # Some of the n + u rows, and t atoms: (r, t) similarities, which the next call may write over.
    between: Callable[[slice, NDArray], NDArray]


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
    gram : array of shape (N, N), default=None
        :math:`k(d_i, d_j)`; None where ``facts`` compute it when it is asked for.
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
        gram: NDArray | None = None,
        facts: GramFacts | None = None,
        geometry: CodingProblem | None = None,
    ):
        if facts is None:
            assert gram is not None
            facts = GramFacts(gram)
        # Compiled code trusts these shapes; a model from a file need not keep its promises.
        n, n_atoms = cross.shape
        shape = (facts.n_atoms,) * 2 if gram is None else gram.shape
        if shape != (n_atoms, n_atoms) or self_similarity.shape != (n,):
            raise ValueError(
                f"Similarities of {n} samples and {n_atoms} atoms do not go with a Gram matrix of "
                f"shape {shape} and {self_similarity.shape} self-similarities."
            )
        self._known = (self_similarity, cross)
        self._gram = gram
        self.facts = facts
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
    def gram(self) -> NDArray:
        """``k(d_i, d_j)``, (N, N); a dictionary may compute it on demand."""
        if self._gram is not None:
            return self._gram
        # In single precision similarities may have been made double: then so is this.
        double = self.facts.dtype != np.float64 and self._similarities()[1].dtype == np.float64
        return self.facts.double if double else self.facts.gram

    @property
    def squares(self) -> NDArray:
        """Squared norms of the atoms, (N,)."""
        return self.facts.squares if self._gram is None else np.diag(self._gram)

    @property
    def n_atoms(self) -> int:
        """Number of atoms in the dictionary."""
        return self.facts.n_atoms

    def take(self, rows: NDArray | slice) -> CodingProblem:
        """The same dictionary with fewer samples."""
        geometry = None if self.geometry is None else self.geometry.take(rows)
        own, cross = self._similarities()
        return CodingProblem(own[rows], cross[rows], self._gram, self.facts, geometry)

    def for_atoms(self, atoms: NDArray) -> CodingProblem:
        """The same samples with some of the atoms."""
        if np.array_equal(atoms, np.arange(self.n_atoms)):
            return self
        geometry = None if self.geometry is None else self.geometry.for_atoms(atoms)
        gram = self._among(atoms)
        return CodingProblem(self.self_similarity, self.cross[:, atoms], gram, geometry=geometry)

    def astype(self, dtype: type) -> CodingProblem:
        """The same problem in another precision; itself where it has that precision."""
        own, cross = self._similarities()
        mine = self.facts.dtype if self._gram is None else self._gram.dtype
        if own.dtype == cross.dtype == mine == dtype:
            return self
        gram: NDArray | None
        if not self.is_whole:
            gram = None
        elif dtype is np.float64:
            gram = self.facts.double
        else:
            gram = np.asarray(self.gram, dtype)
        return CodingProblem(
            np.asarray(own, dtype), np.asarray(cross, dtype), gram, self.facts, self.geometry
        )

    @property
    def is_whole(self) -> bool:
        """Whether the Gram matrix is at hand, or as good as."""
        return self._gram is not None or self.facts.is_whole

    @property
    def can_be_whole(self) -> bool:
        """Whether there is memory for the Gram matrix, if it is not at hand."""
        return self.is_whole or self.facts.is_affordable

    def _among(self, atoms: NDArray) -> NDArray:
        """Inner products of some atoms, (m, m), in the precision of the problem."""
        if self.is_whole:
            return self.gram[np.ix_(atoms, atoms)]
        return self.facts.block(atoms, atoms).astype(self._similarities()[1].dtype, copy=False)

    def parts(self, atoms: NDArray) -> Iterator[tuple[slice, NDArray, NDArray]]:
        """Rows, the atoms (n, m) of each by their place in a Gram matrix, and that matrix.

        All rows and the whole matrix where it is at hand; a few rows and the matrix of their
        atoms where it is not.
        """
        if self.is_whole:
            yield slice(0, len(atoms)), atoms, self.gram
            return
        step = max(1, TOGETHER // max(atoms.shape[1], 1))
        for start in range(0, len(atoms), step):
            rows = slice(start, min(start + step, len(atoms)))
            used, places = np.unique(atoms[rows], return_inverse=True)
            yield rows, places.reshape(atoms[rows].shape), self._among(used)

    def cross_at(self, row: int, atoms: NDArray) -> NDArray:
        """Similarities of one sample to some atoms, (m,), in double precision."""
        return self.cross[row, atoms].astype(np.float64, copy=False)

    def cross_with(self, atoms: NDArray) -> tuple[NDArray, NDArray]:
        """Self-similarities, (n,), and similarities of all samples to some atoms, (n, m)."""
        return self.self_similarity, self.cross[:, atoms]

    def compared(self, rows: NDArray, used: NDArray) -> Comparison:
        """Some samples and some atoms beside other atoms: quickly, if not to the last digit."""
        precision = self.facts.precision
        own = np.abs(self.cross[rows]).max(axis=1, initial=0.0)

        def between(some: slice, atoms: NDArray) -> NDArray:
            places = np.arange(some.start, some.stop)
            samples, others = places[places < len(rows)], places[places >= len(rows)] - len(rows)
            similar = self.cross[np.ix_(rows[samples], atoms)]
            return np.vstack([similar, self.facts.block(used[others], atoms)])

        return Comparison(precision * own, precision * self.squares[used], between)

    def correlation(self, codes: Codes) -> NDArray:
        r"""Inner products of atoms and residuals, :math:`k - K y`: minus the gradient, (n, N)."""
        if self.is_whole:
            return self.cross - times(codes, self.gram)
        found, used = self.cross.copy(), columns_used(codes)
        step = max(1, TILE // self.n_atoms)
        for start in range(0, len(used), step):
            atoms = used[start : start + step]
            found -= np.asarray(codes[:, atoms] @ self.facts.block(atoms))
        return found

    def squared_distances(self) -> NDArray:
        r"""Squared distances in H from samples to atoms that priors look at, (n, N)."""
        problem = self if self.geometry is None else self.geometry
        return problem.single_atom_errors()

    def single_atom_errors(self) -> NDArray:
        """Squared error of coding each sample by each atom alone, with weight one, (n, N)."""
        errors = self.self_similarity[:, None] - 2.0 * self.cross + self.squares
        return np.maximum(errors, 0.0, out=errors)

    def squared_error(self, codes: Codes) -> NDArray:
        r"""Squared reconstruction error :math:`\|\phi(x) - \Phi(D) y\|^2`, (n,), never negative."""
        if not self.is_whole:
            return self._error_by_parts(codes)
        return np.maximum(self.self_similarity - explained(codes, self.cross, self.gram), 0.0)

    def _error_by_parts(self, codes: Codes) -> NDArray:
        """The squared error from the atoms that each sample uses."""
        error = self.self_similarity - 2.0 * row_sums(codes, self.cross)
        for row in range(self.n_samples):
            code = codes[[row]]
            atoms = columns_used(code)
            values = dense(code)[0, atoms]
            step = max(1, TILE // max(len(atoms), 1))
            for start in range(0, len(atoms), step):
                some = slice(start, start + step)
                products = self.facts.block(atoms[some], atoms)
                error[row] += values[some] @ products @ values
        return np.maximum(error, 0.0)

    def nearest(self, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample, by distances that priors look at."""
        own, cross = self._similarities()
        if self.geometry is None:
            indices = smallest(self.squares - 2.0 * cross, n_neighbors)
            return Neighbours(indices, np.take_along_axis(cross, indices, axis=1), own)
        distances = self.squared_distances()
        indices = smallest(distances, n_neighbors)
        trace = np.take_along_axis(distances, indices, axis=1).sum(axis=1)
        return Neighbours(indices, np.take_along_axis(cross, indices, axis=1), own, trace)
