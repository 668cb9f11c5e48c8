"""Greedy coding: at most ``n_nonzero`` atoms per sample, chosen one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from ..constraints import AtMost
from ..parallel import map_rows
from ..penalty import AnyPenalty
from ..problem import CodingProblem
from .layout import plain
from .result import CodingResult, Options

SELECTIONS = ("omp", "ols")  # position = number of the rule in the compiled code
ROOM = 2**25  # numbers that are kept of samples whose pursuits go side by side


def solve(
    problem: CodingProblem, penalty: AnyPenalty, constraint: AtMost, options: Options
) -> CodingResult:
    r"""Greedy codes with at most ``n_nonzero`` atoms, least squares on the chosen ones.

    .. math:: \min_y \|\phi(x) - \Phi(D) y\|^2 \quad \text{subject to} \quad \|y\|_0 \le n

    With residual :math:`\rho` and chosen atoms S, the next atom maximises

    .. math:: \frac{\langle\rho, \phi(d_j)\rangle^2}{K_{jj}} \;\text{(omp)}, \qquad
              \frac{\langle\rho, \phi(d_j)\rangle^2}{K_{jj} - K_{jS} K_{SS}^{-1} K_{Sj}}
              \;\text{(ols)}

    so that "ols" takes the atom that lowers the residual most. Among equals the lowest index wins.
    A row ends early when its squared residual, or what the next atom would take off it, is at
    rounding level, and atoms that depend numerically on the chosen ones are passed over.

    Parameters
    ----------
    problem : CodingProblem
        n samples, N atoms of any norm.
    penalty : Penalty
        Not looked at: there is none.
    constraint : AtMost
        Largest number of atoms in a code (more than N is allowed), and the rule by which they are
        chosen.
    options : Options

    Returns
    -------
    CodingResult
        Every row converges: a greedy pursuit has no limit to run into. Iterations are the atoms
        chosen.

    Notes
    -----
    Batch-OMP: Rubinstein et al. (2008). Orthogonal least squares: Chen et al. (1989). Pursuit in
    kernel space: Van Nguyen et al. (2013).
    """
    from .._compiled.pursuit import pursue

    found = _Pursuits(problem, constraint, problem.gram.dtype)
    gram = plain(problem.gram, found.dtype)
    norms = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale, rule, eps = _inverse(norms), found.rule, found.eps
    own, cross = (plain(part, found.dtype) for part in (problem.self_similarity, problem.cross))

    def code(rows: slice) -> None:
        samples, out = (own[rows], cross[rows]), (found.support[rows], found.values[rows])
        pursue(*samples, gram, scale, rule, 0.0, eps, *out, found.counts[rows])

    cost = problem.n_atoms * (1 + found.support.shape[1]) ** 2
    map_rows(code, problem.n_samples, options.n_jobs, cost=cost)
    return found.result(options)


def solve_by_parts(
    problem: CodingProblem, penalty: AnyPenalty, constraint: AtMost, options: Options
) -> CodingResult:
    """What :func:`solve` finds, from rows of the Gram matrix that are asked for as they are needed.

    Each further atom costs the similarities of some samples to all atoms once more.
    """
    found = _Pursuits(problem, constraint, problem.facts.dtype)
    scale = _inverse(np.sqrt(np.maximum(problem.squares.astype(found.dtype), 0.0)))
    own, cross = (plain(part, found.dtype) for part in (problem.self_similarity, problem.cross))
    step = max(1, ROOM // (problem.n_atoms * (found.support.shape[1] + 4)))
    for rows in gen_batches(problem.n_samples, step):
        out = found.support[rows], found.values[rows], found.counts[rows]
        _pursue_together(problem, own[rows], cross[rows], scale, found, *out)
    return found.result(options)


def _pursue_together(
    problem: CodingProblem,
    own: NDArray,
    cross: NDArray,
    scale: NDArray,
    found: _Pursuits,
    support: NDArray,
    values: NDArray,
    counts: NDArray,
) -> None:
    """Codes of a few samples, one atom after the other for all of them."""
    from .._compiled.pursuit import Walk, step

    n, budget = support.shape
    inverse = _inverse(np.sqrt(np.maximum(own, 0.0)))
    allowed = np.tile((scale > 0).astype(found.dtype), (n, 1))
    walk = Walk(
        cross * scale * inverse[:, None],
        allowed,
        allowed.copy(),
        np.empty((n, budget, problem.n_atoms), found.dtype),
        np.empty((n, budget), found.dtype),
        np.zeros((n, budget)),
        np.where(own > 0, 1.0, 0.0),
        np.empty(n),
    )
    counts[:] = 0
    rows, known = np.arange(n), np.empty((0, problem.n_atoms), found.dtype)
    while rows.size:
        alive = step(walk, rows, known, scale, found.rule, found.eps, support, counts)
        rows = rows[:alive].copy()
        last = support[rows, counts[rows] - 1].astype(np.int64)
        known = plain(problem.facts.block(last), found.dtype)
    filled = np.arange(budget) < counts[:, None]
    chosen = scale[np.where(filled, support, 0)]
    values[:] = walk.beta * chosen * np.sqrt(np.maximum(own, 0.0))[:, None]


class _Pursuits:
    """Room for the atoms that are chosen, and their weights."""

    def __init__(self, problem: CodingProblem, constraint: AtMost, of_atoms: np.dtype):
        self.n_atoms, self.precision = problem.n_atoms, problem.cross.dtype
        self.dtype = np.result_type(self.precision, of_atoms, np.float32)
        self.rule = SELECTIONS.index(constraint.selection)
        self.eps = float(np.finfo(self.dtype).eps)
        shape = (problem.n_samples, min(constraint.n_nonzero, problem.n_atoms))
        self.support, self.values = np.empty(shape, np.int32), np.empty(shape, self.dtype)
        self.counts = np.empty(problem.n_samples, np.int64)

    def result(self, options: Options) -> CodingResult:
        """The codes; every pursuit ends well."""
        codes = _gather(self.support, self.values, self.counts, self.n_atoms)
        codes = codes.astype(self.precision, copy=False)
        converged = np.ones(len(self.counts), bool)
        return CodingResult(
            codes if options.sparse_output else codes.toarray(), converged, self.counts
        )


def _inverse(norms: NDArray) -> NDArray:
    """One over the norms; zero for zero."""
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def _gather(support: NDArray, values: NDArray, counts: NDArray, n_atoms: int) -> sparse.csr_array:
    """CSR array from the first ``counts[i]`` entries of each row."""
    filled = np.arange(support.shape[1]) < counts[:, None]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    codes = sparse.csr_array(
        (values[filled], support[filled], indptr), shape=(counts.size, n_atoms)
    )
    codes.sort_indices()
    return codes
