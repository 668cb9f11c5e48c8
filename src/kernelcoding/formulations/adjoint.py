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

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._compiled.arguments import read_only
from ..codes import Codes, times
from ..penalty import Penalty
from ..priors import FixedPrior, LocalCoordinate, Locality
from ..problem import CodingProblem
from .base import Formulation
from .neighbours import NeighbourFit
from .penalised import Penalised

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
    rows.eliminate_zeros()
    place = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices
    ridge = np.broadcast_to(_ridge(formulation, problem, rows) + damping, gradient.shape)
    sum_to_one = isinstance(formulation, NeighbourFit) or formulation.constraint.sum_to_one
    cross = np.zeros(gradient.shape)
    cross[place] = _solved(problem.gram, ridge[place], rows, gradient[place], sum_to_one)
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


def _solved(
    gram: NDArray, ridge: NDArray, rows: sparse.csr_array, right: NDArray, sum_to_one: bool
) -> NDArray:
    """B of every row on its support, one number for each nonzero."""
    from .._compiled.adjoint import solve_on_supports

    gram, found = np.ascontiguousarray(gram, np.float64), right.astype(np.float64)
    starts, atoms = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    done = np.ones(rows.shape[0], dtype=bool)
    solve_on_supports(read_only(gram), ridge, starts, atoms, sum_to_one, found, done)
    for i in np.flatnonzero(~done):  # atoms that are combinations of each other
        own = slice(starts[i], starts[i + 1])
        system = gram[np.ix_(atoms[own], atoms[own])] + np.diag(ridge[own])
        found[own] = _least(system, right[own], sum_to_one)
    return found


def _least(system: NDArray, right: NDArray, sum_to_one: bool) -> NDArray:
    """The shortest solution of a system that has none or many."""
    both = np.linalg.lstsq(system, np.column_stack([right, np.ones(len(right))]))[0]
    if not sum_to_one:
        return both[:, 0]
    sums = both.sum(axis=0)
    return both[:, 0] - both[:, 1] * (sums[0] / sums[1])
