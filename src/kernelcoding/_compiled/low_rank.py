r"""Weighted lasso whose Gram matrix is shared but for a term of low rank, different in each row.

.. math:: \min_y \tfrac12 y^\top K y - k^\top y + \sum_j l_j|y_j| + \tfrac\eta2\|g - B^\top y\|^2,
          \qquad B = \sum_z k_z\, y_z c_z^\top

B (atoms x classes) is never formed: its rows are computed for the atoms in a working set, and its
product with a residual goes through the centres z. The small problem on the working set is solved
by the active-set method; the strongest violators among all atoms join, until there are none.
"""

from typing import NamedTuple

import numpy as np

from .active_members import Row, allocate
from .active_set import gather, prepare, solve_row
from .cholesky import allocating, copy, dot, inner, raised, subtract_rows, summing
from .jit import compiled

ROUNDS = 50
JOIN = 12  # violators that may join at once, at least


class Task(NamedTuple):
    """One problem."""

    gram: np.ndarray  # (N, N)
    cross: np.ndarray  # (N,)
    l1: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)
    similarity: np.ndarray  # (Z,) of the sample and the centres
    coefficients: np.ndarray  # (Z, S)
    goal: np.ndarray  # (S,)
    eta: float
    pointers: np.ndarray  # codes of the centres, atom by atom (CSC)
    centres: np.ndarray
    values: np.ndarray
    nonnegative: bool
    sum_to_one: bool
    tol: float
    precision: float
    scale: float  # of the correlations


class Work(NamedTuple):
    """Memory of one thread. By position in the working set, except where it says by atom."""

    members: np.ndarray  # (N,) atom
    inside: np.ndarray  # (N,) by atom: whether it is in the working set
    low: np.ndarray  # (N, S) rows of B
    matrix: np.ndarray  # (N, N) Gram matrix with the term of low rank
    line: np.ndarray  # (N,) linear term
    l1: np.ndarray  # (N,)
    ridge: np.ndarray  # (N,)
    correlation: np.ndarray  # (N,) by atom
    strength: np.ndarray  # (N,) by atom: correlation in excess of what is allowed
    residual: np.ndarray  # (S,) what the scores miss
    carry: np.ndarray  # (Z,)


@allocating
def make_room(n_atoms, n_centres, n_scores):
    """Memory for problems of this size."""
    return Work(
        np.empty(n_atoms, np.int64),
        np.zeros(n_atoms, np.bool_),
        np.empty((n_atoms, n_scores)),
        np.empty((n_atoms, n_atoms)),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_atoms),
        np.empty(n_scores),
        np.empty(n_centres),
    )


@inner
def respond(task, work, position):
    """One row of B: what the scores gain by a unit of an atom."""
    atom, out = work.members[position], work.low[position]
    first, last = task.pointers[atom], task.pointers[atom + 1]
    for p in range(first, last):
        work.carry[p - first] = -task.similarity[task.centres[p]] * task.values[p]
    out[:] = 0.0
    subtract_rows(out, task.coefficients, task.centres[first:last], work.carry, last - first)


@summing
def gathered(values, index, weights):
    """Inner product of values with chosen weights."""
    total = 0.0
    for p in range(values.size):
        total += values[p] * weights[index[p]]
    return total


@inner
def pull_back(task, work, residual):
    """Add ``eta B r`` to the correlations: through the centres, then to the atoms they use."""
    carry = work.carry
    for z in range(carry.size):
        carry[z] = task.eta * task.similarity[z] * dot(task.coefficients[z], residual)
    for j in range(work.correlation.size):
        first, last = task.pointers[j], task.pointers[j + 1]
        work.correlation[j] += gathered(task.values[first:last], task.centres[first:last], carry)


@inner
def extend(task, work, known, size):
    """Gram matrix, linear term and penalties of the atoms that joined the working set."""
    matrix, members, low = work.matrix, work.members, work.low
    for a in range(known, size):
        respond(task, work, a)
        atom = members[a]
        for b in range(a + 1):
            matrix[a, b] = task.gram[atom, members[b]] + task.eta * dot(low[a], low[b])
            matrix[b, a] = matrix[a, b]
        work.line[a] = task.cross[atom] + task.eta * dot(low[a], task.goal)
        work.l1[a], work.ridge[a] = task.l1[atom], task.ridge[atom]


@inner
def excess(task, work):
    """By how much correlations outside the working set exceed what is allowed."""
    for j in range(work.strength.size):
        size = work.correlation[j] if task.nonnegative else abs(work.correlation[j])
        allowed = task.l1[j] + task.tol * (task.l1[j] if task.l1[j] > 0.0 else task.scale)
        work.strength[j] = -1.0 if work.inside[j] else size - allowed


