r"""What a dictionary is: points, or combinations :math:`\Phi(Z)A` of landmarks.

A dictionary answers how similar samples are to the atoms (:meth:`Dictionary.cross`) and to
themselves, and makes the coding problem of samples (:meth:`Dictionary.problem`). One that is too
large for its Gram matrix answers for parts of it (:meth:`Dictionary.block`,
:attr:`Dictionary.norms`, :meth:`Dictionary.nearest`). Coders never know which kind they hold.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..gram import GramFacts
from ..kernels.base import Kernel
from ..problem import CodingProblem, Neighbours

Atoms: TypeAlias = NDArray | list[int] | slice
RECOMPUTED = ("gram_before_clipping", "facts")


class Dictionary:
    """N atoms in the Hilbert space of a kernel: ``dictionary_`` of everything that is fitted.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> dictionary = kc.KernelSparseCoder().fit([[0.0], [1.0], [2.0]]).dictionary_
    >>> dictionary.gram.shape, dictionary.cross([[0.5]]).shape
    ((3, 3), (1, 3))
    """

    kernel: Kernel
    index: NDArray | None = None  # which training samples the atoms are, where they are

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: not the Gram matrix of points, the most of it, which follows."""
        return {name: value for name, value in vars(self).items() if name not in RECOMPUTED}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = object.__new__(type(self))
        memo[id(self)] = made
        vars(made).update({name: deepcopy(value, memo) for name, value in vars(self).items()})
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._described())}, kernel={self.kernel!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        facts = "; ".join(self._described())
        return f"<b>{type(self).__name__}</b>: {facts}{self.kernel._repr_html_()}"

    def _described(self) -> list[str]:
        """What there is to say beside the kernel."""
        return [f"{self.n_atoms} atoms"]

    @property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        raise NotImplementedError

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        raise NotImplementedError

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.gram.shape[0]

    @cached_property
    def facts(self) -> GramFacts:
        """What follows from the Gram matrix alone, computed on demand."""
        return GramFacts(self.gram)

    @property
    def norms(self) -> NDArray:
        """Norms of the atoms in H, (N,), without their Gram matrix where they are points."""
        return np.sqrt(np.maximum(self.facts.squares, 0.0))

    def block(self, rows: Atoms, columns: Atoms = slice(None)) -> NDArray:
        """Inner products of some atoms with others, ``gram[rows][:, columns]``.

        Where the Gram matrix is neither at hand nor small, only these are computed.

        Parameters
        ----------
        rows, columns : array or list of int or bool, or slice
            Which atoms.
        """
        every = np.arange(self.n_atoms)
        return self.facts.block(every[rows], every[columns])

    def cross(self, X: NDArray) -> NDArray:
        """Inner products of samples and atoms, (n, N), never in the memory of the samples."""
        cross = self.similarities(X)[1]
        given = isinstance(X, np.ndarray) and np.may_share_memory(cross, X)
        return cross.copy() if given else cross

    def cross_of(self, X: NDArray, atoms: NDArray) -> NDArray:
        """Inner products of samples and some of the atoms, (n, m)."""
        return self.cross(X)[:, atoms]

    def problem(self, X: NDArray) -> CodingProblem:
        """The problem of coding samples with this dictionary."""
        return CodingProblem(*self.similarities(X), facts=self.facts)

    def nearest(self, X: NDArray, n_neighbors: int) -> Neighbours:
        """The ``n_neighbors`` atoms nearest to each sample in H."""
        return self.problem(X).nearest(n_neighbors)
