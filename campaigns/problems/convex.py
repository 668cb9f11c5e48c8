"""Codes by Clarabel, an interior-point method: for group norms and for more atoms."""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .families import Arrays
from .reference import Sets, feasible
from .terms import Long, Terms

ACCURACIES = (1e-12, 1e-10, 1e-8)


class _Compiled:
    """The problem of one size, compiled once by cvxpy."""

    def __init__(self, n_atoms: int, labels: tuple[int, ...], sets: Sets) -> None:
        import cvxpy  # it takes a second

        self.code = code = cvxpy.Variable(n_atoms)
        self.root = cvxpy.Parameter((n_atoms, n_atoms))
        self.cross = cvxpy.Parameter(n_atoms)
        self.l1 = cvxpy.Parameter(n_atoms, nonneg=True)
        self.ridge = cvxpy.Parameter(n_atoms, nonneg=True)
        self.weights = cvxpy.Parameter(max(labels) + 1, nonneg=True)
        cost = 0.5 * cvxpy.sum_squares(self.root @ code) - self.cross @ code
        cost = cost + self.l1 @ cvxpy.abs(code)
        cost = cost + 0.5 * cvxpy.sum_squares(cvxpy.multiply(self.ridge, code))
        members = [np.flatnonzero(np.array(labels) == group) for group in range(max(labels) + 1)]
        norms = cvxpy.hstack([cvxpy.norm(code[list(group)]) for group in members])
        cost = cost + self.weights @ norms
        limits = [code >= 0] if sets.nonnegative else []
        limits += [cvxpy.sum(code) == 1] if sets.sum_to_one else []
        self.problem = cvxpy.Problem(cvxpy.Minimize(cost), limits)


_compiled = lru_cache(maxsize=64)(_Compiled)


def codes_by_clarabel(arrays: Arrays, terms: Terms, sets: Sets) -> NDArray:
    """One feasible code per sample, (n, 1, N); zeros where the solver gave up."""
    n, n_atoms = arrays.cross.shape
    compiled = _compiled(n_atoms, tuple(map(int, terms.labels)), sets)
    # Numbers of order one: an interior-point method knows absolute accuracies only.
    unit = max(float(np.abs(arrays.gram).max()), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(arrays.gram.astype(float) / unit)
    compiled.root.value = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    compiled.weights.value = terms.weights / unit
    found = np.zeros((n, 1, n_atoms), Long)
    for row in range(n):
        compiled.cross.value = arrays.cross[row].astype(float) / unit
        compiled.l1.value = terms.l1[row] / unit
        compiled.ridge.value = np.sqrt(terms.ridge[row] / unit)
        found[row, 0] = _solved(compiled)
    return feasible(found, sets)


def _solved(compiled: _Compiled) -> NDArray:
    import cvxpy

    for accuracy in ACCURACIES:
        settings = {name: accuracy for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compiled.problem.solve(solver=cvxpy.CLARABEL, warm_start=False, **settings)
            except (cvxpy.SolverError, ValueError):
                continue
        if compiled.code.value is not None:
            return compiled.code.value
    return np.zeros(compiled.code.shape)