@inner
def join(work, size):
    """The strongest violators enter the working set; returns its new size."""
    strength = work.strength
    limit = min(size + max(JOIN, size // 3), strength.size)
    threshold = 0.2 * raised(strength, 0.0)
    while size < limit:
        best, who = threshold, -1
        for j in range(strength.size):
            if strength[j] > best:
                best, who = strength[j], j
        if who < 0:
            break
        work.members[size] = who
        work.inside[who] = True
        strength[who] = -1.0
        size += 1
    return size


@inner
def first_members(task, work):
    """A working set to start from where none is given; returns its size."""
    copy(task.cross, work.correlation)
    pull_back(task, work, task.goal)
    excess(task, work)
    if task.sum_to_one:
        strength, lowest = work.strength, np.inf
        for j in range(strength.size):
            strength[j] = work.correlation[j] - 0.5 * task.gram[j, j]
            lowest = min(lowest, strength[j])
        for j in range(strength.size):
            strength[j] += 1.0 - lowest  # someone must enter
    return join(work, 0)


@allocating
def small_problem(task, work, size):
    """The problem on the working set, as the active-set method wants it."""
    shift = 0.0
    if task.sum_to_one:
        for a in range(size):
            shift += work.matrix[a, a] / size
    return Row(
        work.matrix, work.line[:size], work.l1[:size], work.ridge[:size], task.nonnegative,
        task.sum_to_one, shift, task.precision, task.scale, task.tol,
    )  # fmt: skip


@allocating
def correlate(task, work, chosen, weights):
    """Correlations of all atoms at a code of the working set."""
    correlation, count = work.correlation, chosen.size
    copy(task.goal, work.residual)
    copy(task.cross, correlation)
    subtract_rows(work.residual, work.low, chosen, weights, count)
    subtract_rows(correlation, task.gram, work.members[chosen], weights, count)
    pull_back(task, work, work.residual)
    if task.sum_to_one and count > 0:
        multiplier = 0.0
        for a in range(count):
            atom = work.members[chosen[a]]
            sign = 1.0 if weights[a] > 0.0 else -1.0
            slope = correlation[atom] - task.ridge[atom] * weights[a] - task.l1[atom] * sign
            multiplier += slope / count
        for j in range(correlation.size):
            correlation[j] -= multiplier


@allocating
def solve_task(task, work, factor, atoms, values, max_iter):
    """Solve one problem from the given atoms and values; positions are in the working set."""
    work.inside[:] = False
    size = int(atoms.size)
    for a in range(size):
        work.members[a] = atoms[a]
        work.inside[atoms[a]] = True
    chosen, weights = np.arange(size), values.copy()
    if size == 0:
        size = first_members(task, work)
    known, iterations, converged = 0, 0, size == 0
    for _ in range(ROUNDS if size > 0 else 0):
        extend(task, work, known, size)
        known = size
        scratch = allocate(size)
        row = small_problem(task, work, size)
        factor, count, steps, good = solve_row(row, scratch, factor, chosen, weights, max_iter)
        iterations += steps
        chosen, weights = np.empty(count, np.int64), np.empty(count)
        gather(scratch, count, chosen, weights)
        correlate(task, work, chosen, weights)
        excess(task, work)
        size = join(work, size)
        if size == known:
            converged = good
            break
    return factor, work.members[chosen], weights, iterations, converged


@compiled(error_model="numpy")
def solve_rows(
    gram, cross, l1, ridge, similarity, coefficients, goals, etas, pointers, centres, by_atom,
    starts, start_atoms, start_values, nonnegative, sum_to_one, tol, precision, max_iter,
):  # fmt: skip
    """Solve one problem a row of ``cross``.

    Parameters
    ----------
    gram, cross, l1, ridge, starts, start_atoms, start_values
        As in the active-set method.
    nonnegative, sum_to_one, tol, precision, max_iter
        As in the active-set method.
    similarity : array of shape (n, Z)
    coefficients : array of shape (Z, S)
    goals : array of shape (n, S)
    etas : array of shape (n,)
    pointers, centres, by_atom : codes of the centres by atoms (CSC)

    Returns
    -------
    starts, atoms, values, iterations, converged
        As in the active-set method.
    """
    n_rows, n_atoms = cross.shape
    work = make_room(n_atoms, similarity.shape[1], goals.shape[1])
    factor = np.empty((40, 40))
    indptr = np.zeros(n_rows + 1, np.int64)
    out_atoms, out_values = np.empty(n_atoms + 64, np.int64), np.empty(n_atoms + 64)
    iterations, converged = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.bool_)
    for i in range(n_rows):
        scale = prepare(cross[i], 0.0, work.correlation, work.strength)
        task = Task(
            gram, cross[i], l1[i % l1.shape[0]], ridge[i % ridge.shape[0]], similarity[i],
            coefficients, goals[i], etas[i], pointers, centres, by_atom, nonnegative, sum_to_one,
            tol, precision, scale,
        )  # fmt: skip
        given = slice(starts[i], starts[i + 1])
        factor, atoms, values, iterations[i], converged[i] = solve_task(
            task, work, factor, start_atoms[given], start_values[given], max_iter
        )
        first, last = indptr[i], indptr[i] + atoms.size
        indptr[i + 1] = last
        if last > out_atoms.size:
            out_atoms = np.concatenate((out_atoms, np.empty(last, np.int64)))
            out_values = np.concatenate((out_values, np.empty(last)))
        out_atoms[first:last] = atoms
        out_values[first:last] = values
    return indptr, out_atoms[: indptr[-1]], out_values[: indptr[-1]], iterations, converged
