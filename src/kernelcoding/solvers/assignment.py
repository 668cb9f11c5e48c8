"""Assignment: one atom, or weights that fall with distance. Closed forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates import single_atom_objectives
from ..codes import Codes
from ..constraints import Constraint
from ..penalty import AnyPenalty, Penalty
from ..problem import CodingProblem, Neighbours
from .layout import plain, scatter
from .result import CodingResult, Options


def solve(
    problem: CodingProblem, penalty: AnyPenalty, constraint: Constraint, options: Options
) -> CodingResult:
    """The atom of smallest objective, with weight one; without a penalty, the nearest."""
    if isinstance(penalty, Penalty) and penalty.is_zero and problem.geometry is None:
        near = problem.nearest(1)
        best, dtype = near.indices, near.cross.dtype
    else:
        best = single_atom_objectives(problem, penalty).argmin(axis=1)[:, None]
        dtype = problem.cross.dtype
    ones = np.ones(best.shape, dtype)
    return CodingResult.closed_form(scatter(ones, best, problem.n_atoms, options.sparse_output))


def soft_weights(
    cross: NDArray, atom_norms: NDArray, sigma: float, room: NDArray | None = None
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
    room : (n, m) array, default=None
        Where to write them, if it has their precision.
    """
    from .._compiled.softmax import fill_soft_weights as fill

    offsets = plain(np.atleast_2d(0.5 * atom_norms))
    fits = room is not None and (room.shape, room.dtype) == (cross.shape, cross.dtype)
    weights = room if room is not None and fits else np.empty_like(cross)
    fill(plain(cross), offsets, 2.0 * float(sigma), weights)
    return weights


def soft_assignment(problem: CodingProblem, sigma: float, options: Options) -> CodingResult:
    """Soft weights over all atoms."""
    room = None if options.sparse_output else options.room
    weights: Codes = soft_weights(problem.cross, problem.squares, sigma, room)
    return CodingResult.closed_form(sparse.csr_array(weights) if options.sparse_output else weights)


def local_assignment(
    near: Neighbours, squares: NDArray, sigma: float, options: Options
) -> CodingResult:
    """Soft weights over the neighbours of each sample."""
    weights = soft_weights(near.cross, squares[near.indices], sigma)
    return CodingResult.closed_form(
        scatter(weights, near.indices, len(squares), options.sparse_output)
    )
