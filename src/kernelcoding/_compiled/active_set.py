r"""Weighted lasso in Gram form by a second-order active-set method, one row at a time.

.. math:: \min_y \tfrac12 y^\top H y - k^\top y + \sum_j l_j |y_j|, \qquad H = K + \mathrm{diag}(q)

optionally with :math:`y \ge 0`, optionally with :math:`\sum_j y_j = 1`. The minimiser on the
active atoms with their signs fixed comes from a Cholesky factor; the way there stops at the first
sign change and drops that atom; then the strongest violators of the optimality conditions enter.
"""

import numpy as np

from .active_conditions import (
    active_within,
    choose_violators,
    correlate,
    rounding_level,
    sums_to_one,
    verdict,
    write_peaks,
)
from .active_members import (
    ACTIVE,
    BARRED,
    RowProblem,
    admit,
    allocate,
    diagonal,
    drop,
    found,
    l1_slope,
    reset,
    solve_columns,
)
from .cholesky import backward, copy, dot, forward, inner, larger, raised
from .jit import compiled

POLISH = 1e-3  # accuracy of the accepted code on its active set, in units of the tolerance
REFINEMENTS = 2
MANY = 8  # given atoms from which one factorisation beats their entering one by one
PATIENCE = 20  # rounds without descent before rounding errors are declared the winner
ROOM, NO_ROOM = 40, -1  # rows of the first factor; size of an active set that has no room in it


@inner
def aim(row, scratch, factor, size):
    """Put the minimiser on the active set, signs fixed, into ``target``."""
    target, solved, ones = scratch.target[:size], scratch.solved[:size], scratch.ones[:size]
    multiplier = 0.0
    if row.sum_to_one:
        multiplier = (dot(ones, solved) - 1.0) / dot(ones, ones)
    for i in range(size):
        target[i] = solved[i] - multiplier * ones[i]
    backward(factor, size, target)


@inner
def first_crossing(scratch, size):
    """Largest step towards the target that changes no sign, and who stops it (-1: nobody)."""
    step = 1.0
    who: int | np.int64 = np.int64(-1)
    for i in range(size):
        value, target = scratch.value[i], scratch.target[i]
        if scratch.sign[i] != 0.0 and scratch.sign[i] * target <= 0.0:
            reach = value / (value - target) if value != 0.0 else 0.0
            if reach < step or who < 0:
                step, who = reach, i
    return step, who


@inner
def reach_minimiser(row, scratch, factor, size):
    """Go to the minimiser on the active set, dropping the atoms that would change sign."""
    value, target, sign = scratch.value, scratch.target, scratch.sign
    steps = 0
    while size > 0:
        aim(row, scratch, factor, size)
        steps += 1
        step, who = first_crossing(scratch, size)
        if who < 0:
            copy(target[:size], value)
            break
        for i in range(size):
            value[i] += step * (target[i] - value[i])
        value[who] = 0.0
        # From the end, so that the positions still to be visited do not move.
        for i in range(size - 1, -1, -1):
            if sign[i] != 0.0 and sign[i] * target[i] <= 0.0 and sign[i] * value[i] <= 0.0:
                size = drop(row, scratch, factor, size, i)
    return size, steps


@inner
def refine(row, scratch, factor, size):
    """One step of iterative refinement on the active set; False if it would change a sign."""
    step, ones = scratch.columns[0, :size], scratch.ones[:size]
    defect = 1.0
    for i in range(size):
        atom = scratch.members[i]
        step[i] = scratch.correlation[atom] - l1_slope(row, atom, scratch.sign[i])
        defect -= scratch.value[i]
    forward(factor, size, scratch.columns, np.int64(1))
    if row.sum_to_one:
        multiplier = (dot(ones, step) - defect) / dot(ones, ones)
        for i in range(size):
            step[i] -= multiplier * ones[i]
    backward(factor, size, step)
    for i in range(size):
        if scratch.sign[i] != 0.0 and scratch.sign[i] * (scratch.value[i] + step[i]) <= 0.0:
            return False
    for i in range(size):
        scratch.value[i] += step[i]
    return True


@inner
def settle(row, scratch, factor, size):
    """Correlations at the minimiser on the active set, and the violators that may enter."""
    count, floor, objective = 0, 0.0, 0.0
    for attempt in range(1 + REFINEMENTS):
        objective = correlate(row, scratch, size)
        floor = rounding_level(row, scratch, size)
        count = choose_violators(row, scratch, size, floor)
        summed = not row.sum_to_one or sums_to_one(scratch, size)
        if count > 0 or (summed and active_within(row, scratch, size, POLISH, floor)):
            break
        # Never after the last look: what is judged is what is returned.
        if attempt == REFINEMENTS or not refine(row, scratch, factor, size):
            break
    return count, floor, objective


