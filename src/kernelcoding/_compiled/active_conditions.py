"""Optimality conditions of the lasso in Gram form: who violates them, and by how much."""

import numpy as np

from .active_members import ACTIVE, BARRED, allowance, l1_slope
from .cholesky import inner, raised, write_without_rows

EPS = 2.220446049250313e-16
# Admit at most a fifth of the active set, and a few while it is small; none much weaker than the
# strongest. One at a time is several times slower; many more collapse on ill-conditioned Grams.
AT_LEAST, PART, WEAKEST = 4, 5, 0.3
HALVINGS = 10  # in the search for the level that so many are above
FEASIBLE = 1e-12  # error of a sum that must be one, relative to its terms


@inner
def correlate(row, scratch, size):
    """Compute ``correlation`` at the present coefficients; return the objective."""
    correlation, index, value = scratch.correlation, scratch.members, scratch.value
    write_without_rows(row.cross, row.gram, index, value, size, correlation)
    objective = 0.0
    for i in range(size):
        atom = index[i]
        correlation[atom] -= row.ridge[atom] * value[i]
        objective -= 0.5 * value[i] * (row.cross[atom] + correlation[atom])
        objective += l1_slope(row, atom, scratch.sign[i]) * value[i]
    if row.sum_to_one:
        multiplier = 0.0
        for i in range(size):
            atom = index[i]
            multiplier += (correlation[atom] - l1_slope(row, atom, scratch.sign[i])) / size
        for j in range(correlation.size):
            correlation[j] -= multiplier
    return objective


@inner
def rounding_level(row, scratch, size):
    """Size of the rounding errors in ``correlation``."""
    total = row.scale
    for i in range(size):
        atom = scratch.members[i]
        total += abs(scratch.value[i]) * (row.gram[atom, atom] + row.ridge[atom])
    return 16.0 * EPS * total


@inner
def active_within(row, scratch, size, part, floor):
    """Whether the active atoms use no more than a part of the tolerance."""
    good = True
    for i in range(size):
        atom = scratch.members[i]
        violation = abs(scratch.correlation[atom] - l1_slope(row, atom, scratch.sign[i]))
        good = good and violation <= part * allowance(row, atom) + floor
    return good


@inner
def write_excess(correlation, bound, common, nonnegative, out):
    """Write correlations in excess of a bound to ``out``."""
    if nonnegative:
        for j in range(out.size):
            out[j] = correlation[j] - (bound[j] - common)
    elif common == 0.0:  # most problems: an addition less per atom is five percent of their time
        for j in range(out.size):
            out[j] = abs(correlation[j]) - bound[j]
    else:
        for j in range(out.size):
            out[j] = abs(correlation[j] + common) - bound[j]


@inner
def write_peaks(values, peaks):
    """Write the largest of every so many values to ``peaks``; NaN is above nothing."""
    peaks[:] = -np.inf
    for start in range(0, values.size, peaks.size):
        block = values[start : min(start + peaks.size, values.size)]
        for j in range(block.size):
            # Adding nothing keeps compilers from a masked store, which the next load waits for.
            peaks[j] = (block[j] if block[j] > peaks[j] else peaks[j]) + 0.0


@inner
def number_above(values, level):
    """How many values are above a level."""
    above = 0
    for j in range(values.size):
        above += values[j] > level
    return above


@inner
def entry_level(values, least, strongest, limit):
    """A level, at least ``least``, that about ``limit`` values are above, and never none."""
    above, high = number_above(values, least), strongest
    if above <= limit:
        return least
    for _ in range(HALVINGS):
        middle = 0.5 * (least + high)
        above = number_above(values, middle)
        if above > limit:
            least = middle
        else:
            high = middle
        if above == limit:
            break
    return high if high < strongest else least


@inner
def choose_violators(row, scratch, size, floor):
    """List the violators that shall enter; return how many."""
    atoms, strength, peaks = scratch.entering, scratch.strength, scratch.peaks
    write_excess(scratch.correlation, scratch.bound, row.common, row.nonnegative, strength)
    write_peaks(strength, peaks)
    strongest = raised(peaks, -np.inf)
    if not strongest > floor:
        return np.int64(0)
    limit = max(AT_LEAST, size // PART)
    least = max(floor, WEAKEST * strongest)
    few = 4 * limit <= peaks.size  # so few that hardly two of them share a peak
    least = entry_level(peaks if few else strength, least, strongest, limit)
    count: int | np.int64 = np.int64(0)
    for first in range(peaks.size):
        if peaks[first] > least:
            lowest = peaks[first] if few else least
            for atom in range(first, strength.size, peaks.size):
                if strength[atom] >= lowest and strength[atom] > least and count < limit:
                    atoms[count], scratch.entering_value[count] = atom, 0.0
                    count += 1
    return count


@inner
def inactive_within(row, scratch, floor, vague):
    """Whether no correlation outside the active set exceeds what is allowed there."""
    strength, state = scratch.strength, scratch.state
    write_excess(scratch.correlation, row.l1, row.common, row.nonnegative, strength)
    good = True
    for atom in range(strength.size):
        if strength[atom] > 0.0 and state[atom] != ACTIVE:
            rounding = vague if state[atom] == BARRED else floor
            good = good and strength[atom] <= allowance(row, atom) + rounding
    return good


@inner
def sums_to_one(scratch, size):
    """Whether the coefficients sum to one, up to rounding."""
    total, terms = 0.0, 0.0
    for i in range(size):
        total += scratch.value[i]
        terms += abs(scratch.value[i])
    return abs(total - 1.0) <= FEASIBLE * terms


@inner
def verdict(row, scratch, size, floor, stalled, barred):
    """Whether the optimality conditions hold within tolerance.

    ``strength`` still holds the correlations in excess of their bounds from the last choice.
    """
    strength = scratch.strength
    numbers, above = 0, 0
    for atom in range(strength.size):
        numbers += strength[atom] == strength[atom]
        above += strength[atom] > 0.0
    # Where rounding errors had the last word, no more is asked than the Gram matrix can tell.
    vague = row.precision * floor / (16.0 * EPS)
    floor = vague if stalled else floor
    good = numbers == strength.size and (size > 0 or not row.sum_to_one)
    good = good and (sums_to_one(scratch, size) or not row.sum_to_one)
    good = good and active_within(row, scratch, size, 1.0, floor)
    if good and (above > 0 or barred):
        good = inactive_within(row, scratch, floor, vague)
    return good
