"""Assignment: one atom, or weights that fall with distance. Closed forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates import single_atom_objectives
from ..dictionary import Neighbours
from ..formulation import Formulation
from ..problem import Codes, CodingProblem
from .layout import plain, scatter


def one_atom(problem: CodingProblem, formulation: Formulation, sparse_output: bool) -> Codes:
    """The atom of smallest objective, with weight one, by looking at all of them."""
    best = single_atom_objectives(problem, formulation).argmin(axis=1)
    ones = np.ones((problem.n_samples, 1), dtype=problem.cross.dtype)
    return scatter(ones, best[:, None], problem.n_atoms, sparse_output)


def nearest_atom(near: Neighbours, n_atoms: int, sparse_output: bool) -> Codes:
    """Weight one for the first of the neighbours."""
    ones = np.ones((len(near.indices), 1), dtype=near.cross.dtype)
    return scatter(ones, near.indices[:, :1], n_atoms, sparse_output)


def soft_weights(
    cross: NDArray, atom_norms: NDArray, sigma: float, out: NDArray | None = None
) -> NDArray:
    r"""Weights :math:`\exp(-\sigma d_j^2) / \sum_i \exp(-\sigma d_i^2)` of each row.

    As k(x, x) cancels, they are the softmax of :math:`2\sigma(k_j - K_{jj}/2)`. The largest is
    subtracted first, so that the sum can neither vanish nor overflow.

    Parameters
    ----------
    cross : (n, m) array
        Similarities to the atoms.
    atom_norms : (m,) or (n, m) array
        Self-similarities of the atoms.
    sigma : float
        Bandwidth.
    out : (n, m) array, default=None
        Where the weights are written.
    """
    from .._compiled.softmax import fill_soft_weights as fill

    offsets = plain(np.atleast_2d(0.5 * atom_norms))
    weights = np.empty_like(cross) if out is None else out
    fill(plain(cross), offsets, 2.0 * float(sigma), weights)
    return weights


def soft_assignment(
    problem: CodingProblem, sigma: float, sparse_output: bool, out: NDArray | None = None
) -> Codes:
    """Soft weights over all atoms."""
    weights = soft_weights(problem.cross, np.diag(problem.gram), sigma, out)
    return sparse.csr_array(weights) if sparse_output else weights


def local_assignment(near: Neighbours, gram: NDArray, sigma: float, sparse_output: bool) -> Codes:
    """Soft weights over the neighbours of each sample."""
    weights = soft_weights(near.cross, np.diag(gram)[near.indices], sigma)
    return scatter(weights, near.indices, len(gram), sparse_output)
