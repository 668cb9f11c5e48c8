r"""Weighted lasso in Gram form by a second-order active-set method, one row at a time.

.. math:: \min_y \tfrac12 y^\top H y - k^\top y + \sum_j l_j |y_j|, \qquad H = K + \mathrm{diag}(q)

optionally with :math:`y \ge 0`, optionally with :math:`\sum_j y_j = 1`. The minimiser on the
active atoms with their signs fixed comes from a Cholesky factor; the way there stops at the first
sign change and drops that atom; then the strongest violators of the optimality conditions enter.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .cholesky import append, backward, copy, delete, dot, forward, subtract_rows, with_room

EPS = 2.220446049250313e-16
BLOCK = 16  # columns solved together: more no longer makes the triangular solve faster
LEAST, PART, FRACTION = 4, 5, 0.3
POLISH = 1e-3  # accuracy of the accepted code on its active set, in units of the tolerance
REFINEMENTS = 2
PATIENCE = 20  # rounds without descent before rounding errors are declared the winner
INACTIVE, ACTIVE, BARRED = 0, 1, 2


class Row(NamedTuple):
    """One problem."""

    gram: np.ndarray  # (N, N), float32 or float64
    cross: np.ndarray  # (N,)
    l1: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)
    nonnegative: bool
    sum_to_one: bool
    # Added to every entry of H. Codes that sum to one do not notice; H need then be regular only
    # along differences of atoms, and affinely independent atoms are never called dependent.
    shift: float
    precision: float  # relative size of a pivot that is all rounding errors
    scale: float  # of the correlations
    tol: float


class Scratch(NamedTuple):
    """Memory of one thread. By position in the active set, except where it says by atom."""

    index: np.ndarray  # (N,) atom
    value: np.ndarray  # (N,) coefficient
    sign: np.ndarray  # (N,) -1 or 1; 0 for an atom free to change sign
    target: np.ndarray  # (N,) minimiser on the active set
    solved: np.ndarray  # (N,) solution of U' x = k - l sign
    ones: np.ndarray  # (N,) solution of U' x = 1
    carry: np.ndarray  # (N,)
    correlation: np.ndarray  # (N,) by atom: k - H y, minus the multiplier of sum(y) = 1
    state: np.ndarray  # (N,) by atom: INACTIVE, ACTIVE or BARRED
    bound: np.ndarray  # (N,) by atom: correlation that is tolerated; infinite unless INACTIVE
    strength: np.ndarray  # (N,) by atom: correlation in excess of the bound
    entering: np.ndarray  # (N,) atoms about to enter
    entering_value: np.ndarray  # (N,)
    columns: np.ndarray  # (BLOCK, N) right-hand sides of atoms about to enter


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy")
def allocate(n_atoms):
    """Scratch memory for problems with ``n_atoms`` atoms."""
    return Scratch(
        np.empty(n_atoms, np.int64),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.zeros(n_atoms, np.int8),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms, np.int64),
        np.empty(n_atoms),
        np.empty((BLOCK, n_atoms)),
    )


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def allowance(row, atom):
    """Violation accepted at one atom."""
    return row.tol * (row.l1[atom] if row.l1[atom] > 0.0 else row.scale)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def tolerated(row, atom):
    """Correlation accepted at an inactive atom."""
    return row.l1[atom] + allowance(row, atom)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def diagonal(row, atom):
    """Entry of H, shifted, on the diagonal."""
    return row.gram[atom, atom] + row.ridge[atom] + row.shift


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def entry_sign(row, atom, direction):
    """The sign an atom enters with; 0 if nothing happens when it changes sign."""
    if row.nonnegative:
        return 1.0
    if row.l1[atom] == 0.0:
        return 0.0
    return 1.0 if direction > 0.0 else -1.0


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def enter(row, scratch, factor, size, atom, value, direction, column):
    """Append one atom whose forward-solved column is given; False if it depends on the others."""
    height = diagonal(row, atom)
    pivot = height - dot(column[:size], column[:size])
    if not pivot > row.precision * height:
        return False
    append(factor, size, column, pivot)
    sign = entry_sign(row, atom, direction)
    linear = row.cross[atom] - row.l1[atom] * sign
    root = factor[size, size]
    scratch.solved[size] = (linear - dot(column[:size], scratch.solved[:size])) / root
    scratch.ones[size] = (1.0 - dot(column[:size], scratch.ones[:size])) / root
    scratch.index[size] = atom
    scratch.value[size] = value
    scratch.sign[size] = sign
    scratch.state[atom] = ACTIVE
    scratch.bound[atom] = np.inf
    return True


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def admit_block(row, scratch, factor, size, first, count):
    """Append the entering atoms ``first .. first + count`` as far as they are independent."""
    columns, index = scratch.columns, scratch.index
    for r in range(count):
        line = row.gram[scratch.entering[first + r]]
        for i in range(size):
            columns[r, i] = line[index[i]] + row.shift
    forward(factor, size, columns, count)
    before = size
    for r in range(count):
        atom = scratch.entering[first + r]
        column = columns[r]
        for i in range(before, size):
            rest = row.gram[atom, index[i]] + row.shift - dot(columns[i - before, :i], column[:i])
            column[i] = rest / factor[i, i]
        value = scratch.entering_value[first + r]
        direction = value if value != 0.0 else scratch.correlation[atom]
        if enter(row, scratch, factor, size, atom, value, direction, column):
            if size - before != r:
                copy(column[:size], columns[size - before])
            size += 1
    return size


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def admit(row, scratch, factor, size, count):
    """Append all entering atoms that are independent; the factor must have room."""
    for first in range(0, count, BLOCK):
        size = admit_block(row, scratch, factor, size, first, min(BLOCK, count - first))
    return size


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def drop(row, scratch, factor, size, position):
    """Remove one active atom."""
    atom = scratch.index[position]
    scratch.state[atom] = INACTIVE
    scratch.bound[atom] = tolerated(row, atom)
    delete(factor, size, position, scratch.carry, scratch.solved, scratch.ones)
    for i in range(position, size - 1):
        scratch.index[i] = scratch.index[i + 1]
        scratch.value[i] = scratch.value[i + 1]
        scratch.sign[i] = scratch.sign[i + 1]
    return size - 1


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def aim(row, scratch, factor, size):
    """Put the minimiser on the active set, signs fixed, into ``target``."""
    target, solved, ones = scratch.target[:size], scratch.solved[:size], scratch.ones[:size]
    multiplier = 0.0
    if row.sum_to_one:
        multiplier = (dot(ones, solved) - 1.0) / dot(ones, ones)
    for i in range(size):
        target[i] = solved[i] - multiplier * ones[i]
    backward(factor, size, target)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def first_crossing(scratch, size):
    """Largest step towards the target that changes no sign, and who stops it (-1: nobody)."""
    step, who = 1.0, -1
    for i in range(size):
        value, target = scratch.value[i], scratch.target[i]
        if scratch.sign[i] != 0.0 and scratch.sign[i] * target <= 0.0:
            reach = value / (value - target) if value != 0.0 else 0.0
            if reach < step or who < 0:
                step, who = reach, i
    return step, who


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def descend(row, scratch, factor, size):
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


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def correlate(row, scratch, size):
    """Compute ``correlation`` at the present coefficients; return the objective."""
    correlation, index, value = scratch.correlation, scratch.index, scratch.value
    copy(row.cross, correlation)
    subtract_rows(correlation, row.gram, index, value, size)
    objective = 0.0
    for i in range(size):
        atom = index[i]
        correlation[atom] -= row.ridge[atom] * value[i]
        objective -= 0.5 * value[i] * (row.cross[atom] + correlation[atom])
        objective += row.l1[atom] * abs(value[i])
    if row.sum_to_one:
        multiplier = 0.0
        for i in range(size):
            atom = index[i]
            multiplier += (correlation[atom] - row.l1[atom] * scratch.sign[i]) / size
        for j in range(correlation.size):
            correlation[j] -= multiplier
    return objective


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def refine(row, scratch, factor, size):
    """One step of iterative refinement on the active set; False if it would change a sign."""
    step, ones = scratch.columns[0, :size], scratch.ones[:size]
    defect = 1.0
    for i in range(size):
        atom = scratch.index[i]
        step[i] = scratch.correlation[atom] - row.l1[atom] * scratch.sign[i]
        defect -= scratch.value[i]
    forward(factor, size, scratch.columns, 1)
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


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def excess(row, scratch, atom):
    """Violation of the optimality condition of an inactive atom; negative if there is none."""
    correlation = scratch.correlation[atom]
    return (correlation if row.nonnegative else abs(correlation)) - row.l1[atom]


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def rounding_level(row, scratch, size):
    """Size of the rounding errors in ``correlation``."""
    total = 0.0
    for i in range(size):
        atom = scratch.index[i]
        total += abs(scratch.value[i]) * (row.gram[atom, atom] + row.ridge[atom])
    return 16.0 * EPS * (total + row.scale)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def active_violation(row, scratch, size, floor):
    """Largest violation on the active set, in units of what is allowed, above rounding errors."""
    worst = 0.0
    for i in range(size):
        atom = scratch.index[i]
        violation = abs(scratch.correlation[atom] - row.l1[atom] * scratch.sign[i]) - floor
        relative = violation / allowance(row, atom)
        worst = relative if relative > worst else worst
    return worst


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def largest_excess(correlation, bound, nonnegative, out):
    """Write correlations in excess of a bound to ``out``; return the largest."""
    largest = -np.inf
    if nonnegative:
        for j in range(out.size):
            out[j] = correlation[j] - bound[j]
            largest = out[j] if out[j] > largest else largest
    else:
        for j in range(out.size):
            out[j] = abs(correlation[j]) - bound[j]
            largest = out[j] if out[j] > largest else largest
    return largest


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def sift(heap, atoms, root, count):
    """Restore the heap, weakest first, below ``root``."""
    value, atom = heap[root], atoms[root]
    child = 2 * root + 1
    while child < count:
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[root], atoms[root] = heap[child], atoms[child]
        root, child = child, 2 * child + 1
    heap[root], atoms[root] = value, atom


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def choose(row, scratch, limit, floor):
    """List the strongest violators, none much weaker than the strongest, at most ``limit``."""
    atoms, heap, strength = scratch.entering, scratch.entering_value, scratch.strength
    strongest = largest_excess(scratch.correlation, scratch.bound, row.nonnegative, strength)
    least = max(floor, FRACTION * strongest)
    count = 0
    for atom in range(strength.size):
        if strength[atom] > least:
            if count < limit:
                atoms[count], heap[count] = atom, strength[atom]
                count += 1
                if count < limit:
                    continue
                for root in range(count // 2 - 1, -1, -1):
                    sift(heap, atoms, root, count)
            else:
                atoms[0], heap[0] = atom, strength[atom]
                sift(heap, atoms, 0, count)
            least = heap[0]
    for i in range(count):
        heap[i] = 0.0  # from here on, the value an atom enters with
    return count


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def exchange(row, scratch, factor, size, atom):
    """Trade an active atom for one that depends on the active set.

    Along the null direction of H the objective falls linearly, until a coefficient reaches zero.
    ``columns[0]`` holds the forward-solved column of ``atom``.
    """
    violation = excess(row, scratch, atom)
    heading = 1.0 if scratch.correlation[atom] > 0.0 else -1.0
    direction = scratch.target[:size]
    copy(scratch.columns[0, :size], direction)
    backward(factor, size, direction)
    reach, who = np.inf, -1
    for i in range(size):
        direction[i] *= -heading
        if scratch.sign[i] * direction[i] < 0.0:
            distance = abs(scratch.value[i] / direction[i])
            if distance < reach:
                reach, who = distance, i
    # Too short a way, or too weak a slope to be told from the curvature of rounding errors.
    if who < 0 or not violation > row.precision * diagonal(row, atom) * reach:
        return size
    return _exchange(row, scratch, factor, size, atom, heading * reach, who)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def _exchange(row, scratch, factor, size, atom, value, who):
    """Move along ``target`` by ``|value|``, drop ``who`` and let ``atom`` enter with ``value``."""
    for i in range(size):
        scratch.value[i] += abs(value) * scratch.target[i]
    size = drop(row, scratch, factor, size, who)
    scratch.entering[0], scratch.entering_value[0] = atom, value
    return admit_block(row, scratch, factor, size, 0, 1)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def settle(row, scratch, factor, size):
    """Correlations at the minimiser on the active set, and the violators that may enter."""
    count, floor, objective = 0, 0.0, 0.0
    for _ in range(1 + REFINEMENTS):
        objective = correlate(row, scratch, size)
        floor = rounding_level(row, scratch, size)
        count = choose(row, scratch, max(LEAST, size // PART), floor)
        if count > 0:
            break
        accurate = active_violation(row, scratch, size, floor) <= POLISH
        if accurate or not refine(row, scratch, factor, size):
            break
    return count, floor, objective


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def verdict(row, scratch, size, floor):
    """Largest violation of the optimality conditions, and whether all are within tolerance."""
    strength, state = scratch.strength, scratch.state
    residual = largest_excess(scratch.correlation, row.l1, row.nonnegative, strength)
    good = active_violation(row, scratch, size, floor) <= 1.0
    # Of barred atoms no more is asked than the Gram matrix can tell.
    vague = row.precision * row.scale
    for atom in range(strength.size):
        if strength[atom] > 0.0 and state[atom] != ACTIVE:
            rounding = floor if state[atom] == INACTIVE else vague
            good = good and strength[atom] <= allowance(row, atom) + rounding
    for i in range(size):
        atom = scratch.index[i]
        violation = abs(scratch.correlation[atom] - row.l1[atom] * scratch.sign[i])
        residual = violation if violation > residual else residual
    return residual, good


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy")
def solve_row(row, scratch, factor, size, max_iter):
    """Solve one problem from the active set in ``scratch``."""
    iterations = stalled = 0
    best = np.inf
    while True:
        size, steps = descend(row, scratch, factor, size)
        iterations += max(steps, 1)
        count, floor, objective = settle(row, scratch, factor, size)
        stalled = 0 if objective < best else stalled + 1
        best = min(best, objective)
        if count == 0 or iterations >= max_iter or stalled > PATIENCE:
            break
        factor = with_room(factor, size, size + count)
        grown = admit(row, scratch, factor, size, count)
        if grown == size:
            atom = scratch.entering[0]
            grown = exchange(row, scratch, factor, size, atom)
            if scratch.state[atom] == INACTIVE:
                scratch.state[atom] = BARRED
                scratch.bound[atom] = np.inf
        size = grown
    residual, converged = verdict(row, scratch, size, floor)
    return factor, size, residual, iterations, converged


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def reset(row, scratch):
    """Forget the active set."""
    scratch.state[:] = INACTIVE
    bound, l1, unweighted = scratch.bound, row.l1, row.tol * row.scale
    for j in range(bound.size):
        bound[j] = l1[j] + (row.tol * l1[j] if l1[j] > 0.0 else unweighted)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy")
def start_row(row, scratch, factor, atoms, values):
    """Enter the given atoms, or the best single one where the codes must sum to one."""
    size, total = 0, 0.0
    reset(row, scratch)
    factor = with_room(factor, 0, atoms.size + 1)
    for i in range(atoms.size):
        if values[i] > 0.0 or (values[i] < 0.0 and not row.nonnegative):
            scratch.entering[size], scratch.entering_value[size] = atoms[i], values[i]
            size += 1
    size = admit(row, scratch, factor, 0, size)
    if not row.sum_to_one:
        return factor, size
    for i in range(size):
        total += scratch.value[i]
    if total > 0.0:
        for i in range(size):
            scratch.value[i] /= total
        return factor, size
    reset(row, scratch)
    best, lowest = 0, np.inf
    for atom in range(row.cross.size):
        value = 0.5 * diagonal(row, atom) - row.cross[atom] + row.l1[atom]
        if value < lowest:
            best, lowest = atom, value
    scratch.entering[0], scratch.entering_value[0] = best, 1.0
    return factor, admit(row, scratch, factor, 0, 1)


@njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=True, error_model="numpy", _nrt=False)
def gather(scratch, size, indices, values):
    """Write the code, atoms in ascending order."""
    dense = scratch.correlation
    for i in range(size):
        dense[scratch.index[i]] = scratch.value[i]
    count = 0
    for atom in range(dense.size):
        if scratch.state[atom] == ACTIVE:
            indices[count], values[count] = atom, dense[atom]
            count += 1


@njit(nogil=True, cache=True, error_model="numpy")
def solve_rows(
    gram, cross, l1, ridge, starts, start_atoms, start_values, nonnegative, sum_to_one, tol,
    precision, max_iter,
):  # fmt: skip
    """Solve one problem a row of ``cross``.

    Parameters
    ----------
    gram, cross : arrays of shape (N, N) and (n, N)
    l1, ridge : float64 arrays of shape (1, N) or (n, N)
    starts, start_atoms, start_values : arrays
        Codes to start from, as ``indptr``, ``indices`` and ``data`` of a CSR array.
    nonnegative, sum_to_one : bool
    tol : float
        Violation of the optimality conditions allowed at an atom, relative to its ``l1``.
    precision : float
        Pivots below this, relative to the diagonal, are rounding errors.
    max_iter : int

    Returns
    -------
    starts, atoms, values : the codes, as ``indptr``, ``indices`` and ``data``
    residual, iterations, converged : arrays of shape (n,)
    """
    n_rows, n_atoms = cross.shape
    scratch = allocate(n_atoms)
    factor = np.empty((min(40, n_atoms), min(40, n_atoms)))
    indptr = np.zeros(n_rows + 1, np.int64)
    atoms, values = np.empty(64 * n_rows + n_atoms, np.int64), np.empty(64 * n_rows + n_atoms)
    residual, iterations = np.empty(n_rows), np.empty(n_rows, np.int64)
    converged = np.empty(n_rows, np.bool_)
    line = np.empty(n_atoms)
    shift = 0.0
    if sum_to_one:
        for j in range(n_atoms):
            shift += gram[j, j] / n_atoms
        shift = shift if shift > 0.0 else 1.0
    for i in range(n_rows):
        scale = shift
        for j in range(n_atoms):
            line[j] = cross[i, j]
            scale = abs(line[j]) if abs(line[j]) > scale else scale
        row = Row(
            gram, line, l1[i % l1.shape[0]], ridge[i % ridge.shape[0]], nonnegative, sum_to_one,
            shift, precision, scale, tol,
        )  # fmt: skip
        given = slice(starts[i], starts[i + 1])
        factor, size = start_row(row, scratch, factor, start_atoms[given], start_values[given])
        factor, size, residual[i], iterations[i], converged[i] = solve_row(
            row, scratch, factor, size, max_iter
        )
        end = indptr[i] + size
        indptr[i + 1] = end
        if end > atoms.size:
            atoms = np.concatenate((atoms, np.empty(atoms.size + n_atoms, np.int64)))
            values = np.concatenate((values, np.empty(values.size + n_atoms)))
        gather(scratch, size, atoms[indptr[i] : end], values[indptr[i] : end])
    return indptr, atoms[: indptr[-1]], values[: indptr[-1]], residual, iterations, converged
