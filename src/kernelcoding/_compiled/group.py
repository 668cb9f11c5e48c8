r"""Group and sparse-group coding, one row at a time: Newton's method on the atoms present.

Where groups are not zero and signs are kept, the objective is smooth with Hessian

.. math:: K_{AA} + Q_A + \sum_g w_g \bigl(I / \|y_g\| - y_g y_g^\top / \|y_g\|^3\bigr).

Each iteration (a) admits the zero atoms and groups that pull hardest, by an exact line search
along their steepest descent, and (b) takes one Newton step on all atoms present, cut where signs
would change or groups would turn round. Both decrease the objective.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .factor import cholesky, solve_factored
from .group_steps import (
    GroupModel,
    GroupState,
    accept,
    apply_gram,
    choose_units,
    clip,
    curvature,
    first_stop,
    objective_change,
    rank_pulls,
    refresh,
    steepest,
    sum_multiplier,
)
from .jit import compiled, part

REUSE = 0.25  # keep a factorisation while steps with it shrink the violation at least so much
DECREASE = 1e-4  # a step must bring this share of the decrease that its slope promises
HALVINGS = 60
MOST_DAMPING = 1e3  # beyond it a step is too short to change anything
UNBOUNDED = 1e15  # a norm that only an indefinite Gram matrix without penalty can reach
DAMPING = 1e-10  # added to Newton systems, relative to the largest diagonal entry of K + Q


class GroupScratch(NamedTuple):
    """Memory of one thread, by atom where it does not say otherwise."""

    matrix: np.ndarray  # (N, N) Hessian on the active atoms, then its factor
    scales: np.ndarray  # (G,) by group: violation that is tolerated
    active: np.ndarray  # (N,) the active atoms, in order
    descent: np.ndarray  # (N,) minus the subgradient of least norm
    direction: np.ndarray  # (N,) Newton direction
    change: np.ndarray  # (N,) a step
    image: np.ndarray  # (N,) the step times K + Q
    pulls: np.ndarray  # (N,) how hard zero atoms pull
    solution: np.ndarray  # (N,) by position among the active atoms, like the next
    border: np.ndarray  # (N,)


@part
def group_scratch(n_atoms, n_groups):
    """Scratch memory for problems of this size."""
    return GroupScratch(
        np.empty((n_atoms, n_atoms)),
        np.empty(n_groups),
        np.empty(n_atoms, np.int64),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
    )


@part
def violation_scales(model, tol, scales):
    """Admissible violation of each group: ``tol`` times the force of its penalty."""
    l1, weights, starts = model.l1, model.weights, model.starts
    largest = np.abs(model.cross).max()
    if model.sum_to_one:  # codes that sum to one do not vanish with the cross-similarities
        largest = max(largest, model.gram[0, 0])
    for g in range(weights.size):
        total = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += l1[j] * l1[j]
        scale = weights[g] + np.sqrt(total)
        if scale == 0.0:
            scale = largest
        # Below some roundings of the correlations a violation cannot be told from zero.
        # A weight beyond all correlations says nothing about their size.
        scales[g] = max(tol * min(scale, largest), 1e-13 * largest, 1e-300)


@part
def active_atoms(model, state, active):
    """Atoms on which the objective is smooth around the code; returns how many."""
    l1, weights, starts = model.l1, model.weights, model.starts
    code, norms = state.code, state.norms
    size = 0
    for g in range(weights.size):
        if norms[g] == 0.0 and weights[g] > 0.0:
            continue
        for j in range(starts[g], starts[g + 1]):
            if code[j] != 0.0 or (l1[j] == 0.0 and not model.nonnegative):
                active[size] = j
                size += 1
    return size


@part
def factor_hessian(model, state, active, size, damping, matrix):
    """Factor the Hessian on the active atoms, plus ``damping`` times its largest own curvature.

    Damping bounds the step in directions without curvature (linearly dependent atoms). Returns
    False if the sum is not positive definite all the same.
    """
    gram, ridge, weights, group_of = model.gram, model.ridge, model.weights, model.group_of
    code, norms = state.code, state.norms
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


@part
def newton_direction(model, scratch, size):
    """Solve for the Newton step on the active atoms, keeping its sum at zero if asked."""
    active, descent, direction = scratch.active, scratch.descent, scratch.direction
    factor, solution, border = scratch.matrix, scratch.solution, scratch.border
    for a in range(size):
        solution[a] = descent[active[a]]
        border[a] = 1.0
    solve_factored(factor, size, solution)
    if model.sum_to_one:
        solve_factored(factor, size, border)
        ratio = solution[:size].sum() / border[:size].sum()
        for a in range(size):
            solution[a] -= ratio * border[a]
    direction[:] = 0.0
    for a in range(size):
        direction[active[a]] = solution[a]


@part
def admit_units(model, state, scratch, size, boldness):
    """Bring in the zero atoms that pull hardest, by the best step along their descent.

    Nothing is admitted while the atoms present are further from their optimum than the others;
    ``boldness`` below one asks them to be nearer, and admits fewer.
    """
    code, descent, change, image = state.code, scratch.descent, scratch.change, scratch.image
    outside, inside = rank_pulls(model, state, descent, scratch.pulls)
    if boldness * boldness * outside <= inside:
        return False
    choose_units(model, state, descent, scratch.pulls, boldness * size, change)
    gain, total, own = 0.0, change.sum(), 0.0
    for j in range(code.size):
        gain += change[j] * change[j]
        own += change[j] * change[j] * (model.gram[j, j] + model.ridge[j])
    if model.sum_to_one:
        for j in range(code.size):
            change[j] -= total * code[j]
    apply_gram(model, change, image)
    bend = max(curvature(model, state, change, image), DAMPING * own)
    if not bend > 0.0:
        return False
    step = gain / bend
    if model.sum_to_one and step * total > 0.5:  # the atoms present keep at least half their size
        step = 0.5 / total
    for j in range(code.size):
        change[j] *= step
        image[j] *= step
    accept(model, state, change, image)
    return True


@part
def search(model, state, shift, scratch):
    """Halve the step until the objective has decreased enough; its length, 0 if it never does."""
    descent, direction = scratch.descent, scratch.direction
    change, image = scratch.change, scratch.image
    promise = (descent * direction).sum()
    if not promise > 0.0:  # rounding in a nearly singular system
        return 0.0
    stop = first_stop(model, state, direction)
    step = 1.0
    for _ in range(HALVINGS):
        if clip(model, state, direction, step, change):
            apply_gram(model, change, image)
            value = objective_change(model, state, shift, change, image)
            if value < -DECREASE * step * promise:
                accept(model, state, change, image)
                return step
        # Stepping just short of a zero would leave a trace of an atom that wants to go.
        step = stop if 0.5 * step < stop < step else 0.5 * step
    return 0.0


@part
def measure(model, state, scratch):
    """Multiplier and largest relative violation; fills ``descent``."""
    shift = sum_multiplier(model, state)
    return shift, steepest(model, state, shift, scratch.scales, scratch.descent)


@part
def solve_row(model, state, tol, max_iter, stop, scratch):
    """Solve one row from the code in ``state``; returns whether it converged, and iterations.

    Broken off when ``stop[0]`` is set.
    """
    violation_scales(model, tol, scratch.scales)
    refresh(model, state, scratch.image)
    shift, worst = measure(model, state, scratch)
    size, before, damping, boldness = 0, 0.0, DAMPING, 1.0
    iteration = -1
    for iteration in range(max_iter):
        if worst <= 1.0:
            refresh(model, state, scratch.image)
            shift, worst = measure(model, state, scratch)
            if worst <= 1.0:
                return True, iteration
        admitted = admit_units(model, state, scratch, size, boldness)
        if admitted:
            shift, worst = measure(model, state, scratch)
        present = active_atoms(model, state, scratch.active)
        fresh = admitted or present != size or worst > REUSE * before
        size, before = present, worst
        while fresh and damping < MOST_DAMPING:
            if factor_hessian(model, state, scratch.active, size, damping, scratch.matrix):
                break
            damping *= 100.0
        newton_direction(model, scratch, size)
        step = search(model, state, shift, scratch)
        # Short steps mean that atoms just admitted stand in each other's way.
        boldness = min(2.0 * boldness, 1.0) if step > 0.1 else 0.25 * boldness
        if step > 0.0:
            damping = max(0.1 * damping, DAMPING)
        else:
            before = 0.0  # an old factorisation, or too little damping, spoilt the direction
            damping *= 1e3 if fresh else 1.0
        if damping > MOST_DAMPING or state.norms.max() > UNBOUNDED or stop[0] != 0:
            break
        shift, worst = measure(model, state, scratch)
    return worst <= 1.0, iteration + 1


@compiled
def solve_rows(
    gram, cross, l1, ridge, weights, starts, group_of, nonnegative, sum_to_one, tol, max_iter, stop,
    codes, converged, n_iter,
):  # fmt: skip
    """Solve every row in place of its start in ``codes``; fills ``converged`` and ``n_iter``.

    Rows are left alone once ``stop[0]`` is not zero. Nothing is returned: to make an array of
    Python, Numba runs Python code, and a pending signal would spoil it.
    """
    n, n_atoms = cross.shape
    scratch = group_scratch(n_atoms, weights.size)
    slope, norms = np.empty(n_atoms), np.empty(weights.size)
    for i in range(n):
        if stop[0] != 0:
            return
        model = GroupModel(
            gram, cross[i], ridge[min(i, len(ridge) - 1)], l1[min(i, len(l1) - 1)], weights, starts,
            group_of, nonnegative, sum_to_one,
        )  # fmt: skip
        state = GroupState(codes[i], slope, norms)
        converged[i], n_iter[i] = solve_row(model, state, tol, max_iter, stop, scratch)
