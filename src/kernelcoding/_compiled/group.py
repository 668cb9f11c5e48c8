r"""Group and sparse-group coding, one row at a time: Newton's method on the atoms present.

Where groups are not zero and signs are kept, the objective is smooth with Hessian

.. math:: K_{AA} + Q_A + \sum_g w_g \bigl(I / \|y_g\| - y_g y_g^\top / \|y_g\|^3\bigr).

Each iteration (a) admits the zero atoms and groups that pull hardest, by an exact line search
along their steepest descent, and (b) takes one Newton step on all atoms present, cut where signs
would change or groups would turn round. Both decrease the objective. For the tuples ``model``
and ``state`` see ``group_steps``.
"""

from __future__ import annotations

import numpy as np

from .factor import cholesky, solve_factored
from .group_steps import (
    accept,
    apply_gram,
    choose,
    clip,
    curvature,
    first_stop,
    multiplier,
    objective_change,
    rank_pulls,
    refresh,
    steepest,
)
from .jit import compiled

SHARE = 0.2  # admit what pulls at least this share of the strongest,
SMOOTH_LIMIT = 0.5  # groups of atoms without kink up to this share of the atoms present,
KINKED_LIMIT = 0.2  # other atoms up to this one
REUSE = 0.25  # keep a factorisation while steps with it shrink the violation at least so much
DECREASE = 1e-4  # a step must bring this share of the decrease that its slope promises
HALVINGS = 60
MOST_DAMPING = 1e3  # beyond it a step is too short to change anything
UNBOUNDED = 1e15  # a norm that only an indefinite Gram matrix without penalty can reach
DAMPING = 1e-10  # added to Newton systems, relative to the largest diagonal entry of K + Q


@compiled
def violation_scales(model, cross, tol, scales):
    """Admissible violation of each group: ``tol`` times the force of its penalty."""
    l1, weights, starts = model[2], model[3], model[4]
    largest = np.abs(cross).max()
    if model[7]:  # codes that sum to one do not vanish with the cross-similarities
        largest = max(largest, model[0][0, 0])
    for g in range(weights.size):
        total = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += l1[j] * l1[j]
        scale = weights[g] + np.sqrt(total)
        if scale == 0.0:
            scale = largest
        # Below some roundings of the correlations a violation cannot be told from zero.
        scales[g] = max(tol * scale, 1e-13 * largest, 1e-300)


@compiled
def active_atoms(model, state, active):
    """Atoms on which the objective is smooth around the code; returns how many."""
    l1, weights, starts, nonnegative = model[2], model[3], model[4], model[6]
    code, norms = state[0], state[2]
    size = 0
    for g in range(weights.size):
        if norms[g] == 0.0 and weights[g] > 0.0:
            continue
        for j in range(starts[g], starts[g + 1]):
            if code[j] != 0.0 or (l1[j] == 0.0 and not nonnegative):
                active[size] = j
                size += 1
    return size


@compiled
def factor_hessian(model, state, active, size, damping, matrix):
    """Factor the Hessian on the active atoms, plus ``damping`` times its largest own curvature.

    Damping bounds the step in directions without curvature (linearly dependent atoms). Returns
    False if the sum is not positive definite all the same.
    """
    gram, ridge, weights, group_of = model[0], model[1], model[3], model[5]
    code, norms = state[0], state[2]
    largest = 0.0
    for a in range(size):
        i = active[a]
        g = group_of[i]
        row = gram[i]
        target = matrix[a]
        for b in range(a + 1):
            target[b] = row[active[b]]
        target[a] += ridge[i]
        largest = max(largest, target[a])
        if weights[g] > 0.0:
            bend = weights[g] / norms[g]
            target[a] += bend
            scale = bend * (code[i] / norms[g])
            for b in range(a, -1, -1):
                if group_of[active[b]] != g:
                    break
                target[b] -= scale * (code[active[b]] / norms[g])
    largest = largest if largest > 0.0 else 1.0
    for a in range(size):
        matrix[a, a] += damping * largest
    return cholesky(matrix, size, 0.1 * damping * largest)


@compiled
def newton_direction(model, active, size, descent, factor, vectors, direction):
    """Solve for the Newton step on the active atoms, keeping its sum at zero if asked."""
    solution, border = vectors
    for a in range(size):
        solution[a] = descent[active[a]]
        border[a] = 1.0
    solve_factored(factor, size, solution)
    if model[7]:
        solve_factored(factor, size, border)
        ratio = solution[:size].sum() / border[:size].sum()
        for a in range(size):
            solution[a] -= ratio * border[a]
    direction[:] = 0.0
    for a in range(size):
        direction[active[a]] = solution[a]


