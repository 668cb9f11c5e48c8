"""What follows from a Gram matrix alone: computed once, on demand, and kept with the dictionary."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .long_calls import eigh


class Spectrum(NamedTuple):
    """Eigenvalues (N,) in increasing order, never negative, and eigenvectors (N, N) as columns."""

    values: NDArray
    vectors: NDArray


class GramFacts:
    """Double-precision facts about the inner products of N atoms."""

    def __init__(self, gram: NDArray):
        self.gram = gram

    @cached_property
    def double(self) -> NDArray:
        """The Gram matrix in double precision."""
        return self.gram.astype(np.float64, copy=False)

    @cached_property
    def centred(self) -> GramFacts:
        """Facts about the atoms seen from their mean: for codes that sum to one."""
        gram = self.double - self.double.mean(axis=0)
        gram -= gram.mean(axis=1, keepdims=True)
        return GramFacts(0.5 * (gram + gram.T))

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
        cutoff = len(values) * np.finfo(np.float64).eps * values[-1]
        return np.divide(1.0, values, out=np.zeros_like(values), where=values > cutoff)

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
        precision = float(np.finfo(self.gram.dtype).eps)
        kept = values > np.sqrt(precision) * values[-1]
        return vectors[:, kept] / np.sqrt(values[kept])
