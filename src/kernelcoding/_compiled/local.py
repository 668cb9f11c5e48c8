"""Local coding: one small affine system per row."""

from __future__ import annotations

import numpy as np

from .jit import compiled, part
from .pursuit import subtract_combination


@part
def _centred_gram(self_similarity, cross, gram, atoms, centred):
    """Upper half of ``K_B - k 1' - 1 k' + kxx 1 1'``; returns its trace and its largest term."""
    trace, scale = 0.0, abs(self_similarity)
    for a in range(atoms.size):
        atom, base = atoms[a], self_similarity - float(cross[a])
        for b in range(a, atoms.size):
            centred[a, b] = (float(gram[atom, atoms[b]]) - float(cross[b])) + base
        centred[a, a] = max(centred[a, a], 0.0)  # a squared distance
        trace += centred[a, a]
        scale = max(scale, abs(float(gram[atom, atom])))
    return trace, scale


@part
def _factorise(centred, ridge, floor, factor, scratch):
    """Upper Cholesky factor of ``centred + ridge I``; false when a pivot is not above floor."""
    size = centred.shape[0]
    for a in range(size):
        row = factor[a]
        for b in range(a, size):
            row[b] = centred[a, b]
        row[a] += ridge
        for b in range(a):
            scratch[b] = factor[b, a]
        subtract_combination(row, factor, scratch, a, a)
        if not row[a] > floor:
            return False
        inverse = 1.0 / np.sqrt(row[a])
        for b in range(a, size):
            row[b] *= inverse
    return True


@part
def _solve_ones(factor, weights):
    """Solve ``U'U w = 1``, where U is the upper half of factor."""
    size = weights.size
    weights[:] = 1.0
    for a in range(size):
        weights[a] /= factor[a, a]
        for b in range(a + 1, size):
            weights[b] -= factor[a, b] * weights[a]
    for a in range(size - 1, -1, -1):
        total = weights[a]
        for b in range(a + 1, size):
            total -= factor[a, b] * weights[b]
        weights[a] = total / factor[a, a]


@compiled
def affine_codes(self_similarity, neighbours, cross, gram, regularization, traces, eps, codes):
    """Fill ``codes[i]``: minimise ``y'(C + reg tr(C) I) y`` subject to ``1'y = 1``.

    ``traces`` that are not negative stand for ``tr(C)`` in the ridge.

    ``eps`` belongs to the precision of the kernel values. Their rounding moves C by up to
    ``noise``; below it C is unknown: when the whole trace is, the sample is its nearest atom, and
    when a pivot is, the ridge is raised to the noise, and on until the factor exists.
    """
    size = neighbours.shape[1]
    centred, factor = np.empty((size, size)), np.empty((size, size))
    weights = np.empty(size)
    for i in range(neighbours.shape[0]):
        similarity = float(self_similarity[i])
        trace, scale = _centred_gram(similarity, cross[i], gram, neighbours[i], centred)
        noise = 4.0 * eps * size * scale
        if trace <= noise:
            codes[i] = 0.0
            codes[i, _nearest_atom(centred)] = 1.0
            continue
        ridge = regularization * (trace if traces[i] < 0.0 else traces[i])
        while not _factorise(centred, ridge, noise / size, factor, weights) and ridge < np.inf:
            ridge = max(10.0 * ridge, noise)
        _solve_ones(factor, weights)
        total = 0.0
        for a in range(size):
            total += weights[a]
        for a in range(size):
            codes[i, a] = weights[a] / total


@part
def _nearest_atom(centred):
    """Position of the smallest diagonal entry, the first among equals."""
    best = 0
    for a in range(1, centred.shape[0]):
        if centred[a, a] < centred[best, best]:
            best = a
    return best
