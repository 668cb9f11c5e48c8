"""Filters along one axis of a stack of images, as matrix products.

A row filtered with taps is a product with a banded matrix, into which the padding is folded:
nothing is padded, and no tap is spent on pixels outside the image. Long rows are cut into blocks,
so that the cost per pixel grows with the taps and not with the row.

Stacks here have the shape (H, n, W): with the images in the middle, filtering along either axis is
one large product for the whole stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

# What stands beyond the edge, as numpy.pad calls it: "reflect" (d c b | a b c d), "symmetric"
# (b a | a b c d), "edge" (a a | a b c d).
Padding = Literal["reflect", "symmetric", "edge"]
PADDINGS = get_args(Padding)
BLOCK = 64  # outputs per block: rows up to here are one product


def check_padding(padding: object) -> None:
    """Refuse a padding that is not in the table."""
    if padding not in PADDINGS:
        raise ValueError(f"padding must be one of {PADDINGS}, got {padding!r}.")


class Axis:
    """Rows of one length that taps of one length run along.

    Parameters
    ----------
    length : int
        Of the rows; may be smaller than the taps: reflections then repeat.
    n_taps : int
        Odd; the middle one is the centre.
    padding : str
        One of `PADDINGS`.
    """

    def __init__(self, length: int, n_taps: int, padding: Padding) -> None:
        self.length = length
        source = np.pad(np.arange(length), n_taps // 2, mode=padding)
        self.columns = source[np.arange(length)[:, np.newaxis] + np.arange(n_taps)]

    def blocks(self, taps: NDArray) -> Iterator[tuple[slice, slice, NDArray]]:
        """The band of the matrix that correlates rows with taps, block by block.

        Parameters
        ----------
        taps : array of shape (n_taps,)
            One filter.

        Yields
        ------
        outputs : slice
            Some outputs of a row.
        inputs : slice
            The inputs that they look at.
        matrix : array of shape (n_outputs, n_inputs)
            Weights from these inputs to these outputs.
        """
        for start in range(0, self.length, BLOCK):
            columns = self.columns[start : start + BLOCK]
            first, last = int(columns.min()), int(columns.max())
            matrix = np.zeros((len(columns), last - first + 1))
            rows = np.arange(len(columns))[:, np.newaxis]
            np.add.at(matrix, (rows, columns - first), taps)
            yield slice(start, start + len(columns)), slice(first, last + 1), matrix


def correlate_x(images: NDArray, axis: Axis, taps: NDArray) -> NDArray:
    """Correlate a stack (H, n, W) along its rows."""
    filtered = np.empty_like(images)
    flat = images.reshape(-1, images.shape[2])
    for outputs, inputs, matrix in axis.blocks(taps):
        np.matmul(flat[:, inputs], matrix.T, out=filtered.reshape(flat.shape)[:, outputs])
    return filtered


def correlate_y(images: NDArray, axis: Axis, taps: NDArray) -> NDArray:
    """Correlate a stack (H, n, W) along its columns."""
    filtered = np.empty_like(images)
    flat = images.reshape(images.shape[0], -1)
    for outputs, inputs, matrix in axis.blocks(taps):
        np.matmul(matrix, flat[inputs], out=filtered.reshape(flat.shape)[outputs])
    return filtered
