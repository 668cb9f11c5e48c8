"""The seam: three arrays. Beyond this file nobody sees a sample or a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, row_sums, times
from .dictionary import Dictionary, Neighbours
from .gram import GramFacts
from .selection import smallest


@dataclass(frozen=True, slots=True)
class CodingProblem:
    r"""n independent coding problems that share one dictionary of N atoms.

    .. math:: \tfrac12\|\phi(x_i) - \Phi(D) y_i\|^2
              = \tfrac12 k(x_i, x_i) - k_i^\top y_i + \tfrac12 y_i^\top K y_i

    Codes are rows: ``(n, N)``, a dense array or a CSR array.
    """

    self_similarity: NDArray  # (n,)    k(x_i, x_i)
    cross: NDArray  # (n, N)  k(x_i, d_j)
    gram: NDArray  # (N, N)  k(d_i, d_j)
    gram_facts: GramFacts | None = field(default=None, compare=False, repr=False)
    # Whose distances priors look at, where not this problem's: labels added to a problem must not
    # bring atoms nearer.
    geometry: CodingProblem | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Compiled code trusts these shapes; a model from a file need not keep its promises.
        n, n_atoms = self.cross.shape
        if self.gram.shape != (n_atoms, n_atoms) or self.self_similarity.shape != (n,):
            raise ValueError(
                f"Similarities of {n} samples and {n_atoms} atoms do not go with a Gram matrix of "
                f"shape {self.gram.shape} and {self.self_similarity.shape} self-similarities."
            )

    @classmethod
    def of(cls, dictionary: Dictionary, X: NDArray) -> CodingProblem:
        """The problem of coding the samples X with a dictionary."""
        if isinstance(dictionary, KnownDictionary):
            return dictionary.problem.take(X)
        self_similarity, cross = dictionary.similarities(X)
        return cls(self_similarity, cross, dictionary.gram, dictionary.facts)

    @property
    def n_samples(self) -> int:
        """Number of samples to code."""
        return self.cross.shape[0]

    @property
    def n_atoms(self) -> int:
        """Number of atoms in the dictionary."""
        return self.gram.shape[0]

    @property
    def facts(self) -> GramFacts:
        """What follows from the Gram matrix alone; kept where the dictionary keeps it."""
        return self.gram_facts or GramFacts(self.gram)

    def take(self, rows: NDArray | slice) -> CodingProblem:
        """The same dictionary with fewer samples."""
        return replace(
            self,
            self_similarity=self.self_similarity[rows],
            cross=self.cross[rows],
            geometry=None if self.geometry is None else self.geometry.take(rows),
        )

    def astype(self, dtype: type) -> CodingProblem:
        """The same problem in another precision; no copy where none is needed."""
        facts = self.facts
        return CodingProblem(
            np.asarray(self.self_similarity, dtype),
            np.asarray(self.cross, dtype),
            facts.double if dtype is np.float64 else np.asarray(self.gram, dtype),
            facts,
            self.geometry,
        )

    def correlation(self, codes: Codes) -> NDArray:
        r"""Inner products of atoms and residuals, :math:`k - K y`: minus the gradient, (n, N)."""
        return self.cross - times(codes, self.gram)

    def squared_distances(self) -> NDArray:
        r"""Squared distances in H from samples to atoms, (n, N), never negative."""
        if self.geometry is not None:
            return self.geometry.squared_distances()
        distances = self.self_similarity[:, None] - 2.0 * self.cross + np.diag(self.gram)
        return np.maximum(distances, 0.0, out=distances)

    def squared_error(self, codes: Codes) -> NDArray:
        r"""Squared reconstruction error :math:`\|\phi(x) - \Phi(D) y\|^2`, (n,), never negative."""
        inner = self.cross + self.correlation(codes)
        return np.maximum(self.self_similarity - row_sums(codes, inner), 0.0)


class KnownDictionary(Dictionary):
    """A problem seen as a dictionary: samples are row numbers of the problem.

    Lets coders, which ask a dictionary about samples, work from similarities alone.
    """

    def __init__(self, problem: CodingProblem):
        self.problem = problem

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        return self.problem.gram

    @property
    def facts(self) -> GramFacts:
        """What follows from the Gram matrix alone."""
        return self.problem.facts

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` and cross-similarities of the given rows."""
        return self.problem.self_similarity[X], self.problem.cross[X]

    def nearest(self, X: NDArray, n_neighbors: int) -> Neighbours:
        """The nearest atoms of the given rows, by the distances that priors look at."""
        if self.problem.geometry is None:
            return super().nearest(X, n_neighbors)
        problem = self.problem.take(X)
        distances = problem.squared_distances()
        indices = smallest(distances, n_neighbors)
        cross = np.take_along_axis(problem.cross, indices, axis=1)
        trace = np.take_along_axis(distances, indices, axis=1).sum(axis=1)
        return Neighbours(indices, cross, problem.self_similarity, trace)


__all__ = ["Codes", "CodingProblem", "KnownDictionary", "row_sums"]
