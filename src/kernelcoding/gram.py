"""What follows from a Gram matrix alone: computed once, on demand, and kept with the dictionary."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .codes import Codes, times, transposed
from .guide import Guide
from .long_calls import cho_factor, eigh, product, smallest_eigenvalue, triangular_inverse

# Kernels are sums, products and exponentials of a few numbers: errors of some last places.
LAST_PLACES = 32
# Norms of atoms that solvers take as they are, largest over smallest.
SIMILAR_NORMS = 100.0
LINE = 64  # bytes that memory is read in
TILE = 2**23  # numbers in a piece of a Gram matrix that is computed, used and forgotten
_DROPPED = float(np.finfo(np.float64).eps)  # of the largest eigenvalue, per atom


class Spectrum(NamedTuple):
    """Eigenvalues (N,) in increasing order, never negative, and eigenvectors (N, N) as columns."""

    values: NDArray
    vectors: NDArray


class Span:
    r"""What is certain of the linear independence of atoms, whatever rounding did to the numbers.

    Equal atoms (equal rows of the Gram matrix, to the last bit) and opposite ones count once,
    zero atoms not at all. Of the others, one of each kind, :math:`\lambda_{\min}` of the Gram
    matrix S K S scaled to diagonals near one (by powers of two: no rounding) is computed, and what
    errors of :math:`\eta\sqrt{K_{ii} K_{jj}}` in every entry could take off it,
    :math:`\eta\,\mathrm{tr}(SKS)` at most, is subtracted.

    Parameters
    ----------
    gram : array of shape (m, m)
    precision : float
        :math:`\eta`.
    """

    def __init__(self, gram: NDArray, precision: float):
        self.gram = gram
        size = np.sqrt(np.maximum(np.diag(gram), 0.0))
        self.partner, self.sign = _equal_atoms(gram, size)
        self.atoms = np.flatnonzero((self.partner == np.arange(len(gram))) & (self.sign != 0))
        _, exponent = np.frexp(size[self.atoms])
        self.scale = np.ldexp(1.0, -exponent)
        self._scaled = (
            gram[np.ix_(self.atoms, self.atoms)] * self.scale[:, None] * self.scale[None, :]
        )
        self._loss = precision * float(np.trace(self._scaled))

    @cached_property
    def smallest(self) -> float:
        """Lower bound on the eigenvalues of S K S; negative where nothing is certain."""
        if not self.atoms.size:
            return 1.0
        return smallest_eigenvalue(self._scaled) - self._loss

    def agrees(self, cross: NDArray) -> NDArray:
        """Which samples see equal atoms as equal, opposite ones as opposite, zero as zero, (n,)."""
        return np.all(cross == cross[:, self.partner] * self.sign, axis=1)

    @cached_property
    def _factor(self) -> tuple[NDArray, bool]:
        return cho_factor(self._scaled)

    def solve(self, right: NDArray) -> NDArray:
        """Rows of ``right``, (n, atoms), times the inverse; only where ``smallest`` is positive."""
        if not self.atoms.size:
            return right
        return linalg.cho_solve(self._factor, (right * self.scale).T).T * self.scale

    def energy(self, size: NDArray) -> NDArray:
        r"""Upper bound on :math:`v^\top K^{-1} v` for all v of at most this size, (n,)."""
        return ((size * self.scale) ** 2).sum(axis=1) / self.smallest


def _equal_atoms(gram: NDArray, size: NDArray) -> tuple[NDArray, NDArray]:
    """The first atom that equals each one or its opposite, and the sign; 0 for zero atoms."""
    partner, sign = np.arange(len(gram)), np.zeros(len(gram))
    first: dict[bytes, int] = {}
    for atom in np.flatnonzero(size > 0):
        row = gram[atom]
        sign[atom] = 1.0 if row[np.flatnonzero(row)[0]] > 0 else -1.0
        # Adding zero turns -0.0 into 0.0.
        partner[atom] = first.setdefault((sign[atom] * row + 0.0).tobytes(), int(atom))
    return partner, sign * sign[partner]


def lined_up(matrix: NDArray) -> NDArray:
    """The matrix where a cache line begins; a large one as it is, which would be there twice.

    Numbers that processors read eight at a time then lie in one line, not in two: a tenth of the
    time of sparse coding.
    """
    if matrix.ctypes.data % LINE == 0 or matrix.size > TILE:
        return matrix
    memory = np.empty(matrix.nbytes + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    found = memory[first : first + matrix.nbytes].view(matrix.dtype).reshape(matrix.shape)
    found[...] = matrix
    return found


class GramFacts:
    """Double-precision facts about the inner products of N atoms, and parts of their matrix.

    Whoever needs only parts asks for these: a dictionary too large for its Gram matrix computes
    them (``kernelcoding.dictionary``).
    """

    def __init__(self, gram: NDArray):
        self._given = gram

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        return self._given

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.gram.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Precision of the inner products."""
        return self.gram.dtype

    @cached_property
    def squares(self) -> NDArray:
        """Squared norms of the atoms, (N,)."""
        return np.diag(self.gram)

    @property
    def is_whole(self) -> bool:
        """Whether the Gram matrix is at hand, or so small that parts of it are not worth while."""
        return True

    @property
    def is_affordable(self) -> bool:
        """Whether there is memory for the whole matrix."""
        return True

    @cached_property
    def guide(self) -> Guide:
        """Coordinates of all atoms in the span of a few."""
        return Guide.of(self)

    def block(self, rows: NDArray, columns: NDArray | slice = slice(None)) -> NDArray:
        """Inner products of some atoms with others, or with all."""
        return self.gram[rows[:, None], columns] if rows is columns else self.gram[rows][:, columns]

    def times(self, weights: Codes, atoms: NDArray | None = None) -> NDArray:
        """Inner products of atoms with combinations of them, ``K @ weights``, (N, m).

        A few columns of K at a time where the whole is not at hand.

        Parameters
        ----------
        weights : array or CSR array of shape (N, m)
        atoms : array of shape (N,), default=None
            Which of the atoms; None: all.
        """
        whole = self.is_whole or self.is_affordable
        if whole:
            gram = self.gram if atoms is None else self.gram[np.ix_(atoms, atoms)]
            return times(transposed(weights), gram.astype(weights.dtype, copy=False)).T
        every = np.arange(self.n_atoms) if atoms is None else atoms
        found = np.empty(weights.shape, weights.dtype)
        for some in np.array_split(np.arange(len(every)), max(1, -(-(len(every) ** 2) // TILE))):
            known = self.block(every, every[some]).astype(weights.dtype, copy=False)
            found[some] = times(transposed(weights), known).T
        return found

    @cached_property
    def double(self) -> NDArray:
        """The Gram matrix in double precision, laid out once as compiled code wants it."""
        plain = np.require(self.gram, np.float64, requirements=["C_CONTIGUOUS", "WRITEABLE"])
        return lined_up(plain)

    @cached_property
    def centred(self) -> GramFacts:
        """Facts about the atoms seen from their mean: for codes that sum to one."""
        gram = self.double - self.double.mean(axis=0)
        gram -= gram.mean(axis=1, keepdims=True)
        return GramFacts(0.5 * (gram + gram.T))

    @property
    def precision(self) -> float:
        r"""How far entries may be from the truth, relative to the norms of the two atoms.

        Kernel values are taken to be right to some last places of their precision; sums of N
        products in double precision add :math:`N` rounding errors.
        """
        last_places = LAST_PLACES * float(np.finfo(self.dtype).eps)
        return last_places + self.n_atoms * float(np.finfo(np.float64).eps)

    @cached_property
    def span(self) -> Span:
        """What is certain of the atoms' linear independence."""
        return Span(self.double, self.precision)

    @cached_property
    def equilibration(self) -> NDArray | None:
        """Powers of two that bring all atoms near unit norm, (N,); None where norms are similar.

        Solvers judge by the largest numbers of a problem: atoms far smaller would be overlooked.
        """
        norms = np.sqrt(np.maximum(self.squares.astype(np.float64), 0.0))
        positive = norms[norms > 0]
        if not positive.size or positive.max() <= SIMILAR_NORMS * positive.min():
            return None
        _, exponent = np.frexp(norms)
        return np.where(norms > 0, np.ldexp(1.0, -exponent), 1.0)

    @cached_property
    def _equilibrated(self) -> GramFacts:
        assert self.equilibration is not None
        return self._times(self.equilibration)

    def scaled_by(self, scale: NDArray) -> GramFacts:
        """Facts about the atoms times powers of two; kept where these are the equilibration."""
        return self._equilibrated if scale is self.equilibration else self._times(scale)

    def _times(self, scale: NDArray) -> GramFacts:
        return GramFacts(self.double * scale[:, None] * scale[None, :])

    @cached_property
    def affine_shift(self) -> float:
        """Square of a further coordinate that all atoms share: affine independence is linear."""
        return float(np.maximum(self.squares.astype(np.float64), 0.0).mean()) or 1.0

    @cached_property
    def spread(self) -> float:
        """Mean squared distance of atoms from their mean: what codes that sum to one see of them.

        Small next to the squared norms where the origin is far, and rounding alone at worst.
        """
        return max(float(np.diag(self.double).mean() - self.double.mean()), 0.0)

    @cached_property
    def affine_span(self) -> Span:
        """What is certain of the atoms' affine independence."""
        return Span(self.double + self.affine_shift, self.precision)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues and eigenvectors; a negative eigenvalue here is rounding."""
        values, vectors = eigh(self.double)
        return Spectrum(np.maximum(values, 0.0), vectors)

    @property
    def lipschitz(self) -> float:
        """Largest eigenvalue: the Lipschitz constant of the gradient, positive in any case."""
        return max(float(self.spectrum.values[-1]), np.finfo(np.float64).tiny)

    def inverse_values(self, ridge: float = 0.0) -> NDArray:
        """Eigenvalues of the (pseudo-)inverse of ``gram + ridge * I``, (N,)."""
        values = self.spectrum.values + ridge
        large = values > self.cutoff + _DROPPED * len(values) * ridge
        return np.divide(1.0, values, out=np.zeros_like(values), where=large)

    @property
    def cutoff(self) -> float:
        """Eigenvalues up to this are rounding."""
        return _DROPPED * self.n_atoms * float(self.spectrum.values[-1])

    def solve(self, right: NDArray, ridge: float = 0.0) -> NDArray:
        """Rows of ``right`` times the (pseudo-)inverse of ``gram + ridge * I``."""
        vectors = self.spectrum.vectors
        return ((right @ vectors) * self.inverse_values(ridge)) @ vectors.T

    def orthonormal_basis(self) -> NDArray:
        r"""Columns :math:`\Psi` such that :math:`\Phi(D)\Psi` is an orthonormal basis of the span.

        Directions that the atoms' own rounding errors dominate are left out: combinations with
        weights in the millions would be exact on paper and noise in the precision of the data.
        """
        values, vectors = self.spectrum
        precision = float(np.finfo(self.dtype).eps)
        kept = values > np.sqrt(precision) * values[-1]
        return vectors[:, kept] / np.sqrt(values[kept])

    @cached_property
    def triangular_basis(self) -> NDArray | None:
        r"""Upper triangular :math:`\Psi`, :math:`\Psi^\top K \Psi = I`; None if nearly singular.

        It costs a fraction of what eigenvectors cost, and products with it are half as long. It
        spans what :meth:`orthonormal_basis` spans, as that leaves nothing out:
        :math:`1 / \|K^{-1}\|_F` is a lower bound on the smallest eigenvalue and :math:`\|K\|_F` an
        upper bound on the largest.
        """
        if not self.n_atoms:
            return None
        try:
            factor, lower = cho_factor(self.double)
        except np.linalg.LinAlgError:
            return None
        inverse = triangular_inverse(np.tril(factor) if lower else np.triu(factor).T)
        size = np.linalg.norm(product(inverse.T, inverse)) * np.linalg.norm(self.double)
        precision = float(np.finfo(self.dtype).eps)
        return inverse.T if np.sqrt(precision) * size < 1.0 else None
