"""Pieces of the group solver: optimality, admission of atoms, and steps that stop at zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .jit import part

SHARE = 0.2  # admit what pulls at least this share of the strongest,
SMOOTH_LIMIT = 0.5  # groups of atoms without kink up to this share of the atoms present,
KINKED_LIMIT = 0.2  # other atoms up to this one


class GroupModel(NamedTuple):
    """One problem, its atoms sorted by group: group g is ``starts[g]:starts[g + 1]``."""

    gram: np.ndarray  # (N, N)
    cross: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)
    l1: np.ndarray  # (N,)
    weights: np.ndarray  # (G,) of the group norms
    starts: np.ndarray  # (G + 1,)
    group_of: np.ndarray  # (N,) the group of each atom
    nonnegative: bool
    sum_to_one: bool


class GroupState(NamedTuple):
    """The current point; changed in place."""

    code: np.ndarray  # (N,)
    slope: np.ndarray  # (N,) k - (K + Q) y, minus the gradient of the quadratic
    norms: np.ndarray  # (G,) Euclidean norm of each group


@part
def group_norms(model, state):
    """Recompute the Euclidean norm of each group."""
    starts, code, norms = model.starts, state.code, state.norms
    for g in range(norms.size):
        total = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += code[j] * code[j]
        norms[g] = np.sqrt(total)


@part(fastmath={"contract"})
def apply_gram(model, change, image):
    """``image = (gram + diag(ridge)) change``, using only the entries of ``change`` not zero."""
    gram, ridge, size = model.gram, model.ridge, change.size
    for j in range(size):
        image[j] = ridge[j] * change[j]
    for i in range(size):
        scale = change[i]
        if scale != 0.0:
            row = gram[i]
            for j in range(size):
                image[j] += scale * row[j]


@part
def refresh(model, state, image):
    """Recompute slope and norms from the code, free of accumulated rounding."""
    cross, code, slope = model.cross, state.code, state.slope
    apply_gram(model, code, image)
    for j in range(code.size):
        slope[j] = cross[j] - image[j]
    group_norms(model, state)


@part
def accept(model, state, change, image):
    """Take a step whose image under the Gram matrix is known."""
    code, slope = state.code, state.slope
    for j in range(code.size):
        code[j] += change[j]
        slope[j] -= image[j]
    group_norms(model, state)


@part
def sum_multiplier(model, state):
    r"""Multiplier of ``sum(y) = 1``: :math:`\mu = y^\top s - \sum_j l_j|y_j| - \sum_g w_g\|y_g\|`.

    At an optimum it is the only one. Elsewhere this choice makes shrinking the whole code by a
    factor free to first order, so that admission may make room for new atoms in that way.
    """
    l1, weights = model.l1, model.weights
    code, slope, norms = state.code, state.slope, state.norms
    value = 0.0
    if model.sum_to_one:
        for j in range(code.size):
            value += code[j] * slope[j] - l1[j] * abs(code[j])
        for g in range(weights.size):
            value -= weights[g] * norms[g]
    return value


@part
def threshold(value, weight, nonnegative):
    """Soft threshold, one-sided when codes may not be negative."""
    if value > weight:
        return value - weight
    if value < -weight and not nonnegative:
        return value + weight
    return 0.0


@part
def steepest_group(model, state, shift, g, descent):
    """Steepest descent direction of one group; returns its norm."""
    l1, weight = model.l1, model.weights[g]
    low, high = model.starts[g], model.starts[g + 1]
    code, slope, norm = state.code, state.slope, state.norms[g]
    total = 0.0
    pull = weight / norm if norm > 0.0 else 0.0
    for j in range(low, high):
        value = slope[j] - shift
        if code[j] == 0.0:
            value = threshold(value, l1[j], model.nonnegative)
        elif code[j] > 0.0:
            value -= l1[j] + pull * code[j]
        else:
            value += l1[j] - pull * code[j]
        descent[j] = value
        total += value * value
    total = np.sqrt(total)
    if norm > 0.0 or weight == 0.0:
        return total
    # At a group of zeros the norm has every subgradient of length up to its weight.
    shrink = 1.0 - weight / total if total > weight else 0.0
    for j in range(low, high):
        descent[j] *= shrink
    return shrink * total


@part
def steepest(model, state, shift, scales, descent):
    r"""Minus the subgradient of least norm; returns the largest violation relative to its scale.

    .. math:: \max_g \mathrm{dist}\bigl(s_g - \mu, \partial (l|y_g| + w_g\|y_g\|)\bigr) / \sigma_g
    """
    worst = 0.0
    for g in range(scales.size):
        worst = max(worst, steepest_group(model, state, shift, g, descent) / scales[g])
    return worst


@part
def rank_pulls(model, state, descent, pulls):
    """How hard each unit of zero atoms pulls, stored at an atom of the unit.

    A group of zeros is one unit (its atoms enter together or not at all), stored at its first
    atom; in a group that is present, or has no weight, each atom is a unit. Returns the squared
    norms of the descent over zero atoms and over the others.
    """
    weights, starts = model.weights, model.starts
    code, norms = state.code, state.norms
    outside, inside = 0.0, 0.0
    for g in range(weights.size):
        low, high = starts[g], starts[g + 1]
        total = 0.0
        for j in range(low, high):
            pulls[j] = abs(descent[j]) if code[j] == 0.0 else 0.0
            total += pulls[j] * pulls[j]
            inside += descent[j] * descent[j] if code[j] != 0.0 else 0.0
        outside += total
        if norms[g] == 0.0 and weights[g] > 0.0 and high > low:
            pulls[low:high] = 0.0
            pulls[low] = np.sqrt(total)
    return outside, inside


@part
def choose_units(model, state, descent, pulls, crowd, change):
    """Copy to ``change`` the descent of the units that pull hardest, up to a number of atoms.

    ``crowd`` is the number of atoms present that limits are relative to. The strongest unit is
    always taken, and none much weaker. On ill-conditioned Gram matrices admitting every violator
    would send most of them back at once.
    """
    l1, weights, starts, norms = model.l1, model.weights, model.starts, state.norms
    smooth_limit, kinked_limit = SMOOTH_LIMIT * crowd, KINKED_LIMIT * crowd
    change[:] = 0.0
    unit = np.argmax(pulls)
    weakest = SHARE * pulls[unit]
    count = 0
    while pulls[unit] > 0.0 and pulls[unit] >= weakest:
        g = model.group_of[unit]
        whole = norms[g] == 0.0 and weights[g] > 0.0
        smooth = whole and l1[unit] == 0.0 and not model.nonnegative
        limit = smooth_limit if smooth else kinked_limit
        entering = 0
        for j in range(unit, starts[g + 1] if whole else unit + 1):
            entering += descent[j] != 0.0
            change[j] = descent[j]
        if count > 0 and count + entering > limit:
            change[unit : starts[g + 1] if whole else unit + 1] = 0.0
            break
        count += entering
        pulls[unit] = 0.0
        unit = np.argmax(pulls)


@part
def curvature(model, state, change, image):
    """Bound on the second derivative of the objective where zero atoms enter along ``change``."""
    weights, starts = model.weights, model.starts
    code, norms = state.code, state.norms
    value = 0.0
    for g in range(weights.size):
        bend = weights[g] / norms[g] if norms[g] > 0.0 else 0.0
        if model.sum_to_one:
            bend *= 2.0  # making room for the new atoms may halve the norms
        for j in range(starts[g], starts[g + 1]):
            value += change[j] * image[j]
            if code[j] == 0.0:
                value += bend * change[j] * change[j]
    return value


@part
def clip(model, state, direction, step, change):
    """Fill ``change`` with a step that stops at zeros; False if the sum cannot be restored.

    Atoms with a kink stop at zero when their sign would change, groups when they would point
    away from where they were. Afterwards one factor on all atoms restores the sum.
    """
    l1, weights, starts = model.l1, model.weights, model.starts
    code, norms = state.code, state.norms
    total = 0.0
    for g in range(weights.size):
        ahead = 0.0
        for j in range(starts[g], starts[g + 1]):
            moved = code[j] + step * direction[j]
            if (model.nonnegative or l1[j] > 0.0) and moved * code[j] <= 0.0:
                moved = 0.0
            change[j] = moved
            ahead += moved * code[j]
        if ahead <= 0.0 and norms[g] > 0.0 and weights[g] > 0.0:
            change[starts[g] : starts[g + 1]] = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += change[j]
    if model.sum_to_one and total < 0.1:
        return False
    factor = 1.0 / total if model.sum_to_one else 1.0
    for j in range(code.size):
        change[j] = factor * change[j] - code[j]
    return True


@part
def first_stop(model, state, direction):
    """Length of the step at which ``clip`` begins to hold something at zero."""
    l1, weights, starts = model.l1, model.weights, model.starts
    code, norms = state.code, state.norms
    nearest = np.inf
    for g in range(weights.size):
        inner = 0.0
        for j in range(starts[g], starts[g + 1]):
            inner += code[j] * direction[j]
            if (model.nonnegative or l1[j] > 0.0) and code[j] * direction[j] < 0.0:
                nearest = min(nearest, -code[j] / direction[j])
        if inner < 0.0 and weights[g] > 0.0:
            nearest = min(nearest, -norms[g] * norms[g] / inner)
    return nearest * (1.0 + 1e-12)


@part
def objective_change(model, state, shift, change, image):
    """Change of the objective, written with differences only so that no digit is lost."""
    l1, weights, starts = model.l1, model.weights, model.starts
    code, slope, norms = state.code, state.slope, state.norms
    value = 0.0
    for g in range(weights.size):
        inner, square = 0.0, 0.0
        for j in range(starts[g], starts[g + 1]):
            step = change[j]
            value += step * (0.5 * image[j] - slope[j] + shift)
            if code[j] * (code[j] + step) > 0.0:
                value += l1[j] * (step if code[j] > 0.0 else -step)
            else:
                value += l1[j] * (abs(code[j] + step) - abs(code[j]))
            inner += code[j] * step
            square += step * step
        if square > 0.0 and weights[g] > 0.0:
            difference = 2.0 * inner + square
            after = np.sqrt(max(norms[g] * norms[g] + difference, 0.0))
            value += weights[g] * difference / (after + norms[g])
    return value
