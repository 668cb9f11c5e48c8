"""Pooling over the cells of a spatial pyramid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from ..validation import check_count
from .pooling import CodePooling
from .sets import DescriptorBlock


class SpatialPyramid(CodePooling):
    r"""Pool codes in the cells of ever finer grids, and join the cells.

    Level g divides an image into g x g cells; each cell is pooled on its own as by
    :class:`Pooling`, and the vector of an image is that of all cells of all levels, one after the
    other, scaled to unit norm. With ``KernelLLC(kernel="linear")`` this is LLC image
    classification, with a learned sparse dictionary and ``how="absolute_max"`` it is ScSPM.

    Parameters
    ----------
    coder : transformer of descriptors, default=None
        As in :class:`Pooling`.
    levels : tuple of int, default=(1, 2, 4)
        Cells along each side, one number per level.
    how, norm, n_samples, random_state
        As in :class:`Pooling`.

    Attributes
    ----------
    coder_ : transformer
        Fitted.
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    Sets must be records with ``descriptors`` and ``positions``, and ``shape`` where known, as
    :class:`~kernelcoding.images.DenseRootSIFT` makes them; see :class:`DescriptorSet` for your
    own. Features are ordered by level, cell (row by row), atom. A cell without
    descriptors is zero.

    Lazebnik, Schmid and Ponce, 2006 (pyramids); Yang et al., 2009 (ScSPM); Wang et al., 2010
    (LLC).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding import KernelLLC
    >>> from kernelcoding.aggregation import DescriptorSet, SpatialPyramid
    >>> rng = np.random.default_rng(0)
    >>> images = [
    ...     DescriptorSet(rng.normal(size=(50, 8)), rng.uniform(0, 100, (50, 2)), (100, 100))
    ...     for _ in range(4)
    ... ]
    >>> coder = KernelLLC(kernel="linear", atoms=16, random_state=0)
    >>> SpatialPyramid(coder, levels=(1, 2)).fit_transform(images).shape
    (4, 80)
    """

    def __init__(
        self,
        coder: TransformerMixin | None = None,
        levels: Sequence[int] = (1, 2, 4),
        how: str = "max",
        norm: str | None = "l2",
        n_samples: int | None = 20_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.coder = coder
        self.levels = levels
        self.how = how
        self.norm = norm
        self.n_samples = n_samples
        self.random_state = random_state

    _wants_positions = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.levels, str) or not np.iterable(self.levels) or not list(self.levels):
            raise ValueError(
                "levels must hold at least one number of cells along a side, such as (1, 2, 4), "
                f"got {self.levels!r}."
            )
        for level in self.levels:
            check_count("each of levels", level)

    def _n_cells(self) -> int:
        return sum(level**2 for level in self.levels)

    def _cells(self, block: DescriptorBlock) -> list[NDArray]:
        assert block.places is not None  # asked for by _wants_positions
        answer, before = [], 0
        for level in self.levels:
            along = np.clip(np.floor(block.places * level), 0, level - 1).astype(np.intp)
            answer.append(before + along[:, 0] * level + along[:, 1])
            before += level**2
        return answer
