"""Atoms that are samples."""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..gram import GramFacts
from ..kernels.base import Kernel, Prepared, take
from ..kernels.single import SingleRows
from ..long_calls import eigh
from ..memory import require_within_budget, within_budget
from ..problem import CodingProblem, Comparison, Neighbours
from ..selection import smallest
from ..stacks import precision, stack_of, with_type
from .base import Dictionary
from .point_gram import FEWER_ATOMS, PointGram, finite_similarities, gram_size

# Eigenvalues more negative than this fraction of the largest are not rounding (in float32: than
# the number of atoms times its precision).
INDEFINITE = 1e-10
TOLD_INDEFINITE = r"(?s)The kernel .* is indefinite on these atoms"  # how that warning begins
ASKED = 256  # atoms of a given matrix beyond the budget that are looked at


class PointDictionary(Dictionary):
    """Atoms that are samples: points of the input space.

    Parameters
    ----------
    kernel : Kernel
        Resolved: its parameters are numbers.
    points : array of shape (N, ...)
        The atoms.
    index : array of shape (N,), default=None
        Which training samples the atoms are, where they are; precomputed kernels need it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.dictionary import PointDictionary
    >>> from kernelcoding.kernels import Linear
    >>> PointDictionary(Linear(), np.array([[0.0, 1.0], [2.0, 0.0]])).gram
    array([[1., 0.],
           [0., 4.]])
    """

    def __init__(self, kernel: Kernel, points: NDArray, index: NDArray | None = None):
        self.kernel = kernel
        self.points = points
        self.index = index
        self._prepared = kernel.prepare(points, index)
        self._basis = None if kernel.is_positive_definite else self._positive_part()

    @property
    def is_clipped(self) -> bool:
        """Whether a negative part of the kernel's spectrum was dropped."""
        return self._basis is not None

    @property
    def n_atoms(self) -> int:
        """Number of atoms, without their Gram matrix."""
        return len(self.points)

    @cached_property
    def facts(self) -> GramFacts:
        """What follows from the atoms' inner products, computed on demand."""
        if self._basis is None:
            return PointGram(self.kernel, self._prepared, self.n_atoms)
        return GramFacts(self._clipped())

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N), with the negative spectrum (if any) clipped."""
        return self.facts.gram

    def _clipped(self) -> NDArray:
        """The Gram matrix without its negative spectrum."""
        assert self._basis is not None
        gram = self._basis.T @ self.gram_before_clipping @ self._basis
        gram = self._basis @ (0.5 * (gram + gram.T)) @ self._basis.T
        return 0.5 * (gram + gram.T)

    @cached_property
    def gram_before_clipping(self) -> NDArray:
        """The kernel's own values, (N, N)."""
        if self._basis is None:
            return self.gram
        return self._compared()

    def _compared(self) -> NDArray:
        values = finite_similarities(self.kernel.between(self._prepared, self._prepared))
        return np.ascontiguousarray(values)

    def _positive_part(self) -> NDArray | None:
        """Eigenvectors of the positive spectrum, where there is a negative one to drop."""
        some = self._some_of_a_given_matrix()
        gram = self._compared() if some is None else some
        values, vectors = eigh(gram)
        cutoff = max(INDEFINITE, len(gram) * float(np.finfo(gram.dtype).eps)) * values[-1]
        if values[-1] >= 0 and values[0] >= -cutoff:
            return None
        if some is not None:
            self._require_budget()
        if values[-1] <= 0:
            raise ValueError(
                f"The kernel {self.kernel!r} has no positive eigenvalue on these atoms: it is not "
                "a similarity. Use a positive definite kernel or other parameters."
            )
        warnings.warn(
            f"The kernel {self.kernel!r} is indefinite on these atoms (eigenvalues from "
            f"{values[0]:.3g} to {values[-1]:.3g}): the negative part of its spectrum is clipped. "
            "Use a positive definite kernel to avoid this.",
            UserWarning,
            stacklevel=2,
        )
        return vectors[:, values > cutoff]

    def _some_of_a_given_matrix(self) -> NDArray | None:
        """Inner products of some atoms, where the spectrum of all is beyond the budget."""
        if within_budget(gram_size(self.kernel, self.n_atoms, precision(self.points))):
            return None
        if not self.kernel.uses_index:
            self._require_budget()
        warnings.warn(
            f"Whether the given matrix is positive definite was looked at for {ASKED} of its "
            f"{self.n_atoms} atoms only: the spectrum of all is beyond the memory budget. If it is "
            "not, codes and certificates are not to be trusted.",
            UserWarning,
            stacklevel=2,
        )
        some = take(self._prepared, np.linspace(0, self.n_atoms - 1, ASKED).astype(int))
        return finite_similarities(self.kernel.between(some, some))

    def _require_budget(self) -> None:
        """Refuse a matrix beyond the budget whose negative spectrum would have to be clipped."""
        needed = gram_size(self.kernel, self.n_atoms, precision(self.points))
        what = f"The spectrum of the Gram matrix of {self.n_atoms} atoms"
        require_within_budget(needed, what, FEWER_ATOMS)

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        is_single = getattr(X, "dtype", None) == np.float32  # a list has no type
        if is_single and not self.kernel.uses_index:
            # As in products with the atoms: squared distances are made of both.
            X = with_type(X, precision(self.points))
        prepared = self.kernel.prepare(X)
        cross = self.kernel.between(prepared, self._prepared)
        if cross is not X:  # given similarities have been looked at
            finite_similarities(cross)
        self_similarity = self.kernel.diagonal_of(prepared)
        unknown = np.isnan(self_similarity)
        finite_similarities(self_similarity[~unknown])
        if self._basis is None and not unknown.any():
            return self_similarity, cross
        if self._basis is not None:
            cross = (cross @ self._basis) @ self._basis.T
        return self._completed(self_similarity, cross), cross

    def cross_of(self, X: NDArray, atoms: NDArray) -> NDArray:
        """Inner products of samples and some of the atoms, (n, m): of no others, if possible."""
        if self.is_clipped:
            return super().cross_of(X, atoms)
        some = take(self._prepared, atoms)
        return finite_similarities(self.kernel.between(self.kernel.prepare(X), some))

    def _completed(self, self_similarity: NDArray, cross: NDArray) -> NDArray:
        """The given k(x, x), raised where needed to what the cross-similarities imply.

        The projection of a sample on the span of the atoms has a known norm, the least that a
        positive definite kernel allows. It stands in where k(x, x) is unknown (a precomputed row
        does not tell) or too small (a clipped kernel).
        """
        projected = np.einsum("ij,ij->i", self.facts.solve(cross.astype(np.float64)), cross)
        return np.fmax(self_similarity, projected)

    def problem(self, X: NDArray) -> CodingProblem:
        """The problem of coding samples, whose similarities are computed when asked for."""
        return PointProblem(self, stack_of(X))


