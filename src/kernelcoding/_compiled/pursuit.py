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
def _choose(eps, state, basis, factors, count):
    """The next atom and its squared distance to the span of those chosen; -1: there is none."""
    correlation, schur, weight = state.correlation, state.schur, state.weight
    dependent = basis.dtype.type(64 * eps)
    while True:
        best, score = _best(correlation, weight)
        if score == 0:
            return -1, 0.0
        pivot = 1.0
        for u in range(count):
            factors[u] = basis[u, best]
            pivot -= float(factors[u]) * float(factors[u])
        weight[best] = schur[best] = 0
        if pivot <= dependent:
            continue  # numerically in the span of the chosen atoms: look at the next best
        if float(correlation[best]) ** 2 / pivot <= eps:
            return -1, 0.0  # below the rounding error of the squared residual itself
        return best, pivot


@part
def _admit(known, scale, best, root, beta, eps, rule, state, basis, factors, count):
    """Let an atom in, given its inner products with all atoms: one more row of the basis."""
    row, norm, real = basis[count], scale[best], basis.dtype.type
    for j in range(row.size):
        row[j] = known[j] * scale[j] * norm
    subtract_combination(row, basis, factors, count, 0)
    _advance(row, real(1 / root), real(beta), state, real(64 * eps), rule)


@part
def _select(gram, scale, rule, tol, eps, state, basis, factors, support, beta):
    """Choose atoms until the budget, the tolerance or rounding ends it; returns how many."""
    residual, count = 1.0, 0
    while count < support.size and residual > max(tol, 4 * eps):
        best, pivot = _choose(eps, state, basis, factors, count)
        if best < 0:
            break
        root = np.sqrt(pivot)
        support[count], beta[count] = best, state.correlation[best] / root
        residual -= float(state.correlation[best]) ** 2 / pivot
        if count + 1 < support.size:
            known = gram[best]
            _admit(known, scale, best, root, beta[count], eps, rule, state, basis, factors, count)
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


class Walk(NamedTuple):
    """Where pursuits of several samples are; changed in place."""

    correlation: np.ndarray  # (n, N), and the next two: as in PursuitState
    schur: np.ndarray
    weight: np.ndarray
    basis: np.ndarray  # (n, budget, N)
    factors: np.ndarray  # (n, budget)
    beta: np.ndarray  # (n, budget)
    residual: np.ndarray  # (n,)
    root: np.ndarray  # (n,) distance of the last atom to the span of those before


@compiled
def step(walk, rows, known, scale, rule, eps, support, counts):
    """One more atom for some samples; returns how many go on, which are now the first of ``rows``.

    ``known`` are inner products of their last atoms with all atoms; there are none before the
    first step. Where a pursuit ends, ``walk.beta`` holds the weights of the atoms, scaled to unit
    norm.
    """
    budget, alive = support.shape[1], 0
    for place in range(rows.size):
        i = rows[place]
        state = PursuitState(walk.correlation[i], walk.schur[i], walk.weight[i])
        basis, factors, beta, count = walk.basis[i], walk.factors[i], walk.beta[i], counts[i]
        if count > 0:
            last, root = support[i, count - 1], walk.root[i]
            weight = beta[count - 1]
            _admit(
                known[place], scale, last, root, weight, eps, rule, state, basis, factors, count - 1
            )
            basis[count - 1, last] = root
        best, pivot = -1, 0.0
        if walk.residual[i] > 4 * eps:
            best, pivot = _choose(eps, state, basis, factors, count)
        if best >= 0:
            root = np.sqrt(pivot)
            support[i, count], beta[count] = best, state.correlation[best] / root
            walk.residual[i] -= float(state.correlation[best]) ** 2 / pivot
            walk.root[i] = root
            count += 1
            counts[i] = count
        if best >= 0 and count < budget:
            rows[alive] = i
            alive += 1
            continue
        if best >= 0:
            basis[count - 1, best] = walk.root[i]
        _solve_factor(basis, support[i], beta, count)
    return alive
