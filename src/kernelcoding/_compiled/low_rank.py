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

from .cholesky import allocating, copy, dot, inner, raised, write_without_rows
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


class SmallProblems(NamedTuple):
    """The problems on the working sets of some rows, M atoms at most; by position there."""

    members: np.ndarray  # (m, M) atom
    sizes: np.ndarray  # (m,) atoms in the working set
    grams: np.ndarray  # (m, M, M) Gram matrix with the term of low rank
    cross: np.ndarray  # (m, M) linear term
    l1: np.ndarray  # (m, M)
    ridge: np.ndarray  # (m, M)
    starts: np.ndarray  # (m + 1,) with the next two: codes to start from (CSR)
    start_atoms: np.ndarray  # (m M,)
    start_values: np.ndarray  # (m M,)


class SmallCodes(NamedTuple):
    """Their solutions (CSR)."""

    indptr: np.ndarray  # (m + 1,)
    atoms: np.ndarray  # position in the working set
    values: np.ndarray


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
def enrol(place, members):
    """The atoms of a working set in order; returns how many."""
    size = 0
    for j in range(place.size):
        if place[j] >= 0:
            members[size] = j
            size += 1
    return size


@compiled
def fill_problems(shared, low, pending, rows, small):
    """Write the problems on the working sets of the pending rows, as the active-set method wants.

    Parameters
    ----------
    shared : Shared
    low : array of shape (places, S)
        Rows of B.
    pending : array of int
    rows : RowStates
    small : SmallProblems
        Filled.
    """
    small.starts[0] = 0
    responses = np.empty((small.members.shape[1], low.shape[1]))
    for p in range(pending.size):
        i = pending[p]
        place, members, gram = rows.place[i], small.members[p], small.grams[p]
        l1, ridge = shared.l1[i % shared.l1.shape[0]], shared.ridge[i % shared.ridge.shape[0]]
        eta, target, end = shared.etas[i], shared.targets[i], small.starts[p]
        small.sizes[p] = enrol(place, members)
        for a in range(small.sizes[p]):
            copy(low[place[members[a]]], responses[a])
        own = responses[: small.sizes[p]]
        agreements = np.dot(own, own.T)
        for a in range(small.sizes[p]):
            atom = members[a]
            for b in range(a + 1):
                gram[a, b] = shared.gram[atom, members[b]] + eta * agreements[a, b]
                gram[b, a] = gram[a, b]
            small.cross[p, a] = shared.cross[i, atom] + eta * dot(responses[a], target)
            small.l1[p, a], small.ridge[p, a] = l1[atom], ridge[atom]
            if rows.codes[i, atom] != 0.0:
                small.start_atoms[end], small.start_values[end] = a, rows.codes[i, atom]
                end += 1
        small.starts[p + 1] = end


@compiled
def take_codes(shared, low, pending, rows, members, found):
    """Let the solutions on working sets be the codes of the pending rows.

    Parameters
    ----------
    shared, low, pending
        As in :func:`fill_problems`.
    rows : RowStates
        Codes and residuals are changed in place.
    members : array of shape (m, M)
        The working sets.
    found : SmallCodes
    """
    for p in range(pending.size):
        i = pending[p]
        code, place, residual = rows.codes[i], rows.place[i], rows.residual[i]
        for j in range(code.size):
            code[j] = 0.0
        first, last = found.indptr[p], found.indptr[p + 1]
        places = found.atoms[first:last]  # from now on, of rows of B
        for q in range(places.size):
            atom = members[p, places[q]]
            code[atom] = found.values[first + q]
            places[q] = place[atom]
        values = found.values[first:last]
        write_without_rows(shared.targets[i], low, places, values, places.size, residual)