@compiled
def admit(model, state, descent, size, boldness, change, image, pulls):
    """Bring in the zero atoms that pull hardest, by the best step along their descent.

    Nothing is admitted while the atoms present are further from their optimum than the others;
    ``boldness`` below one asks them to be nearer, and admits fewer.
    """
    code = state[0]
    outside, inside = rank_pulls(model, state, descent, pulls)
    if boldness * boldness * outside <= inside:
        return False
    crowd = boldness * size
    choose(model, state, descent, pulls, SHARE, SMOOTH_LIMIT * crowd, KINKED_LIMIT * crowd, change)
    gain, total, own = 0.0, change.sum(), 0.0
    for j in range(code.size):
        gain += change[j] * change[j]
        own += change[j] * change[j] * (model[0][j, j] + model[1][j])
    if model[7]:
        for j in range(code.size):
            change[j] -= total * code[j]
    apply_gram(model[0], model[1], change, image)
    bend = max(curvature(model, state, change, image), DAMPING * own)
    if not bend > 0.0:
        return False
    step = gain / bend
    if model[7] and step * total > 0.5:  # the atoms present keep at least half their size
        step = 0.5 / total
    for j in range(code.size):
        change[j] *= step
        image[j] *= step
    accept(model, state, change, image)
    return True


@compiled
def search(model, state, shift, descent, direction, change, image):
    """Halve the step until the objective has decreased enough; its length, 0 if it never does."""
    promise = (descent * direction).sum()
    if not promise > 0.0:  # rounding in a nearly singular system
        return 0.0
    stop = first_stop(model, state, direction)
    step = 1.0
    for _ in range(HALVINGS):
        if clip(model, state, direction, step, change):
            apply_gram(model[0], model[1], change, image)
            value = objective_change(model, state, shift, change, image)
            if value < -DECREASE * step * promise:
                accept(model, state, change, image)
                return step
        # Stepping just short of a zero would leave a trace of an atom that wants to go.
        step = stop if 0.5 * step < stop < step else 0.5 * step
    return 0.0


@compiled
def measure(model, state, scales, descent):
    """Multiplier and largest relative violation; fills ``descent``."""
    shift = multiplier(model, state)
    return shift, steepest(model, state, shift, scales, descent)


@compiled
def solve_row(model, cross, state, tol, max_iter, scratch):
    """Solve one row from the code in ``state``; returns whether it converged, and iterations."""
    matrix, scales, active, descent, direction, change, image, pulls, vectors = scratch
    violation_scales(model, cross, tol, scales)
    refresh(model, cross, state, image)
    shift, worst = measure(model, state, scales, descent)
    size, before, damping, boldness = 0, 0.0, DAMPING, 1.0
    iteration = -1
    for iteration in range(max_iter):
        if worst <= 1.0:
            refresh(model, cross, state, image)
            shift, worst = measure(model, state, scales, descent)
            if worst <= 1.0:
                return True, iteration
        admitted = admit(model, state, descent, size, boldness, change, image, pulls)
        if admitted:
            shift, worst = measure(model, state, scales, descent)
        present = active_atoms(model, state, active)
        fresh = admitted or present != size or worst > REUSE * before
        size, before = present, worst
        while fresh and damping < MOST_DAMPING:
            if factor_hessian(model, state, active, size, damping, matrix):
                break
            damping *= 100.0
        newton_direction(model, active, size, descent, matrix, vectors, direction)
        step = search(model, state, shift, descent, direction, change, image)
        # Short steps mean that atoms just admitted stand in each other's way.
        boldness = min(2.0 * boldness, 1.0) if step > 0.1 else 0.25 * boldness
        if step > 0.0:
            damping = max(0.1 * damping, DAMPING)
        else:
            before = 0.0  # an old factorisation, or too little damping, spoilt the direction
            damping *= 1e3 if fresh else 1.0
        if damping > MOST_DAMPING or state[2].max() > UNBOUNDED:
            break
        shift, worst = measure(model, state, scales, descent)
    return worst <= 1.0, iteration + 1


@compiled
def solve_rows(
    gram, cross, l1, ridge, weights, starts, group_of, nonnegative, sum_to_one, tol, max_iter, codes
):
    """Solve every row in place of its start in ``codes``; (converged, iterations) of each row."""
    n, size = cross.shape
    rows = np.empty((9, size))
    norms = np.empty(weights.size)
    vectors = (rows[5], rows[6])
    work = (rows[0], rows[1], rows[2], rows[3], rows[4], vectors)
    active = np.empty(size, np.int64)
    scratch = (np.empty((size, size)), np.empty(weights.size), active, *work)
    converged = np.zeros(n, np.bool_)
    n_iter = np.zeros(n, np.int64)
    for i in range(n):
        penalty = (ridge[min(i, len(ridge) - 1)], l1[min(i, len(l1) - 1)], weights)
        model = (gram, *penalty, starts, group_of, nonnegative, sum_to_one)
        state = (codes[i], rows[7], norms)
        converged[i], n_iter[i] = solve_row(model, cross[i], state, tol, max_iter, scratch)
    return converged, n_iter
