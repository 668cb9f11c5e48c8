"""Approximate locality-constrained coding: few nearest atoms, one small linear system a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..problem import Codes
from .parallel import map_rows

MANY = 64  # neighbours from which a partition beforehand pays


def nearest(scores: NDArray, n_neighbours: int, n_jobs: int | None = None) -> NDArray:
    """Columns of the smallest scores of each row, by increasing score, the lowest index first.

    Parameters
    ----------
    scores : (n, N) array
        Distances, or anything that orders atoms as distances do.
    n_neighbours : int
        How many columns to keep; more than N keeps N.
    n_jobs : int, optional
        Threads over rows.

    Returns
    -------
    indices : (n, n_neighbours) array of int
    """
    return _smallest(scores, np.zeros(scores.shape[1]), 1.0, n_neighbours, n_jobs)


def nearest_from_products(
    products: NDArray, atom_offsets: NDArray, n_neighbours: int, n_jobs: int | None = None
) -> NDArray:
    r"""Nearest atoms from inner products, without an array of distances.

    .. math:: \operatorname*{argmin}_j \; o_j - 2 p_{ij}, \qquad
              \|q_i - d_j\|^2 = \|q_i\|^2 + (\|d_j\|^2 - 2 q_i^\top d_j)

    Parameters
    ----------
    products : (n, N) array
        Inner products ``p`` of samples and atoms, in the input space or in H.
    atom_offsets : (N,) array
        Squared norms of the atoms, ``o``.
    n_neighbours : int
        How many atoms to keep; more than N keeps N.
    n_jobs : int, optional
        Threads over rows.

    Returns
    -------
    indices : (n, n_neighbours) array of int
        By increasing distance, the lowest index first among equals.
    """
    return _smallest(products, atom_offsets, -2.0, n_neighbours, n_jobs)


def _smallest(
    products: NDArray, offsets: NDArray, factor: float, n_kept: int, n_jobs: int | None
) -> NDArray:
    """Columns of the smallest ``offsets + factor * products``."""
    from ._compiled.local import smallest

    dtype = np.result_type(products, np.float32)
    products = np.ascontiguousarray(products, dtype)
    offsets = np.ascontiguousarray(offsets, dtype)
    n_rows, n_columns = products.shape
    indices = np.empty((n_rows, min(n_kept, n_columns)), np.intp)

    def select(rows: slice) -> None:
        block, best = products[rows], indices[rows]
        if best.shape[1] <= MANY:
            bounds = np.full(len(block), np.inf, dtype)
            smallest(block, offsets, dtype.type(factor), bounds, best)
        else:  # many are wanted: knowing the last of them beforehand saves most insertions
            scores = offsets + dtype.type(factor) * block
            bounds = np.partition(scores, best.shape[1] - 1, axis=1)[:, best.shape[1] - 1].copy()
            smallest(scores, np.zeros_like(offsets), dtype.type(1), bounds, best)

    map_rows(select, n_rows, n_jobs, chunk=512)
    return indices


def solve(
    self_similarity: NDArray,
    neighbours: NDArray,
    cross_at_neighbours: NDArray,
    gram: NDArray,
    regularization: float,
    n_jobs: int | None = None,
    sparse_output: bool = False,
) -> Codes:
    r"""Codes of approximate kernel LLC: affine least squares on given atoms.

    .. math:: \min_y \; y^\top (C + \beta\,\mathrm{tr}(C) I) y \quad\text{subject to}\quad
              1^\top y = 1, \qquad C = K_B - k 1^\top - 1 k^\top + k(x, x) 1 1^\top

    solved as :math:`(C + \beta\,\mathrm{tr}(C) I) w = 1`, :math:`y = w / 1^\top w`.

    Parameters
    ----------
    self_similarity : (n,) array
    neighbours : (n, m) array of int
        The atoms each sample may use, no atom twice in a row.
    cross_at_neighbours : (n, m) array
        Kernel values of the samples and these atoms.
    gram : (N, N) array
        Kernel values of all atoms.
    regularization : float
        The ridge :math:`\beta`, relative to the trace of C.
    n_jobs : int, optional
        Threads over rows.
    sparse_output : bool
        Codes as a CSR array instead of a dense one.

    Returns
    -------
    codes : (n, N) array or CSR array

    Notes
    -----
    The paper prints ``(K - k 1') y = 1`` divided by the l1 norm, which breaks :math:`1^\top y = 1`
    as soon as a weight is negative; this is the symmetric form of Wang et al. (2010) in H.

    C is known up to the rounding of the kernel values, ``4 m eps max(k(x, x), K_jj)``. A sample
    whose trace is below that coincides with all its neighbours: its code is one at the nearest.
    Where :math:`\beta` leaves a pivot below that, the ridge of this sample is raised to it, so that
    :math:`\beta = 0` gives a minimiser of :math:`y^\top C y` up to rounding, even for singular C.
    """
    from ._compiled.local import affine_codes

    dtype = np.result_type(cross_at_neighbours, gram, np.float32)
    self_similarity = np.ascontiguousarray(self_similarity, dtype)
    neighbours = np.ascontiguousarray(neighbours, np.intp)
    cross = np.ascontiguousarray(cross_at_neighbours, dtype)
    gram = np.ascontiguousarray(gram, dtype)
    eps, ridge = float(np.finfo(dtype).eps), float(regularization)
    weights = np.empty(neighbours.shape, dtype)

    def code(rows: slice) -> None:
        samples = self_similarity[rows], neighbours[rows], cross[rows]
        affine_codes(*samples, gram, ridge, eps, weights[rows])

    map_rows(code, neighbours.shape[0], n_jobs, chunk=256)
    return _scatter(weights, neighbours, gram.shape[0], sparse_output)


def _scatter(weights: NDArray, neighbours: NDArray, n_atoms: int, sparse_output: bool) -> Codes:
    """Place each row of weights at the columns of its neighbours."""
    n_rows, n_neighbours = neighbours.shape
    if not sparse_output:
        codes = np.zeros((n_rows, n_atoms), weights.dtype)
        np.put_along_axis(codes, neighbours, weights, axis=1)
        return codes
    indptr = np.arange(0, n_rows * n_neighbours + 1, n_neighbours)
    placed = (weights.ravel(), neighbours.flatten(), indptr)  # a copy: it is sorted in place
    compact = sparse.csr_array(placed, shape=(n_rows, n_atoms))
    compact.sort_indices()
    compact.eliminate_zeros()
    return compact