@inner
def make_way(row, scratch, factor, size):
    """Drop an active atom so that the first entering atom, which depends on them, is free to enter.

    Along the null direction of H the objective falls linearly, until a coefficient reaches zero.
    """
    atom = scratch.entering[0]
    solve_columns(row, scratch, factor, size, np.int64(0), np.int64(1))  # others were solved since
    correlation = scratch.correlation[atom] + row.common
    heading = 1.0 if correlation > 0.0 or row.nonnegative else -1.0
    slope = heading * correlation - row.l1[atom]
    direction = scratch.target[:size]
    copy(scratch.columns[0, :size], direction)
    backward(factor, size, direction)
    reach = np.inf
    who: int | np.int64 = np.int64(-1)
    for i in range(size):
        direction[i] *= -heading
        if scratch.sign[i] * direction[i] < 0.0:
            distance = abs(scratch.value[i] / direction[i])
            if distance < reach:
                reach, who = distance, i
    # A slope that cannot be told from the curvature of rounding errors leads nowhere.
    if who < 0 or not slope > row.precision * diagonal(row, atom) * reach:
        return size
    for i in range(size):
        scratch.value[i] += reach * direction[i]
    scratch.entering_value[0] += reach * heading
    return drop(row, scratch, factor, size, who)


@inner
def welcome(row, scratch, factor, size, count):
    """Let the entering atoms in; trade or bar the first of them if all depend on active ones.

    Returns the size of the active set and whether an atom was barred.
    """
    while True:
        grown = admit(row, scratch, factor, size, count)
        if grown > size or count == 0:
            return grown, False
        kept = make_way(row, scratch, factor, size)
        if kept == size:
            break
        size, count = kept, min(count, 1)
    atom = scratch.entering[0]
    scratch.state[atom] = BARRED
    scratch.bound[atom] = np.inf
    return size, True


@inner
def list_given(row, scratch, atoms, values):
    """Let the given atoms enter with the given values, as far as these are allowed."""
    count = 0
    for i in range(atoms.size):
        allowed = values[i] > 0.0 or (values[i] < 0.0 and not row.nonnegative)
        if allowed and row.l1[atoms[i]] < np.inf:
            scratch.entering[count], scratch.entering_value[count] = atoms[i], values[i]
            count += 1
    return count


@inner
def list_best(row, scratch):
    """Let the single atom enter that is best on its own."""
    best, lowest = 0, np.inf
    for atom in range(row.cross.size):
        value = 0.5 * diagonal(row, atom) - row.cross[atom] + l1_slope(row, atom, 1.0)
        if value < lowest:
            best, lowest = atom, value
    scratch.entering[0], scratch.entering_value[0] = best, 1.0
    return np.int64(1)


@inner
def feasible(row, scratch, size):
    """Make the first code sum to one where it must; False if its signs do not allow it."""
    if not row.sum_to_one:
        return True
    total = 0.0
    for i in range(size):
        total += scratch.value[i]
    if total <= 0.0:
        return False
    for i in range(size):
        scratch.value[i] /= total
    return True


@inner
def solve_row(row, scratch, factor, atoms, values, max_iter, stop):
    """Solve one problem from the given atoms and values; broken off when ``stop[0]`` is set.

    Where the factor has no room it is the caller who finds a larger one, and starts again.
    """
    # A typed zero: for a literal one everything below would be compiled a second time.
    size: int | np.int64 = np.int64(0)
    iterations = stalled = 0
    floor, best, started, barred = 0.0, np.inf, False, False
    reset(row, scratch)
    count = list_given(row, scratch, atoms, values)
    while True:
        if size + count > factor.shape[0]:
            return NO_ROOM, iterations, False
        if not started and count >= MANY:
            size = found(row, scratch, factor, count)
        if size == 0 or started:
            size, turned_away = welcome(row, scratch, factor, size, count)
            barred = barred or turned_away
        if not started:
            started = True
            if not feasible(row, scratch, size):
                reset(row, scratch)
                size, count, barred = np.int64(0), list_best(row, scratch), False
                continue
        size, steps = reach_minimiser(row, scratch, factor, size)
        iterations += max(steps, 1)
        count, floor, objective = settle(row, scratch, factor, size)
        stalled = 0 if objective < best else stalled + 1
        best = min(best, objective)
        if count == 0 or iterations >= max_iter or stalled > PATIENCE or stop[0] != 0:
            break
    converged = verdict(row, scratch, size, floor, stalled > PATIENCE, barred)
    return size, iterations, converged


@inner
def gather(scratch, size, indices, values):
    """Write the code, atoms in ascending order."""
    dense = scratch.correlation
    if size * size < dense.size:  # a few are sorted sooner than all are looked at
        for i in range(size):
            atom, value, place = scratch.members[i], scratch.value[i], i
            while place > 0 and indices[place - 1] > atom:
                indices[place], values[place] = indices[place - 1], values[place - 1]
                place -= 1
            indices[place], values[place] = atom, value
        return
    for i in range(size):
        dense[scratch.members[i]] = scratch.value[i]
    count = 0
    for atom in range(dense.size):
        if scratch.state[atom] == ACTIVE:
            indices[count], values[count] = atom, dense[atom]
            count += 1


