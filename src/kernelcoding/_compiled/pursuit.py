"""Greedy pursuit, one sample at a time, by a growing Gram-Schmidt basis of the chosen atoms.

With q_1, ..., q_t the orthonormal basis of the atoms chosen so far, ``basis[u, j] = <q_u, d_j>`` is
computed once, when atom u is admitted. Each number a greedy rule asks for is then one subtraction
away: the correlation of atom j with the residual loses ``beta_u * basis[u, j]``, its squared
distance to the span of the chosen atoms (the Schur complement) loses ``basis[u, j]**2``. The
columns of chosen atoms are the Cholesky factor of their Gram matrix: none is kept beside them.

Atoms and sample are scaled to unit norm on the way in: thresholds are then plain multiples of eps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .jit import compiled, part

OMP, OLS = 0, 1  # rules: largest correlation; largest decrease of the residual

BLOCK = 64  # candidates looked at in one vector comparison


class PursuitState(NamedTuple):
    """What is known about every atom; changed in place."""

    correlation: np.ndarray  # (N,) with the residual
    schur: np.ndarray  # (N,) squared distance to the span of the chosen atoms
    weight: np.ndarray  # (N,) of the squared correlation in the rule; 0: never chosen


@part
def _best(correlation, weight):
    """Index and value of the largest ``correlation**2 * weight``, the lowest index among equals."""
    n_atoms = correlation.size
    best, index = correlation.dtype.type(0), 0
    for start in range(0, n_atoms, BLOCK):
        stop = min(start + BLOCK, n_atoms)
        hits = 0  # a sum of integers: the compiler may turn it into vector comparisons
        for j in range(start, stop):
            hits += correlation[j] * correlation[j] * weight[j] > best
        if hits > 0:
            for j in range(start, stop):
                score = correlation[j] * correlation[j] * weight[j]
                if score > best:
                    best, index = score, j
    return index, best


@part
def subtract_combination(row, basis, factors, n_rows, start):
    """``row -= factors @ basis[:n_rows]`` from column start on.

    Four rows per pass spare loads and stores of ``row``; what remains is bandwidth of the cache.
    """
    u = 0
    while u + 4 <= n_rows:
        f0, f1, f2, f3 = factors[u], factors[u + 1], factors[u + 2], factors[u + 3]
        b0, b1, b2, b3 = basis[u], basis[u + 1], basis[u + 2], basis[u + 3]
        for j in range(start, row.size):
            row[j] -= (f0 * b0[j] + f1 * b1[j]) + (f2 * b2[j] + f3 * b3[j])
        u += 4
    while u < n_rows:
        f0, b0 = factors[u], basis[u]
        for j in range(start, row.size):
            row[j] -= f0 * b0[j]
        u += 1


@part
def _advance(row, inverse, beta, state, dependent, rule):
    """Normalise the new basis row, then update what is known about every atom."""
    correlation, schur, weight = state.correlation, state.schur, state.weight
    zero, one = row.dtype.type(0), row.dtype.type(1)
    for j in range(row.size):
        row[j] *= inverse
        correlation[j] -= beta * row[j]
    if rule == OLS:
        for j in range(row.size):
            schur[j] -= row[j] * row[j]
            weight[j] = one / schur[j] if schur[j] > dependent else zero


@part
def _start(cross, scale, inverse, state):
    """State of the empty support; an atom of norm zero never gets a weight."""
    correlation, schur, weight = state.correlation, state.schur, state.weight
    for j in range(cross.size):
        correlation[j] = cross[j] * scale[j] * inverse
        schur[j] = weight[j] = scale[j] > 0


@part
def _solve_factor(basis, support, beta, count):
    """Solve ``L' y = beta`` in place, where ``L[t, u] = basis[u, support[t]]`` for u <= t."""
    for t in range(count - 1, -1, -1):
        beta[t] /= basis[t, support[t]]
        for u in range(t):
            beta[u] -= basis[u, support[t]] * beta[t]


@part
def _select(gram, scale, rule, tol, eps, state, basis, factors, support, beta):
    """Choose atoms until the budget, the tolerance or rounding ends it; returns how many."""
    correlation, schur, weight = state.correlation, state.schur, state.weight
    real, dependent = gram.dtype.type, gram.dtype.type(64 * eps)
    residual, count = 1.0, 0
    while count < support.size and residual > max(tol, 4 * eps):
        best, score = _best(correlation, weight)
        if score == 0:
            break
        pivot = 1.0
        for u in range(count):
            factors[u] = basis[u, best]
            pivot -= float(factors[u]) * float(factors[u])
        weight[best] = schur[best] = 0
        if pivot <= dependent:
            continue  # numerically in the span of the chosen atoms: look at the next best
        gain = float(correlation[best]) ** 2 / pivot
        if gain <= eps:
            break  # below the rounding error of the squared residual itself
        root = np.sqrt(pivot)
        support[count], beta[count] = best, correlation[best] / root
        residual -= gain
        if count + 1 < support.size:
            row, norm = basis[count], scale[best]
            for j in range(row.size):
                row[j] = gram[best, j] * scale[j] * norm
            subtract_combination(row, basis, factors, count, 0)
            _advance(row, real(1 / root), real(beta[count]), state, dependent, rule)
        basis[count, best] = root
        count += 1
    return count


@compiled
def pursue(self_similarity, cross, gram, scale, rule, tol, eps, support, coefficients, counts):
    """Code each row of cross: fills ``support[i, :counts[i]]`` and the coefficients there.

    ``scale`` is ``1 / sqrt(diag(gram))``, zero for atoms of norm zero; ``eps`` belongs to the
    precision of ``gram``. ``tol`` bounds the squared residual relative to ``self_similarity``.
    """
    n_atoms, budget = gram.shape[0], support.shape[1]
    basis = np.empty((budget, n_atoms), gram.dtype)
    factors, beta = np.empty(budget, gram.dtype), np.empty(budget)
    # Three allocations: rows of one array would not be known as contiguous, and run at half speed.
    state = PursuitState(
        np.empty(n_atoms, gram.dtype), np.empty(n_atoms, gram.dtype), np.empty(n_atoms, gram.dtype)
    )
    for i in range(cross.shape[0]):
        counts[i] = 0
        if self_similarity[i] <= 0:
            continue
        norm = np.sqrt(float(self_similarity[i]))
        _start(cross[i], scale, gram.dtype.type(1 / norm), state)
        count = _select(gram, scale, rule, tol, eps, state, basis, factors, support[i], beta)
        _solve_factor(basis, support[i], beta, count)
        for t in range(count):
            coefficients[i, t] = beta[t] * scale[support[i, t]] * norm
        counts[i] = count
