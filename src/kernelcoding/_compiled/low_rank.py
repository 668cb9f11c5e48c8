r"""Weighted lasso whose Gram matrix is shared but for a term of low rank, different in each row.

.. math:: \min_y \tfrac12 y^\top K y - k^\top y + \sum_j l_j|y_j| + \tfrac\eta2\|g - B^\top y\|^2,
          \qquad B = \sum_z k_z\, y_z c_z^\top

B (atoms x classes) is never formed: its rows are computed for the atoms in a working set. In one
pass over many rows, the strongest violators among all atoms join each row's working set, their rows
of B are computed atom by atom (all from the same centres), and the small problems are solved by the
active-set method. Correlations, which say who violates, are matrix products between passes.
"""

from typing import NamedTuple

import numpy as np

from .active_members import RowProblem, allocate
from .active_set import gather, smallest, solve_row
from .cholesky import allocating, copy, dot, inner, raised, subtract_rows
from .jit import compiled

JOIN = 12  # violators that may join at once, at least


class Shared(NamedTuple):
    """Arrays of all problems, one entry per row where not shared."""

    gram: np.ndarray  # (N, N)
    cross: np.ndarray  # (n, N)
    l1: np.ndarray  # (n or 1, N)
    ridge: np.ndarray  # (n or 1, N)
    targets: np.ndarray  # (n, S)
    etas: np.ndarray  # (n,)


class RowOptions(NamedTuple):
    """Constraints and tolerances, as in the active-set method."""

    nonnegative: bool
    sum_to_one: bool
    tol: float
    precision: float


class Task(NamedTuple):
    """One problem."""

    gram: np.ndarray  # (N, N)
    cross: np.ndarray  # (N,)
    l1: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)
    target: np.ndarray  # (S,)
    eta: float
    nonnegative: bool
    sum_to_one: bool
    tol: float
    precision: float
    scale: float  # of the correlations


class WorkingSet(NamedTuple):
    """The problem on a working set, by position there."""

    members: np.ndarray  # (N,) atom
    matrix: np.ndarray  # (N, N) Gram matrix with the term of low rank
    line: np.ndarray  # (N,) linear term
    l1: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)


class RowStates(NamedTuple):
    """What is known of the solutions, one entry per row; changed in place."""

    codes: np.ndarray  # (n, N)
    place: np.ndarray  # (n, N) of the row of B; -1 where an atom is not in the working set
    residual: np.ndarray  # (n, S) what the scores miss
    iterations: np.ndarray  # (n,)
    solved: np.ndarray  # (n,) whether the code is that of the working set
    converged: np.ndarray  # (n,) whether it is optimal there
    finished: np.ndarray  # (n,) whether no other atom violates its condition


@allocating
def make_room(n_atoms):
    """Memory for problems of this size."""
    return WorkingSet(
        np.empty(n_atoms, np.int64),
        np.empty((n_atoms, n_atoms)),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
    )


@allocating
def task_of(shared, options, i, magnitude):
    """The problem of one row; ``magnitude`` is memory."""
    cross = shared.cross[i]
    for j in range(cross.size):
        magnitude[j] = abs(cross[j])
    scale = raised(magnitude, 0.0)
    return Task(
        shared.gram, cross, shared.l1[i % shared.l1.shape[0]],
        shared.ridge[i % shared.ridge.shape[0]], shared.targets[i], shared.etas[i],
        options.nonnegative, options.sum_to_one, options.tol, options.precision,
        scale if scale > 0.0 else 1.0,
    )  # fmt: skip


# Who joins -----------------------------------------------------------------------------------


@inner
def multiplier(task, correlation, code):
    """Of the constraint that codes sum to one: what correlations of used atoms have in common."""
    total, count = 0.0, 0
    for j in range(code.size):
        if code[j] != 0.0:
            sign = 1.0 if code[j] > 0.0 else -1.0
            total += correlation[j] - task.ridge[j] * code[j] - task.l1[j] * sign
            count += 1
    return total / max(count, 1)


@inner
def excess(task, strength, correlation, code, place):
    """By how much correlations outside the working set exceed what is allowed."""
    common = multiplier(task, correlation, code) if task.sum_to_one else 0.0
    for j in range(strength.size):
        beyond = correlation[j] - common
        size = beyond if task.nonnegative else abs(beyond)
        allowed = task.l1[j] + task.tol * (task.l1[j] if task.l1[j] > 0.0 else task.scale)
        strength[j] = -1.0 if place[j] >= 0 else size - allowed


@inner
def nearest(task, strength, correlation):
    """Codes that sum to one must start somewhere: all may enter, the nearest atoms first."""
    lowest = np.inf
    for j in range(strength.size):
        strength[j] = correlation[j] - 0.5 * task.gram[j, j]
        lowest = min(lowest, strength[j])
    for j in range(strength.size):
        strength[j] += 1.0 - lowest


@inner
def join(strength, joining, limit):
    """Mark the strongest violators; returns how many."""
    for count in range(limit):
        best, who = 0.0, -1
        for j in range(strength.size):
            if strength[j] > best:
                best, who = strength[j], j
        if who < 0:
            return count
        joining[who] = True
        strength[who] = -1.0
    return limit


