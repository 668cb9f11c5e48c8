"""The Gram matrix of atoms that are points: whole where it is needed, else the parts asked for."""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..gram import GramFacts, lined_up
from ..guide import Guide
from ..kernels.algebra import Composite
from ..kernels.base import Kernel, Prepared, take
from ..kernels.single import SingleValues
from ..memory import require_within_budget, within_budget
from ..validation import is_finite

# Up to this many atoms the whole matrix costs less than parts of it for some hundred samples.
SMALL = 4096
FEWER_ATOMS = (
    "Use fewer atoms (atoms=2000 chooses that many samples), or learn a dictionary with "
    "KernelDictionaryLearning(n_landmarks=2000); float32 samples halve the matrix, though sparse "
    "coders make a copy of it in double precision. With a positive definite kernel, "
    "KernelSparseCoder without groups, KernelLLC(n_neighbors=20) and KernelBagOfWords do without "
    "it."
)

_computing = threading.RLock()  # blocks in threads need the same matrix: the first computes it


class PointGram(GramFacts):
    """Inner products of points, for a positive definite kernel.

    Parameters
    ----------
    kernel : Kernel
    prepared : prepared stack
        The points.
    n_atoms : int
    """

    def __init__(self, kernel: Kernel, prepared: Prepared, n_atoms: int):
        self._kernel, self._prepared, self._n_atoms = kernel, prepared, n_atoms

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self._n_atoms

    @property
    def dtype(self) -> np.dtype:
        """Precision of the inner products."""
        return self.squares.dtype

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N), computed when first asked for."""
        with _computing:
            return self._whole

    @cached_property
    def _whole(self) -> NDArray:
        needed = gram_size(self._kernel, self.n_atoms, self.dtype)
        require_within_budget(needed, f"The Gram matrix of {self.n_atoms} atoms", FEWER_ATOMS)
        values = self._kernel.between(self._prepared, self._prepared)
        return lined_up(np.ascontiguousarray(finite_similarities(values)))

    @cached_property
    def squares(self) -> NDArray:
        """Squared norms of the atoms, (N,)."""
        return finite_similarities(self._kernel.diagonal_of(self._prepared))

    @property
    def is_whole(self) -> bool:
        """Whether the Gram matrix is at hand, or so small that parts of it are not worth while."""
        return "_whole" in vars(self) or (is_small(self.n_atoms) and self.is_affordable)

    @property
    def is_affordable(self) -> bool:
        """Whether the whole matrix is within the budget."""
        return within_budget(gram_size(self._kernel, self.n_atoms, self.dtype))

    @property
    def guide(self) -> Guide:
        """Coordinates of all atoms in the span of a few, computed when first asked for."""
        with _computing:
            return self._guide

    @cached_property
    def _guide(self) -> Guide:
        return Guide.of(self)

    @property
    def single(self) -> SingleValues | None:
        """The kernel's values in single precision, where their errors are known."""
        with _computing:
            return self._single

    @cached_property
    def _single(self) -> SingleValues | None:
        return SingleValues.of(self._kernel, self._prepared)

    def block(self, rows: NDArray, columns: NDArray | slice = slice(None)) -> NDArray:
        """Inner products of some atoms with others, or with all."""
        if self.is_whole:
            return super().block(rows, columns)
        if rows is columns:  # the same object twice: kernels return exact symmetry
            some = take(self._prepared, rows)
            return finite_similarities(self._kernel.between(some, some))
        parts = (take(self._prepared, atoms) for atoms in (rows, columns))
        return finite_similarities(self._kernel.between(*parts))


def is_small(n_atoms: int) -> bool:
    """Whether parts of a Gram matrix are not worth while."""
    return n_atoms <= SMALL


def gram_size(kernel: Kernel, n_atoms: int, dtype: np.dtype) -> float:
    """Bytes that the Gram matrix takes while it is computed."""
    copies = len(kernel.children) if isinstance(kernel, Composite) else 1
    return float(n_atoms) ** 2 * (copies * dtype.itemsize + 1)  # and a mask of finite numbers


def finite_similarities(similarities: NDArray) -> NDArray:
    """The similarities, if they are numbers; ValueError otherwise."""
    if not is_finite(similarities):
        raise ValueError(
            "The kernel returned NaN or infinite similarities. Rescale the samples or change the "
            "kernel's parameters."
        )
    return similarities
