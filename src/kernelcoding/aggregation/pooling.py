"""Pooling of codes over the descriptors of a set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.utils import get_tags

from ..coders import BaseKernelCoder
from ..codes import Codes, is_csr
from ..dictionary_learning import KernelDictionaryLearning
from .base import SetTransformer, applied, descriptors_per_block
from .normalization import check_normalization, normalized
from .segments import POOLS, Pooled
from .sets import DescriptorBlock, DescriptorSets


class CodePooling(SetTransformer):
    """Code every descriptor, pool the codes of each cell, join the cells, normalise."""

    coder: TransformerMixin | None
    how: str
    norm: str | None

    coder_: TransformerMixin | None

    def _check_parameters(self) -> None:
        if self.how not in POOLS:
            raise ValueError(f"how must be one of {sorted(POOLS)}, got {self.how!r}.")
        check_normalization(self.norm)
        if self.coder is not None and not hasattr(self.coder, "transform"):
            raise ValueError(
                "coder must be None or a transformer of descriptors, such as KernelLLC, "
                f"got {self.coder!r}."
            )

    def _descriptor_ndim(self) -> int:
        return 2 if self.coder is None or get_tags(self.coder).input_tags.two_d_array else 3

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        self.coder_ = None if self.coder is None else clone(self.coder).fit(sample, None)
        _make_compact(self.coder_)
        self._n_atoms = self._codes(sample[:1]).shape[1]
        return self._n_cells() * self._n_atoms

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        n_cells = self._n_cells()
        pooled = Pooled(self.how, len(sets) * n_cells, self._n_atoms, sets.dtype)
        for block in sets.blocks(descriptors_per_block(self._n_atoms)):
            codes = self._codes(block.descriptors)
            for cells in self._cells(block):
                pooled.add(codes, block.owners * n_cells + cells)
        return normalized(pooled.finished().reshape(len(sets), -1), 1.0, self.norm)

    def _codes(self, descriptors: NDArray) -> Codes:
        if self.coder_ is None:
            return descriptors
        codes = applied(self.coder_, descriptors)
        return codes.tocsr() if is_csr(codes) else np.asarray(codes)

    # What subclasses say ------------------------------------------------------------------

    def _n_cells(self) -> int:
        raise NotImplementedError

    def _cells(self, block: DescriptorBlock) -> list[NDArray]:
        """For each level the cell of every descriptor, cells of all levels counted through."""
        raise NotImplementedError


def _make_compact(transformer: TransformerMixin | None) -> None:
    """Ask a coder of this package for sparse codes where entries are few: pooling is then cheap."""
    inner = transformer
    if isinstance(inner, KernelDictionaryLearning):
        inner = inner.coder_
    if isinstance(inner, BaseKernelCoder) and inner.formulation().is_sparse:
        inner.set_params(sparse_output=True)


class Pooling(CodePooling):
    r"""One vector per set: the codes of its descriptors, pooled.

    With codes :math:`y_1, \dots, y_n` of the descriptors of a set, entry j of its vector is

    .. math:: \max_i y_{ij}, \quad \max_i |y_{ij}|, \quad \sum_i y_{ij} \quad\text{or}\quad
              \tfrac1n \sum_i y_{ij}

    Parameters
    ----------
    coder : transformer of descriptors, default=None
        Any coder of this package, :class:`~kernelcoding.KernelDictionaryLearning`, or another
        transformer; a clone is fitted to sampled descriptors. None pools the descriptors
        themselves.
    how : {"max", "absolute_max", "sum", "average"}, default="max"
        The pooling function.
    norm : {"l2", "l1", "max"} or None, default="l2"
        Norm that each vector is scaled to.
    n_samples : int or None, default=20_000
        Number of descriptors, drawn from all training sets, that the coder is fitted to; None
        takes all. With ``atoms=None`` each of them becomes an atom.
    random_state : int, RandomState or None, default=0
        For the draw; the coder has its own.

    Attributes
    ----------
    coder_ : transformer
        Fitted.
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    Descriptors are coded and pooled in blocks: memory does not grow with the size of the sets.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelLLC
    >>> from kernelcoding.aggregation import Pooling
    >>> images = load_digits().images[:20]  # the eight rows of an image are its descriptors
    >>> pooling = Pooling(KernelLLC("linear", atoms=12, random_state=0))
    >>> pooling.fit_transform(images).shape
    (20, 12)
    """

    def __init__(
        self,
        coder: TransformerMixin | None = None,
        how: str = "max",
        norm: str | None = "l2",
        n_samples: int | None = 20_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.coder = coder
        self.how = how
        self.norm = norm
        self.n_samples = n_samples
        self.random_state = random_state

    def _n_cells(self) -> int:
        return 1

    def _cells(self, block: DescriptorBlock) -> list[NDArray]:
        return [np.zeros(len(block.owners), dtype=np.intp)]