@inner
def largest_size(cross, shift, scratch):
    """The scale of correlations."""
    size_of = scratch.strength
    for j in range(size_of.size):
        size_of[j] = abs(cross[j])
    write_peaks(size_of, scratch.peaks)
    scale = raised(scratch.peaks, shift)
    return scale if scale > 0.0 else 1.0


@inner
def smallest(weights):
    """The smallest of the weights; 0 if all are infinite."""
    least = np.inf
    for j in range(weights.size):
        least = min(least, weights[j])
    return least if least < np.inf else 0.0


@inner
def mean_diagonal(gram, size):
    """Mean of the diagonal, or 1 if that is zero."""
    total = 0.0
    for j in range(size):
        total += gram[j, j] / size
    return total if total > 0.0 else 1.0


@inner
def solve_from(
    first, scratch, factor, grams, cross, l1, ridge, sizes, scales, starts, start_atoms,
    start_values, nonnegative, sum_to_one, tol, precision, max_iter, stop, indptr, atoms, values,
    iterations, converged,
):  # fmt: skip
    """Solve rows from ``first`` on; the first one that this memory is not for, or their number."""
    n_atoms, shift, common = scratch.state.size, 0.0, 0.0
    for i in range(first, cross.shape[0]):
        if stop[0] != 0:
            return cross.shape[0]
        if sizes[i % sizes.size] != n_atoms:
            return i
        gram, line = grams[i % grams.shape[0]], cross[i, :n_atoms]
        weights = l1[i % l1.shape[0], :n_atoms]
        if sum_to_one:
            common = smallest(weights)
            if i == first or grams.shape[0] > 1:
                shift = mean_diagonal(gram, n_atoms)
        scale = scales[i % scales.size]
        if scale == 0.0:
            scale = largest_size(line, shift, scratch)
        row = RowProblem(
            gram, line, weights, ridge[i % ridge.shape[0], :n_atoms], nonnegative, sum_to_one,
            shift, precision, scale, tol, common,
        )  # fmt: skip
        begin, end = starts[i], starts[i + 1]
        while True:
            size, iterations[i], converged[i] = solve_row(
                row, scratch, factor, start_atoms[begin:end], start_values[begin:end], max_iter,
                stop,
            )  # fmt: skip
            if size == NO_ROOM:
                return i
            if converged[i] or begin == end or stop[0] != 0:
                break
            end = begin  # A start that leads astray is not worth keeping.
        filled = indptr[i] + size
        indptr[i + 1] = filled
        gather(scratch, size, atoms[indptr[i] : filled], values[indptr[i] : filled])
    return cross.shape[0]


@compiled
def solve_rows(
    grams, cross, l1, ridge, sizes, scales, starts, start_atoms, start_values, nonnegative,
    sum_to_one, tol, precision, max_iter, stop, indptr, atoms, values, iterations, converged,
):  # fmt: skip
    """Solve one problem per row of ``cross``.

    Parameters
    ----------
    grams : array of shape (1 or n, N, N)
    cross : array of shape (n, N)
    l1, ridge : arrays of shape (1 or n, N)
    sizes : array of shape (1 or n,)
        Atoms of a problem: the first so many, others are not looked at.
    scales : array of shape (1 or n,)
        Of correlations; where it is 0, the largest entry of the row.
    starts, start_atoms, start_values : arrays
        Codes to start from, as ``indptr``, ``indices`` and ``data`` of a CSR array.
    nonnegative, sum_to_one : bool
    tol : float
        Violation of the optimality conditions allowed at an atom, relative to its ``l1``.
    precision : float
        Pivots below this, relative to the diagonal, are rounding errors.
    max_iter : int
    stop : array of shape (1,)
        Rows are left alone once it is not zero: nobody wants them any more.
    indptr, atoms, values : arrays of shape (n + 1,), (n N,) and (n N,)
        Filled with the codes, as ``indptr``, ``indices`` and ``data``. Nothing is returned: to
        make an array of Python, Numba runs Python code, and a pending signal would spoil it.
    iterations, converged : arrays of shape (n,)
        Filled.
    """
    scratch, factor = allocate(sizes[0]), np.empty((ROOM, ROOM))
    indptr[0] = row = 0
    while True:
        # Nothing in there is allocated: references need not be counted.
        row = solve_from(
            row, scratch, factor, grams, cross, l1, ridge, sizes, scales, starts, start_atoms,
            start_values, nonnegative, sum_to_one, tol, precision, max_iter, stop, indptr, atoms,
            values, iterations, converged,
        )  # fmt: skip
        if row == cross.shape[0]:
            break
        if sizes[row % sizes.size] != scratch.state.size:
            scratch = allocate(sizes[row % sizes.size])
        else:
            factor = larger(factor)