@compiled
def find_violators(shared, options, correlation, pending, rows, joining):
    """Atoms that must join the working sets of the pending rows; rows without any are finished.

    Parameters
    ----------
    shared : Shared
    options : RowOptions
    correlation : array of shape (len(pending), N)
        Of atoms and what the codes leave over.
    pending : array of int
        The rows.
    rows : RowStates
    joining : bool array of shape (n, N)
        Set where an atom must join.
    """
    strength, magnitude = np.empty(rows.codes.shape[1]), np.empty(rows.codes.shape[1])
    for p in range(pending.size):
        i = pending[p]
        task = task_of(shared, options, i, magnitude)
        code, place = rows.codes[i], rows.place[i]
        size = 0
        for j in range(place.size):
            size += place[j] >= 0
        if size == 0 and task.sum_to_one:
            nearest(task, strength, correlation[p])
        else:
            excess(task, strength, correlation[p], code, place)
        count = join(strength, joining[i], max(JOIN, size // 3))
        rows.finished[i] = count == 0 and (rows.solved[i] or size == 0)


# Rows of B -----------------------------------------------------------------------------------


@compiled
def respond(similarity, coefficients, pointers, centres, values, rows, atoms, places, low):
    """Rows of B: what the scores of a sample gain by a unit of an atom.

    Parameters
    ----------
    similarity : array of shape (n, Z)
        Of samples and centres.
    coefficients : array of shape (Z, S)
    pointers, centres, values : codes of the centres by atoms (CSC)
    rows, atoms, places : arrays of int
        Samples, atoms in ascending order, and where in ``low`` to write.
    low : array of shape (>= places, S)
        Changed in place.
    """
    p = 0
    while p < atoms.size:
        end = p
        while end < atoms.size and atoms[end] == atoms[p]:
            end += 1
        first, last = pointers[atoms[p]], pointers[atoms[p] + 1]
        terms = np.empty((last - first, coefficients.shape[1]))
        own = np.empty((end - p, last - first))
        for q in range(first, last):
            for s in range(coefficients.shape[1]):
                terms[q - first, s] = values[q] * coefficients[centres[q], s]
        for r in range(p, end):
            for q in range(first, last):
                own[r - p, q - first] = similarity[rows[r], centres[q]]
        found = np.dot(own, terms)
        for r in range(p, end):
            copy(found[r - p], low[places[r]])
        p = end


# The small problems --------------------------------------------------------------------------


@inner
def fill_working_set(task, work, size, place, low):
    """Gram matrix, linear term and penalties of the atoms in the working set."""
    matrix, members = work.matrix, work.members
    for a in range(size):
        atom = members[a]
        own = low[place[atom]]
        for b in range(a + 1):
            other = members[b]
            matrix[a, b] = task.gram[atom, other] + task.eta * dot(own, low[place[other]])
            matrix[b, a] = matrix[a, b]
        work.line[a] = task.cross[atom] + task.eta * dot(own, task.target)
        work.l1[a], work.ridge[a] = task.l1[atom], task.ridge[atom]


@allocating
def small_problem(task, work, size):
    """The problem on the working set, as the active-set method wants it."""
    shift = common = 0.0
    if task.sum_to_one:
        common = smallest(work.l1[:size])
        for a in range(size):
            shift += work.matrix[a, a] / size
    return RowProblem(
        work.matrix, work.line[:size], work.l1[:size], work.ridge[:size], task.nonnegative,
        task.sum_to_one, shift, task.precision, task.scale, task.tol, common,
    )  # fmt: skip


@inner
def enrol(place, members):
    """The atoms of a working set in order; returns how many."""
    size = 0
    for j in range(place.size):
        if place[j] >= 0:
            members[size] = j
            size += 1
    return size


@compiled
def solve_rows(shared, options, low, pending, max_iter, stop, rows):
    """Best codes of the working sets of the pending rows, from the codes before.

    Parameters
    ----------
    shared : Shared
    options : RowOptions
    low : array of shape (places, S)
        Rows of B.
    pending : array of int
    max_iter : int
    stop : array of shape (1,)
        Rows are left alone once it is not zero.
    rows : RowStates
        Changed in place.
    """
    work = make_room(shared.gram.shape[0])
    factor = np.empty((40, 40))
    magnitude = np.empty(shared.gram.shape[0])
    for i in pending:
        if stop[0] != 0:
            return
        task = task_of(shared, options, i, magnitude)
        code, place = rows.codes[i], rows.place[i]
        size = enrol(place, work.members)
        fill_working_set(task, work, size, place, low)
        members = work.members[:size]
        values = code[members]
        chosen = np.flatnonzero(values)
        scratch = allocate(size)
        factor, count, steps, rows.converged[i] = solve_row(
            small_problem(task, work, size), scratch, factor, chosen, values[chosen], max_iter, stop
        )
        chosen, values = np.empty(count, np.int64), np.empty(count)
        gather(scratch, count, chosen, values)
        code[:] = 0.0
        code[members[chosen]] = values
        rows.solved[i] = True
        rows.iterations[i] += steps
        copy(task.target, rows.residual[i])
        subtract_rows(rows.residual[i], low, place[members[chosen]], values, count)
