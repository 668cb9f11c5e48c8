r"""Weighted lasso whose Gram matrix is shared but for a term of low rank, different in each row.

.. math:: \min_y \tfrac12 y^\top K y - k^\top y + \sum_j l_j|y_j| + \tfrac\eta2\|g - B^\top y\|^2,
          \qquad B = \sum_z k_z\, y_z c_z^\top

B (atoms x classes) is never formed: its rows are computed for the atoms in a working set, and its
product with a residual goes through the centres z. The small problem on the working set is solved
by the active-set method; the strongest violators among all atoms join, until there are none.
"""

import numpy as np

from .active_members import Row, allocate
from .active_set import gather, prepare, solve_row
from .cholesky import copy, dot, inner, raised, subtract_rows, summing
from .jit import compiled

ROUNDS = 50
JOIN = 12  # violators that may join at once, at least


@inner
def respond(atom, similarity, coefficients, pointers, centres, values, weights, out):
    """One row of B: what the scores gain by a unit of an atom."""
    first, last = pointers[atom], pointers[atom + 1]
    for p in range(first, last):
        weights[p - first] = -similarity[centres[p]] * values[p]
    out[:] = 0.0
    subtract_rows(out, coefficients, centres[first:last], weights, last - first)


@summing
def gathered(values, index, weights):
    """Inner product of values with chosen weights."""
    total = 0.0
    for p in range(values.size):
        total += values[p] * weights[index[p]]
    return total


@inner
def pull_back(similarity, coefficients, residual, pointers, centres, values, scale, carry, out):
    """Add ``scale B r`` to ``out``: through the centres, then to the atoms whose codes they are."""
    for z in range(similarity.size):
        carry[z] = scale * similarity[z] * dot(coefficients[z], residual)
    for j in range(out.size):
        first, last = pointers[j], pointers[j + 1]
        out[j] += gathered(values[first:last], centres[first:last], carry)


@inner
def extend(gram, cross, l1, ridge, low, goal, eta, members, known, size, matrix, line, weights,
           ridges):  # fmt: skip
    """Gram matrix, linear term and penalties of the atoms that joined the working set."""
    for a in range(known, size):
        atom = members[a]
        for b in range(a + 1):
            matrix[a, b] = gram[atom, members[b]] + eta * dot(low[a], low[b])
            matrix[b, a] = matrix[a, b]
        line[a] = cross[atom] + eta * dot(low[a], goal)
        weights[a], ridges[a] = l1[atom], ridge[atom]


@inner
def excess(correlation, l1, tol, scale, nonnegative, inside, out):
    """By how much correlations outside the working set exceed what is allowed."""
    for j in range(out.size):
        size = correlation[j] if nonnegative else abs(correlation[j])
        allowed = l1[j] + tol * (l1[j] if l1[j] > 0.0 else scale)
        out[j] = -1.0 if inside[j] else size - allowed


