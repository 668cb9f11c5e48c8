"""Pieces of the group solver: optimality, admission, clipping and the change of the objective.

Atoms are sorted so that group g is ``starts[g]:starts[g + 1]``. ``slope`` is minus the gradient
of the quadratic, :math:`k - (K + Q) y`, less the multiplier of ``sum(y) = 1`` where asked for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .group_factor import SUMS


@njit(nogil=True, cache=True)
def group_norms(code, starts, norms):
    """Euclidean norm of each group of ``code``."""
    for g in range(norms.size):
        total = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += code[j] * code[j]
        norms[g] = np.sqrt(total)


@njit(nogil=True, cache=True)
def threshold(value, weight, nonnegative):
    """Soft threshold, one-sided when codes may not be negative."""
    if value > weight:
        return value - weight
    if value < -weight and not nonnegative:
        return value + weight
    return 0.0


@njit(nogil=True, cache=True)
def steepest_group(code, slope, shift, l1, weight, norm, low, high, nonnegative, descent):
    """Steepest descent direction of one group; returns its norm."""
    total = 0.0
    pull = weight / norm if norm > 0.0 else 0.0
    for j in range(low, high):
        value = slope[j] - shift
        if code[j] == 0.0:
            value = threshold(value, l1[j], nonnegative)
        elif code[j] > 0.0:
            value -= l1[j] + pull * code[j]
        else:
            value += l1[j] - pull * code[j]
        descent[j] = value
        total += value * value
    total = np.sqrt(total)
    if norm > 0.0 or weight == 0.0:
        return total
    # At a group of zeros the norm takes any subgradient of length up to its weight.
    shrink = max(1.0 - weight / total, 0.0) if total > 0.0 else 0.0
    for j in range(low, high):
        descent[j] *= shrink
    return shrink * total


@njit(nogil=True, cache=True)
def multiplier(code, slope, l1, weights, norms):
    r"""Multiplier of ``sum(y) = 1``: :math:`\mu = y^\top s - \sum_j l_j|y_j| - \sum_g w_g\|y_g\|`.

    With it, shrinking the whole code by a factor costs nothing to first order beyond what the
    multiplier pays, so admission may make room for new atoms by such a factor.
    """
    value = 0.0
    for j in range(code.size):
        if code[j] != 0.0:
            value += code[j] * slope[j] - l1[j] * abs(code[j])
    for g in range(weights.size):
        value -= weights[g] * norms[g]
    return value


@njit(nogil=True, cache=True)
def steepest(code, slope, shift, l1, weights, norms, starts, nonnegative, descent, scales):
    r"""Minus the subgradient of least norm, and the largest violation relative to ``scales``.

    .. math:: \max_g \mathrm{dist}\bigl(s_g, \partial (l|y|_1 + w_g\|y_g\|)\bigr) / \mathrm{scale}_g
    """
    worst = 0.0
    for g in range(weights.size):
        norm = steepest_group(
            code, slope, shift, l1, weights[g], norms[g], starts[g], starts[g + 1], nonnegative,
            descent,
        )
        worst = max(worst, norm / scales[g])
    return worst


@njit(nogil=True, cache=True)
def rank_pulls(code, descent, weights, norms, starts, pulls):
    """How hard each unit of zero atoms pulls, stored at an atom of the unit.

    A group of zeros is one unit (its atoms enter together or not at all), stored at its first
    atom; in a group that is present, or has no weight, each atom is a unit. Returns the squared
    norms of the descent over zero atoms and over the others.
    """
    outside = 0.0
    inside = 0.0
    for g in range(weights.size):
        low, high = starts[g], starts[g + 1]
        total = 0.0
        for j in range(low, high):
            square = descent[j] * descent[j]
            if code[j] == 0.0:
                total += square
                pulls[j] = abs(descent[j])
            else:
                inside += square
                pulls[j] = 0.0
        outside += total
        if norms[g] == 0.0 and weights[g] > 0.0:
            pulls[low:high] = 0.0
            pulls[low] = np.sqrt(total)
    return outside, inside


@njit(nogil=True, cache=True)
def choose(descent, weights, norms, starts, group_of, pulls, share, limit, change):
    """Copy to ``change`` the descent of the units that pull hardest, about ``limit`` atoms.

    None is weaker than ``share`` of the strongest; the strongest is always taken.
    """
    change[:] = 0.0
    first = np.argmax(pulls)
    weakest = share * pulls[first]
    count = 0
    unit = first
    while pulls[unit] > 0.0 and pulls[unit] >= weakest:
        g = group_of[unit]
        low, high = unit, unit + 1
        if norms[g] == 0.0 and weights[g] > 0.0:
            low, high = starts[g], starts[g + 1]
        if count > 0 and count + high - low > limit:
            break
        change[low:high] = descent[low:high]
        count += high - low
        pulls[unit] = 0.0
        unit = np.argmax(pulls)


@njit(nogil=True, cache=True, fastmath=SUMS)
def apply_gram(gram, ridge, change, image):
    """``image = (gram + diag(ridge)) change``, using only the entries of ``change`` not zero."""
    size = change.size
    for j in range(size):
        image[j] = ridge[j] * change[j]
    for i in range(size):
        scale = change[i]
        if scale != 0.0:
            row = gram[i]
            for j in range(size):
                image[j] += scale * row[j]


@njit(nogil=True, cache=True)
def clip(code, direction, step, norms, weights, starts, l1, nonnegative, sum_to_one, change):
    """Fill ``change`` with a step that stops at zeros; False if the sum cannot be restored.

    Atoms with a kink stop at zero when their sign would change, groups when they would point
    away from where they were. Afterwards one factor on all atoms restores the sum.
    """
    total = 0.0
    for g in range(weights.size):
        low, high = starts[g], starts[g + 1]
        ahead = 0.0
        for j in range(low, high):
            moved = code[j] + step * direction[j]
            if (nonnegative or l1[j] > 0.0) and moved * code[j] <= 0.0:
                moved = 0.0
            change[j] = moved
            ahead += moved * code[j]
            total += moved
        if ahead <= 0.0 and norms[g] > 0.0 and weights[g] > 0.0:
            for j in range(low, high):
                total -= change[j]
                change[j] = 0.0
    if sum_to_one and total < 0.1:
        return False
    factor = 1.0 / total if sum_to_one else 1.0
    for j in range(code.size):
        change[j] = factor * change[j] - code[j]
    return True


@njit(nogil=True, cache=True)
def objective_change(code, change, image, slope, shift, l1, weights, norms, starts):
    """Change of the objective, written with differences only so that no digit is lost."""
    value = 0.0
    for g in range(weights.size):
        inner = 0.0
        square = 0.0
        for j in range(starts[g], starts[g + 1]):
            step = change[j]
            if step == 0.0:
                continue
            moved = code[j] + step
            value += step * (0.5 * image[j] - slope[j] + shift)
            same_side = moved * code[j] > 0.0 or (moved == 0.0 and code[j] != 0.0)
            side = 1.0 if code[j] > 0.0 else -1.0
            value += l1[j] * (side * step if same_side else abs(moved) - abs(code[j]))
            inner += code[j] * step
            square += step * step
        if square > 0.0 and weights[g] > 0.0:
            difference = 2.0 * inner + square
            after = np.sqrt(max(norms[g] * norms[g] + difference, 0.0))
            value += weights[g] * difference / (after + norms[g])
    return value
