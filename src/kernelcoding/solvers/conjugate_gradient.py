r"""Many systems that differ in their diagonal only: exact LLC without a factor for each sample.

Exact LLC asks each sample for :math:`(C_i + Q_i)\,w = \mathbf 1`, with
:math:`C_i = K - k_i\mathbf 1^\top - \mathbf 1 k_i^\top + k(x_i, x_i)\mathbf 1\mathbf 1^\top` and
a diagonal :math:`Q_i` of its own. A factor would cost :math:`N^3/3` per sample. Conjugate gradients
on all samples at once cost one matrix product per iteration, and the shared preconditioner
:math:`(K + \bar q_i I)^{-1}`, applied through one eigendecomposition of K, bounds the condition
number by :math:`\max Q_i / \min Q_i`, whatever that of K: some twenty iterations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..gram import GramFacts
from ..problem import CodingProblem

# Relative residual at which a row stops; the error in the objective is of the order of its square.
TOLERANCE = 1e-9
# Eigenvalues below this fraction of the smallest ridge are left out of the preconditioner.
NEGLIGIBLE = 1.0


def solve_affine(problem: CodingProblem, ridge: NDArray, max_iter: int) -> tuple[NDArray, NDArray]:
    r"""Codes that minimise :math:`\tfrac12\|\phi - \Phi y\|^2 + \tfrac12 y^\top Q y`, sum one.

    Parameters
    ----------
    problem : CodingProblem
        In double precision.
    ridge : (n, N) array
        Diagonal of Q for each sample, positive.
    max_iter : int
        Iterations after which a row is given up.

    Returns
    -------
    codes : (n, N) array
    converged : (n,) booleans
    """
    n_samples, n_atoms = problem.cross.shape
    precondition = _preconditioner(problem.facts, ridge)
    weights = np.zeros((n_samples, n_atoms))
    residual = np.ones((n_samples, n_atoms))
    running = np.arange(n_samples)
    step = precondition(residual, running)
    energy = (residual * step).sum(axis=1)
    direction = step.copy()
    for _ in range(max_iter):
        image = _apply(problem, ridge, direction, running)
        length = energy / (direction * image).sum(axis=1)
        weights[running] += length[:, None] * direction
        residual -= length[:, None] * image
        active = np.abs(residual).max(axis=1) > TOLERANCE
        if not active.all():
            running, residual, direction = running[active], residual[active], direction[active]
            energy = energy[active]
        if running.size == 0:
            break
        step = precondition(residual, running)
        new_energy = (residual * step).sum(axis=1)
        direction *= (new_energy / energy)[:, None]
        direction += step
        energy = new_energy
    converged = np.ones(n_samples, dtype=bool)
    converged[running] = False
    return weights / weights.sum(axis=1, keepdims=True), converged


def _apply(problem: CodingProblem, ridge: NDArray, points: NDArray, rows: NDArray) -> NDArray:
    """Each row times its own ``C_i + Q_i``."""
    cross, own = problem.cross[rows], problem.self_similarity[rows]
    totals = points.sum(axis=1)
    inner = (cross * points).sum(axis=1)
    image = points @ problem.gram
    image -= cross * totals[:, None]
    image += (own * totals - inner)[:, None]
    image += ridge[rows] * points
    return image


def _preconditioner(facts: GramFacts, ridge: NDArray) -> Callable[[NDArray, NDArray], NDArray]:
    """Map of residuals by ``(K + q I)^-1``, q the middle of each row's ridge (in ratio)."""
    values, vectors = facts.spectrum
    middle = np.sqrt(ridge.min(axis=1) * ridge.max(axis=1))
    # Eigenvalues far below the ridge change nothing: their directions keep the plain 1 / q.
    kept = values > NEGLIGIBLE * ridge.min()
    basis, kept_values = vectors[:, kept], values[kept]

    def precondition(residual: NDArray, rows: NDArray) -> NDArray:
        q = middle[rows, None]
        projected = (residual @ basis) * (kept_values / (kept_values + q))
        return (residual - projected @ basis.T) / q

    return precondition
