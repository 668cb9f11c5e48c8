"""Assignment: one atom, or weights that fall with distance. Closed forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates import single_atom_objectives
from ..dictionary import smallest
from ..formulation import Formulation
from ..problem import Codes, CodingProblem


def one_atom(problem: CodingProblem, formulation: Formulation, sparse_output: bool) -> Codes:
    """The atom of smallest objective, with weight one, by looking at all of them."""
    best = single_atom_objectives(problem, formulation).argmin(axis=1)
    ones = np.ones(problem.n_samples, dtype=problem.cross.dtype)
    return scatter(ones[:, None], best[:, None], problem.n_atoms, sparse_output)


def soft_weights(squared_distances: NDArray, sigma: float) -> NDArray:
    r"""Weights :math:`\exp(-\sigma d_j^2) / \sum_i \exp(-\sigma d_i^2)` of each row.

    The smallest distance is subtracted first: the largest exponential is one, so the sum can
    neither vanish nor overflow.
    """
    weights = squared_distances - squared_distances.min(axis=1, keepdims=True)
    weights *= -sigma
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def soft_assignment(
    problem: CodingProblem, sigma: float, n_neighbors: int | None, sparse_output: bool
) -> Codes:
    """Soft weights over all atoms, or over the ``n_neighbors`` nearest of each sample."""
    distances = problem.squared_distances()
    if n_neighbors is None or n_neighbors >= problem.n_atoms:
        weights = soft_weights(distances, sigma)
        return sparse.csr_array(weights) if sparse_output else weights
    indices = smallest(distances, n_neighbors)
    weights = soft_weights(np.take_along_axis(distances, indices, axis=1), sigma)
    return scatter(weights, indices, problem.n_atoms, sparse_output)


def scatter(values: NDArray, indices: NDArray, n_atoms: int, sparse_output: bool) -> Codes:
    """Codes (n, N) from m values a row and the atoms (n, m) they belong to."""
    n_samples, n_values = values.shape
    if sparse_output:
        starts = np.arange(n_samples + 1) * n_values
        codes = sparse.csr_array(
            (values.ravel(), indices.ravel(), starts), shape=(n_samples, n_atoms)
        )
        codes.sort_indices()
        return codes
    dense = np.zeros((n_samples, n_atoms), dtype=values.dtype)
    np.put_along_axis(dense, indices, values, axis=1)
    return dense
