"""Group and sparse-group coding, one row at a time: Newton on the present atoms.

Where groups are not zero and signs are kept, the objective is smooth with Hessian

.. math:: K_{AA} + Q_A + \\sum_g w_g \\bigl(I / \\|y_g\\| - y_g y_g^\\top / \\|y_g\\|^3\\bigr),

so each iteration (a) admits the zero atoms and groups that pull hardest, by an exact line
search along their steepest descent, and (b) takes one Newton step on all atoms present, cut where
signs would change or groups would turn around. Both decrease the objective.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .group_factor import cholesky, solve_factored
from .group_steps import (
    apply_gram,
    choose,
    clip,
    group_norms,
    multiplier,
    objective_change,
    rank_pulls,
    steepest,
)

SHARE = 0.5  # admit what pulls at least this share of the strongest
DECREASE = 1e-4  # a step must bring this share of the decrease its slope promises
HALVINGS = 40


@njit(nogil=True, cache=True)
def violation_scales(cross, l1, weights, starts, tol, scales):
    """Admissible violation of each group: ``tol`` times what its penalty can balance."""
    largest = 0.0
    for j in range(cross.size):
        largest = max(largest, abs(cross[j]))
    for g in range(weights.size):
        total = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += l1[j] * l1[j]
        scale = weights[g] + np.sqrt(total)
        if scale == 0.0:
            scale = largest
        # Below some roundings of the correlations no violation can be told from zero.
        scales[g] = max(tol * scale, 1e-13 * largest, 1e-300)


@njit(nogil=True, cache=True)
def active_atoms(code, norms, weights, starts, l1, nonnegative, active):
    """Atoms on which the objective is smooth around ``code``; returns how many."""
    size = 0
    for g in range(weights.size):
        smooth = (norms[g] > 0.0 or weights[g] == 0.0) and not nonnegative
        for j in range(starts[g], starts[g + 1]):
            if code[j] != 0.0 or (smooth and l1[j] == 0.0):
                active[size] = j
                size += 1
    return size


@njit(nogil=True, cache=True)
def newton_matrix(gram, ridge, code, norms, weights, group_of, active, size, matrix):
    """Upper triangle of the Hessian on the active atoms; returns its largest diagonal entry."""
    largest = 0.0
    for a in range(size):
        i = active[a]
        g = group_of[i]
        row = gram[i]
        target = matrix[a]
        for b in range(a, size):
            target[b] = row[active[b]]
        target[a] += ridge[i]
        if weights[g] > 0.0:
            bend = weights[g] / norms[g]
            target[a] += bend
            scale = bend * code[i] / (norms[g] * norms[g])
            for b in range(a, size):
                if group_of[active[b]] != g:
                    break
                target[b] -= scale * code[active[b]]
        largest = max(largest, target[a])
    return largest


@njit(nogil=True, cache=True)
def newton_direction(matrix, size, floor, descent, active, sum_to_one, solution, border, direction):
    """Solve for the Newton step on the active atoms, keeping its sum at zero if asked."""
    cholesky(matrix, size, floor)
    for a in range(size):
        solution[a] = descent[active[a]]
        border[a] = 1.0
    solve_factored(matrix, size, solution)
    if sum_to_one:
        solve_factored(matrix, size, border)
        total = solution[:size].sum() / border[:size].sum()
        for a in range(size):
            solution[a] -= total * border[a]
    direction[:] = 0.0
    for a in range(size):
        direction[active[a]] = solution[a]


@njit(nogil=True, cache=True)
def accept(code, slope, norms, starts, change, image):
    """Take the step: code, slope and norms move together."""
    for j in range(code.size):
        code[j] += change[j]
        slope[j] -= image[j]
    group_norms(code, starts, norms)


@njit(nogil=True, cache=True)
def admit(
    gram, ridge, code, slope, descent, l1, weights, norms, starts, group_of, size, sum_to_one,
    change, image, pulls, tuning
):
    """Bring in the zero atoms that pull hardest, by the exact step along their descent."""
    outside, inside = rank_pulls(code, descent, weights, norms, starts, pulls)
    if outside <= tuning[0]**2 * inside:
        return False
    limit = int(tuning[1] * size)
    choose(descent, weights, norms, starts, group_of, pulls, tuning[2], limit, change)
    gain = 0.0
    total = 0.0
    for j in range(code.size):
        gain += change[j] * change[j]
        total += change[j]
    bend = 0.0
    for g in range(weights.size):
        if norms[g] > 0.0 and weights[g] > 0.0:
            for j in range(starts[g], starts[g + 1]):
                bend += weights[g] / norms[g] * change[j] * change[j]
    if sum_to_one:
        for j in range(code.size):
            change[j] -= total * code[j]
    apply_gram(gram, ridge, change, image)
    for j in range(code.size):
        bend += change[j] * image[j]
    step = gain / max(bend, 1e-300)
    if sum_to_one and step * total > 0.5:  # the present atoms keep their signs
        step = 0.5 / total
    for j in range(code.size):
        change[j] *= step
        image[j] *= step
    accept(code, slope, norms, starts, change, image)
    return True


@njit(nogil=True, cache=True)
def search(
    gram, ridge, code, slope, shift, descent, direction, l1, weights, norms, starts, nonnegative,
    sum_to_one, change, image,
):
    """Halve the Newton step until the objective has decreased enough; False if it never does."""
    promise = 0.0
    for j in range(code.size):
        promise += descent[j] * direction[j]
    step = 1.0
    for _ in range(HALVINGS):
        if clip(
            code, direction, step, norms, weights, starts, l1, nonnegative, sum_to_one, change
        ):
            apply_gram(gram, ridge, change, image)
            value = objective_change(
                code, change, image, slope, shift, l1, weights, norms, starts
            )
            if value <= -DECREASE * step * promise:
                accept(code, slope, norms, starts, change, image)
                return True
        step *= 0.5
    return False


@njit(nogil=True, cache=True)
def solve_row(
    gram, cross, l1, ridge, starts, group_of, weights, nonnegative, sum_to_one, tol, max_iter, code,
    matrix, vectors, groups, active, tuning
):
    slope, descent, direction, change, image, solution, border = vectors
    norms, scales = groups
    violation_scales(cross, l1, weights, starts, tol, scales)
    apply_gram(gram, ridge, code, image)
    slope[:] = cross - image
    group_norms(code, starts, norms)
    worst = np.inf
    size = 0
    for iteration in range(max_iter):
        shift = multiplier(code, slope, l1, weights, norms) if sum_to_one else 0.0
        worst = steepest(
            code, slope, shift, l1, weights, norms, starts, nonnegative, descent, scales
        )
        if worst <= 1.0:
            return True, iteration
        if admit(
            gram, ridge, code, slope, descent, l1, weights, norms, starts, group_of, size, sum_to_one,
            change, image, solution, tuning
        ):
            shift = multiplier(code, slope, l1, weights, norms) if sum_to_one else 0.0
            steepest(code, slope, shift, l1, weights, norms, starts, nonnegative, descent, scales)
        size = active_atoms(code, norms, weights, starts, l1, nonnegative, active)
        largest = newton_matrix(
            gram, ridge, code, norms, weights, group_of, active, size, matrix
        )
        newton_direction(
            matrix, size, 1e-14 * largest, descent, active, sum_to_one, solution, border, direction
        )
        search(
            gram, ridge, code, slope, shift, descent, direction, l1, weights, norms, starts,
            nonnegative, sum_to_one, change, image,
        )
    return False, max_iter


@njit(nogil=True, cache=True)
def solve_rows(
    gram, cross, l1, ridge, starts, group_of, weights, nonnegative, sum_to_one, tol, max_iter, codes, tuning
):
    """Solve every row in place of its start in ``codes``."""
    n, size = cross.shape
    matrix = np.empty((size, size))
    vectors = np.zeros((7, size))
    groups = np.zeros((2, weights.size))
    active = np.zeros(size, np.int64)
    converged = np.zeros(n, np.bool_)
    n_iter = np.zeros(n, np.int64)
    for i in range(n):
        converged[i], n_iter[i] = solve_row(
            gram, cross[i], l1[i % l1.shape[0]], ridge[i % ridge.shape[0]], starts, group_of, weights,
            nonnegative, sum_to_one, tol, max_iter, codes[i], matrix, vectors, groups, active, tuning
        )
    return converged, n_iter
