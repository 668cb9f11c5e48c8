r"""How a loss of codes changes with similarities: codes are differentiated where they are smooth.

On its support S a code solves :math:`H y_S = k_S - \alpha s - \mu 1` with
:math:`H = K_{SS} + \mathrm{diag}(q_S)` and signs s that stay the same near by; :math:`\mu` is zero,
or what makes the code sum to one. A loss with the gradient g in the code then has, with
:math:`b_S = H^{-1}(g_S - \nu 1)` (:math:`\nu` zero, or what makes b sum to zero),

.. math:: \mathrm d\ell = b_S^\top(\mathrm dk_S - \mathrm dK_{SS}\, y_S).

Penalties that look at squared distances (LCC, exact and approximate LLC) add what they change with
these, :math:`k(x, x) - 2k_j + K_{jj}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, times
from ..penalty import Penalty
from ..priors import FixedPrior, LocalCoordinate, Locality
from ..problem import CodingProblem
from .base import Formulation
from .neighbours import NeighbourFit
from .penalised import Penalised

ROOM = 2**20  # numbers in a stack of small systems


Differentiable = Penalised | NeighbourFit


def has_adjoint(formulation: Formulation) -> TypeGuard[Differentiable]:
    """Whether codes can be differentiated here."""
    return why_no_adjoint(formulation) is None


def why_no_adjoint(formulation: Formulation) -> str | None:
    """What is in the way of differentiating codes, as the end of a sentence; None: nothing."""
    if isinstance(formulation, NeighbourFit):
        return None
    if not isinstance(formulation, Penalised):
        return f"no derivative of {type(formulation).__name__} is known"
    if not formulation.constraint.is_convex:
        name = type(formulation.constraint).__name__
        return f"codes with the constraint {name} jump from atoms to atoms and are flat between"
    if formulation.kind == "group":
        return "those of priors with groups are not implemented"
    if not isinstance(formulation.prior, (FixedPrior, LocalCoordinate, Locality)):
        return "a prior of your own tells its value and proximal map, not how codes follow atoms"
    return None


def pull_back(
    formulation: Differentiable,
    problem: CodingProblem,
    codes: Codes,
    gradient: NDArray,
    damping: float = 0.0,
) -> tuple[NDArray, NDArray]:
    """Derivatives of a loss of codes in the similarities that the codes were made from.

    Parameters
    ----------
    formulation : Penalised or NeighbourFit
        What the codes are; it must have an adjoint.
    problem : CodingProblem
    codes : array of shape (n, N)
        Minimisers.
    gradient : array of shape (n, N)
        Of the loss, summed over samples, in the codes.
    damping : float, default=0.0
        Added to the diagonal of the systems: near a change of supports they may be singular.

    Returns
    -------
    cross : array of shape (n, N)
        In ``problem.cross``.
    gram : array of shape (N, N), symmetric
        In ``problem.gram``, each of whose off-diagonal numbers counts twice.
    """
    rows = sparse.csr_array(codes)
    ridge = np.broadcast_to(_ridge(formulation, problem, rows) + damping, gradient.shape)
    sum_to_one = isinstance(formulation, NeighbourFit) or formulation.constraint.sum_to_one
    cross = np.zeros(gradient.shape)
    for some, atoms, used in _alike(rows):
        right = np.where(used, gradient[some[:, None], atoms], 0.0)
        systems = _systems(problem.gram, atoms, used, ridge[some[:, None], atoms])
        solved = _solve(systems, right, used, sum_to_one)
        place = np.broadcast_to(some[:, None], atoms.shape)[used]
        cross[place, atoms[used]] = solved[used]
    mixed = times(sparse.csr_array(rows.T), cross)  # sum over samples of y b'
    gram = -0.5 * (mixed + mixed.T)
    by_distance = _by_distance(formulation, problem, rows, cross)
    if by_distance is not None:
        cross = cross + 2.0 * by_distance
        gram[np.diag_indices_from(gram)] -= by_distance.sum(axis=0)
    return cross, gram


def _ridge(formulation: Differentiable, problem: CodingProblem, rows: sparse.csr_array) -> NDArray:
    """What penalties add to the diagonals of the systems, (n, N), (n, 1) or (1, N)."""
    if isinstance(formulation, Penalised):
        penalty = formulation.penalty(problem)
        assert isinstance(penalty, Penalty)
        return penalty.ridge
    trace = np.sum(problem.squared_distances(), axis=1, where=rows.toarray() != 0.0)
    return formulation.regularization * trace[:, None]


def _by_distance(
    formulation: Differentiable, problem: CodingProblem, rows: sparse.csr_array, solved: NDArray
) -> NDArray | None:
    """Minus the derivatives in squared distances that penalties look at, (n, N); None: at none.

    The penalty's own derivatives in distances, changed along b.
    """
    if isinstance(formulation, NeighbourFit):  # half the ridge, times the sum of distances
        codes = rows.toarray()
        along = formulation.regularization * np.sum(codes * solved, axis=1, keepdims=True)
        return np.where(codes != 0.0, along, 0.0)
    if isinstance(formulation.prior, LocalCoordinate):
        return formulation.alpha * solved * rows.sign().toarray()
    if isinstance(formulation.prior, Locality):
        products = solved * rows.toarray()
        return formulation.alpha * formulation.prior.weights_of_squares(problem, products)
    return None


def _alike(rows: sparse.csr_array) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
    """Samples with supports of about one size: their numbers, atoms, and which of these count."""
    rows.eliminate_zeros()
    sizes = np.diff(rows.indptr)
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    while order.size:
        largest = int(sizes[order[-1]])
        alike = int(np.count_nonzero(2 * sizes[order] >= largest))
        count = max(1, min(ROOM // largest**2, alike))
        some, order = order[-count:], order[:-count]
        used = np.arange(largest) < sizes[some][:, None]
        place = rows.indptr[some][:, None] + np.arange(largest)
        yield some, np.where(used, rows.indices[np.where(used, place, 0)], 0), used


def _systems(gram: NDArray, atoms: NDArray, used: NDArray, ridge: NDArray) -> NDArray:
    """The matrices H, filled up with rows of the identity to one size."""
    systems = gram[atoms[:, :, None], atoms[:, None, :]]
    systems *= used[:, :, None] & used[:, None, :]
    diagonal = np.arange(atoms.shape[1])
    systems[:, diagonal, diagonal] += np.where(used, ridge, 1.0)
    return systems


def _solve(systems: NDArray, right: NDArray, used: NDArray, sum_to_one: bool) -> NDArray:
    if not sum_to_one:
        return np.linalg.solve(systems, right[:, :, None])[:, :, 0]
    both = np.linalg.solve(systems, np.stack([right, used.astype(float)], axis=2))
    sums = both.sum(axis=1, keepdims=True)
    return both[:, :, 0] - both[:, :, 1] * (sums[:, :, 0] / sums[:, :, 1])