class PointProblem(CodingProblem):
    """Samples and atoms that are points: similarities on demand.

    Approximate local coding asks for the nearest atoms only. For a kernel that falls with a
    distance they are chosen by that distance, and only their kernel values are computed.

    Parameters
    ----------
    dictionary : PointDictionary
    X : array of shape (n, ...)
        Samples.
    """

    def __init__(self, dictionary: PointDictionary, X: NDArray):
        self.dictionary = dictionary
        self.X = X
        self._gram = None
        self.facts = dictionary.facts
        self.geometry = None
        self.n_samples = len(X)
        self._computed: tuple[NDArray, NDArray] | None = None

    def _similarities(self) -> tuple[NDArray, NDArray]:
        if self._computed is None:
            own, cross = self.dictionary.similarities(self.X)
            self._require_atoms(cross.shape[1])
            self._computed = (own, cross)
        return self._computed

    def _require_atoms(self, n_atoms: int) -> None:
        """Compiled code trusts these shapes; a model from a file need not keep its promises."""
        if self.facts.n_atoms != n_atoms:
            raise ValueError(f"{n_atoms} atoms do not go with a Gram matrix of {self.n_atoms}.")

    @cached_property
    def _prepared(self) -> Prepared:
        return self.dictionary.kernel.prepare(self.X)

    def cross_at(self, row: int, atoms: NDArray) -> NDArray:
        """Similarities of one sample to some atoms, (m,), in double precision."""
        if self._computed is not None or self.dictionary.is_clipped:
            return super().cross_at(row, atoms)
        pair = take(self._prepared, slice(row, row + 1)), take(self.dictionary._prepared, atoms)
        found = finite_similarities(self.dictionary.kernel.between(*pair))[0]
        return found.astype(np.float64, copy=False)

    def cross_with(self, atoms: NDArray) -> tuple[NDArray, NDArray]:
        """Self-similarities, (n,), and similarities of all samples to some atoms, (n, m)."""
        if self._computed is not None or self.dictionary.is_clipped:
            return super().cross_with(atoms)
        kernel, some = self.dictionary.kernel, take(self.dictionary._prepared, atoms)
        cross = finite_similarities(kernel.between(self._prepared, some))
        return kernel.diagonal_of(self._prepared), cross

    def compared(self, rows: NDArray, used: NDArray) -> Comparison:
        """Some samples and some atoms beside other atoms: quickly, if not to the last digit."""
        single = self.facts.single if isinstance(self.facts, PointGram) else None
        points = getattr(self._prepared, "points", None)
        samples = None
        if single is not None and isinstance(points, np.ndarray):  # sparse ones have no such values
            samples = single.of_samples(points[rows])
        if single is None or samples is None:
            return super().compared(rows, used)
        atoms = single.of_atoms(used)
        both = SingleRows(*(np.concatenate(pair) for pair in zip(samples, atoms, strict=True)))
        room = np.empty(0, np.float32)

        def between(some: slice, atoms: NDArray) -> NDArray:
            nonlocal room
            left = SingleRows(both.vectors[some], both.errors[some])
            needed = len(left.errors) * len(atoms)
            if len(room) < needed:  # new memory costs more than what is computed in it
                room = np.empty(needed, np.float32)
            return single.between(left, atoms, room)

        return Comparison(samples.errors, atoms.errors, between)

    def nearest(self, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample in H."""
        kernel = self.dictionary.kernel
        if not kernel.is_radial or self.dictionary.is_clipped or self._computed is not None:
            return super().nearest(n_neighbors)
        prepared = kernel.prepare(self.X)
        statistic = kernel.statistic(prepared, self.dictionary._prepared)
        self._require_atoms(statistic.shape[1])
        indices = smallest(statistic, n_neighbors)
        cross = kernel.profile(np.take_along_axis(statistic, indices, axis=1))
        return Neighbours(indices, cross, kernel.diagonal_of(prepared))
