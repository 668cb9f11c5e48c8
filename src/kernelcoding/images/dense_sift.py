r"""SIFT histograms of every patch on a grid, by matrix products.

SIFT describes an upright patch by 4 x 4 cells of 8 orientations. Cell (i, j) of the patch centred
at (u, v) collects the gradient magnitudes of orientation o with the weight

.. math:: w_i((p - u) / b) \, w_j((q - v) / b), \qquad
    w_i(t) = \max(0, 1 - |t - i + 3/2|) \, e^{-t^2 / 8}

over pixels (p, q), with b the width of a cell: a product of a row weight and a column weight. So
the histograms of *all* patches are ``R' M_o C`` for each map of magnitudes M_o, with the banded
matrices of weights R (rows x 4 centres) and C (columns x 4 centres). The cost does not depend on
the width of the patches, where visiting the pixels of each patch, as OpenCV does, costs its square.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CELLS = 4
ORIENTATIONS = 8
SIZE = CELLS * CELLS * ORIENTATIONS
CLIP = 0.2  # Lowe's bound on an entry of the unit vector: strong edges do not drown the rest
BLOCK = 8  # centres per block: bands are narrow, blocks keep most zeros out of the products


def grid_centers(length: int, width: float, step: int) -> NDArray:
    """Centres along one axis: every `step` pixels, patches inside the image, margins even."""
    room = length - width
    if room < 0:
        return np.empty(0)
    count = int(room // step) + 1
    first = (length - 1) / 2 - step * (count - 1) / 2
    return np.floor(first) + step * np.arange(count)


def gradients(image: NDArray) -> tuple[NDArray, NDArray]:
    """Central differences to the right and upwards, half the difference of the neighbours.

    The outermost pixels have none.
    """
    right, up = np.zeros_like(image), np.zeros_like(image)
    right[1:-1, 1:-1] = 0.5 * (image[1:-1, 2:] - image[1:-1, :-2])
    up[1:-1, 1:-1] = 0.5 * (image[:-2, 1:-1] - image[2:, 1:-1])
    return right, up


def orientation_maps(image: NDArray) -> NDArray:
    """Gradient magnitudes shared between the two nearest of 8 orientations, (8, H, W)."""
    right, up = gradients(image)
    magnitude = np.sqrt(right * right + up * up)
    turn = np.arctan2(up, right) * np.float32(ORIENTATIONS / (2 * np.pi))  # from -4 to 4
    maps = np.empty((ORIENTATIONS, *image.shape), dtype=image.dtype)
    for index in range(ORIENTATIONS):
        if index == ORIENTATIONS // 2:  # -4 and 4 are one direction
            share = np.abs(np.abs(turn) - np.float32(index))
        else:
            share = np.abs(turn - np.float32((index + 3) % ORIENTATIONS - 3))
        np.subtract(1, share, out=share)
        np.maximum(share, 0, out=share)
        np.multiply(share, magnitude, out=maps[index])
    return maps


def cell_weights(pixels: NDArray, centers: NDArray, cell: float) -> NDArray:
    """Weight of each pixel of an axis for each centre and cell, (pixels, centres, 4)."""
    offsets = (pixels[:, None] - centers) / cell
    triangles = [np.maximum(0, 1 - np.abs(offsets - i + 1.5)) for i in range(CELLS)]
    weights = np.stack(triangles, axis=2) * np.exp(-(offsets[:, :, None] ** 2) / 8)
    return weights.astype(np.float32)


def bands(length: int, centers: NDArray, cell: float) -> Iterator[tuple[slice, slice, NDArray]]:
    """Blocks of the banded matrix of weights: pixels, columns (4 per centre), and the values.

    A product with the whole matrix would multiply zeros mostly: a block of centres sees only the
    pixels it reaches. Centres are evenly spaced, so all blocks have the same weights.
    """
    reach = int(np.ceil(2.5 * cell))
    first = centers[:BLOCK]
    window = np.arange(first[0] - reach, first[-1] + reach + 1)
    weights = cell_weights(window, first, cell).reshape(len(window), -1)
    for start in range(0, len(centers), BLOCK):
        stop = min(start + BLOCK, len(centers))
        low = int(centers[start]) - reach
        values = weights[max(0, -low) : length - low, : CELLS * (stop - start)]
        pixels = slice(max(0, low), max(0, low) + len(values))
        yield pixels, slice(CELLS * start, CELLS * stop), values


def histograms(maps: NDArray, rows: NDArray, columns: NDArray, width: float, out: NDArray) -> None:
    """Fill `out` (patches, 128) with raw SIFT histograms of the patches at rows x columns.

    Centres are whole numbers, evenly spaced. Entries are in OpenCV's order: row of the cell, column
    of the cell, orientation.
    """
    cell = width / CELLS
    across = np.empty((ORIENTATIONS, CELLS * len(columns), maps.shape[1]), dtype=np.float32)
    for pixels, part, weights in bands(maps.shape[2], columns, cell):
        turned = np.swapaxes(maps[:, :, pixels], 1, 2)
        np.matmul(weights.T, turned, out=across[:, part])  # (8, columns x 4, H)
    both = np.empty((*across.shape[:2], CELLS * len(rows)), dtype=np.float32)
    for pixels, part, weights in bands(maps.shape[1], rows, cell):
        np.matmul(across[..., pixels], weights, out=both[..., part])
    both = both.reshape(ORIENTATIONS, len(columns), CELLS, len(rows), CELLS)
    shape = (len(rows), len(columns), CELLS, CELLS, ORIENTATIONS)
    np.copyto(out.reshape(shape), both.transpose(3, 1, 4, 2, 0))


def mean_gradient(raw: NDArray, width: float) -> NDArray:
    """Weighted mean of the gradient magnitude over each patch that lies inside the image."""
    pixels = np.arange(-np.ceil(width), np.ceil(width) + 1)
    weights = cell_weights(pixels, np.zeros(1), width / CELLS)
    return raw.sum(axis=1) / weights.sum(dtype=np.float64) ** 2


def root_sift(raw: NDArray) -> NDArray:
    """RootSIFT of raw histograms, in place: clipped as Lowe does, unit l1 norm, square root.

    Rows of zeros stay zeros.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", raw, raw))[:, None]
    np.minimum(raw, CLIP * norms, out=raw)
    sums = raw.sum(axis=1, keepdims=True)
    np.divide(raw, sums, out=raw, where=sums > 0)
    return np.sqrt(raw, out=raw)
