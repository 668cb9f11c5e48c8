"""Greedy coding: at most ``n_nonzero`` atoms per sample, chosen one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..constraints import AtMost
from ..parallel import map_rows
from ..penalty import AnyPenalty
from ..problem import CodingProblem
from .layout import plain
from .result import CodingResult, Options

SELECTIONS = ("omp", "ols")  # position = number of the rule in the compiled code


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
        Most atoms in a code (more than N is allowed), and the rule by which they are chosen.
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

    dtype = np.result_type(problem.cross, problem.gram, np.float32)
    self_similarity = plain(problem.self_similarity, dtype)
    cross = plain(problem.cross, dtype)
    gram = plain(problem.gram, dtype)
    norms = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    rule, eps = SELECTIONS.index(constraint.selection), float(np.finfo(dtype).eps)
    shape = (problem.n_samples, min(constraint.n_nonzero, problem.n_atoms))
    support, values = np.empty(shape, np.int32), np.empty(shape, dtype)
    n_chosen = np.empty(problem.n_samples, np.int64)

    def code(rows: slice) -> None:
        samples, out = (self_similarity[rows], cross[rows]), (support[rows], values[rows])
        pursue(*samples, gram, scale, rule, 0.0, eps, *out, n_chosen[rows])

    cost = problem.n_atoms * (1 + shape[1]) ** 2
    map_rows(code, problem.n_samples, options.n_jobs, cost=cost)
    codes = _gather(support, values, n_chosen, problem.n_atoms)
    converged = np.ones(problem.n_samples, bool)
    codes = codes.astype(problem.cross.dtype, copy=False)
    return CodingResult(codes if options.sparse_output else codes.toarray(), converged, n_chosen)


def _gather(support: NDArray, values: NDArray, counts: NDArray, n_atoms: int) -> sparse.csr_array:
    """CSR array from the first ``counts[i]`` entries of each row."""
    filled = np.arange(support.shape[1]) < counts[:, None]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    codes = sparse.csr_array(
        (values[filled], support[filled], indptr), shape=(counts.size, n_atoms)
    )
    codes.sort_indices()
    return codes