@inner
def join(strength, members, inside, size):
    """The strongest violators enter the working set; returns its new size."""
    limit = min(size + max(JOIN, size // 3), strength.size)
    threshold = 0.2 * raised(strength, 0.0)
    while size < limit:
        best, who = threshold, -1
        for j in range(strength.size):
            if strength[j] > best:
                best, who = strength[j], j
        if who < 0:
            break
        members[size] = who
        inside[who] = True
        strength[who] = -1.0
        size += 1
    return size


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
    low, correlation = np.empty((n_atoms, goals.shape[1])), np.empty(n_atoms)
    members, inside = np.empty(n_atoms, np.int64), np.zeros(n_atoms, np.bool_)
    strength, residual, full = np.empty(n_atoms), np.empty(goals.shape[1]), np.empty(n_atoms)
    carry = np.empty(similarity.shape[1])
    matrix, line = np.empty((n_atoms, n_atoms)), np.empty(n_atoms)
    small_l1, small_ridge = np.empty(n_atoms), np.empty(n_atoms)
    factor = np.empty((40, 40))
    indptr = np.zeros(n_rows + 1, np.int64)
    out_atoms, out_values = np.empty(n_atoms + 64, np.int64), np.empty(n_atoms + 64)
    iterations, converged = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.bool_)
    for i in range(n_rows):
        lines = l1[i % l1.shape[0]]
        ridges = ridge[i % ridge.shape[0]]
        eta = etas[i]
        scale = prepare(cross[i], 0.0, correlation, strength)
        inside[:] = False
        size = 0
        first, last = starts[i], starts[i + 1]
        for p in range(first, last):
            members[size] = start_atoms[p]
            inside[start_atoms[p]] = True
            size += 1
        positions = np.arange(size)
        values = start_values[first:last].copy()
        if size == 0:
            copy(cross[i], full)
            pull_back(
                similarity[i], coefficients, goals[i], pointers, centres, by_atom, eta, carry, full
            )
            excess(full, lines, tol, scale, nonnegative, inside, strength)
            if sum_to_one:
                lowest = np.inf
                for j in range(n_atoms):
                    strength[j] = full[j] - 0.5 * gram[j, j]
                    lowest = min(lowest, strength[j])
                for j in range(n_atoms):
                    strength[j] += 1.0 - lowest  # someone must enter
            size = join(strength, members, inside, 0)
            positions, values = np.empty(0, np.int64), np.empty(0)
        known, count, done = 0, 0, size == 0
        converged[i] = done
        chosen, weights = np.empty(0, np.int64), np.empty(0)
        for _ in range(ROUNDS):
            if done:
                break
            for a in range(known, size):
                respond(
                    members[a], similarity[i], coefficients, pointers, centres, by_atom, carry,
                    low[a],
                )  # fmt: skip
            extend(
                gram, cross[i], lines, ridges, low, goals[i], eta, members, known, size, matrix,
                line, small_l1, small_ridge,
            )  # fmt: skip
            known = size
            shift = 0.0
            if sum_to_one:
                for a in range(size):
                    shift += matrix[a, a] / size
            row = Row(
                matrix, line[:size], small_l1[:size], small_ridge[:size], nonnegative, sum_to_one,
                shift, precision, scale, tol,
            )  # fmt: skip
            scratch = allocate(size)
            factor, count, steps, good = solve_row(
                row, scratch, factor, positions, values, max_iter
            )
            iterations[i] += steps
            chosen, weights = np.empty(count, np.int64), np.empty(count)
            gather(scratch, count, chosen, weights)
            # Optimality among all atoms.
            copy(goals[i], residual)
            copy(cross[i], correlation)
            subtract_rows(residual, low, chosen, weights, count)
            subtract_rows(correlation, gram, members[chosen], weights, count)
            pull_back(
                similarity[i], coefficients, residual, pointers, centres, by_atom, eta, carry,
                correlation,
            )  # fmt: skip
            if sum_to_one and count > 0:
                multiplier = 0.0
                for a in range(count):
                    atom = members[chosen[a]]
                    sign = 1.0 if weights[a] > 0.0 else -1.0
                    slope = correlation[atom] - ridges[atom] * weights[a] - lines[atom] * sign
                    multiplier += slope / count
                correlation -= multiplier
            excess(correlation, lines, tol, scale, nonnegative, inside, strength)
            before = size
            size = join(strength, members, inside, size)
            if size == before:
                converged[i] = good
                break
            positions, values = chosen, weights
        end = indptr[i] + count
        indptr[i + 1] = end
        if end > out_atoms.size:
            out_atoms = np.concatenate((out_atoms, np.empty(end, np.int64)))
            out_values = np.concatenate((out_values, np.empty(end)))
        for a in range(count):
            out_atoms[indptr[i] + a] = members[chosen[a]]
            out_values[indptr[i] + a] = weights[a]
    return indptr, out_atoms[: indptr[-1]], out_values[: indptr[-1]], iterations, converged
