r"""Where atoms lie in the span of a few of them: estimates of inner products, with a bound.

With :math:`E = \Phi(L) T` (nearly) orthonormal and coordinates :math:`\hat a = E'a`,

.. math:: |\langle a, b\rangle - \hat a'\hat b| \le \|a_\perp\|\,\|b_\perp\| + \text{rounding},
          \qquad \|a_\perp\|^2 = \|a\|^2 - \|\hat a\|^2 + \text{rounding}.

A product with all atoms costs m numbers per atom instead of one kernel value per atom and term.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .long_calls import eigh, product

LANDMARKS = 512  # more cost more to set up than they save on a thousand samples
SHARE = 8  # of the atoms, at most one in so many is a landmark
DROPPED = 1e-6  # eigenvalues below this part of the largest are left out
ROWS = 4096  # atoms whose coordinates are computed together
UNIT = float(np.finfo(np.float32).eps)


class Parts(Protocol):
    """What a guide needs to know of atoms."""

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""

    @property
    def squares(self) -> NDArray:
        """Squared norms of the atoms, (N,)."""

    @property
    def precision(self) -> float:
        """How far inner products may be off, relative to the norms."""

    def block(self, rows: NDArray, columns: NDArray) -> NDArray:
        """Inner products of some atoms with others."""


class Guide(NamedTuple):
    """Coordinates of atoms in the span of some of them."""

    coordinates: NDArray  # (N, m), single precision
    spread: NDArray  # (N,) upper bounds on the norms of what lies outside the span
    norms: NDArray  # (N,) of the atoms
    slack: float  # rounding, relative to the norms of two vectors
    landmarks: NDArray  # (l,) the atoms that span it
    basis: NDArray  # (l, m) similarities to them times this are coordinates

    @classmethod
    def of(cls, atoms: Parts) -> Guide:
        """The guide of a dictionary, by landmarks spread evenly over its atoms."""
        count = max(1, min(LANDMARKS, atoms.n_atoms // SHARE))
        landmarks = np.linspace(0, atoms.n_atoms - 1, count).astype(np.int64)
        gram = atoms.block(landmarks, landmarks).astype(np.float64, copy=False)
        values, vectors = eigh(gram)
        kept = values > DROPPED * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        coordinates = np.empty((atoms.n_atoms, basis.shape[1]), np.float32)
        for start in range(0, atoms.n_atoms, ROWS):
            rows = np.arange(start, min(start + ROWS, atoms.n_atoms))
            coordinates[rows] = product(atoms.block(rows, landmarks), basis)
        # E'E is known to rounding; kernel values that are off put coordinates off; and these are
        # kept, multiplied and added in single precision.
        defect = float(np.linalg.norm(basis.T @ gram @ basis - np.eye(basis.shape[1])))
        longest = 1.0 / np.sqrt(values[kept].min(initial=np.inf))  # column of the basis
        off = atoms.precision * float(np.sqrt(np.trace(gram)) * longest)
        slack = 2.0 * (defect + 3.0 * off) + (basis.shape[1] + 8) * UNIT
        squares = np.maximum(atoms.squares.astype(np.float64), 0.0)
        inside = np.einsum("ij,ij->i", coordinates, coordinates, dtype=np.float64)
        spread = np.sqrt(np.maximum(squares - inside, 0.0) + slack * squares)
        norms = np.sqrt(squares)
        return cls(coordinates, spread.astype(np.float32), norms, slack, landmarks, basis)
