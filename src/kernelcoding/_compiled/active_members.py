"""Who is active: the records of the active-set method, and how atoms enter and leave."""

from typing import NamedTuple

import numpy as np

from .cholesky import LOOK, allocating, append, copy, delete, dot, forward, inner
from .factor import cholesky

BLOCK = 16  # columns solved together: more no longer makes the triangular solve faster
INACTIVE, ACTIVE, BARRED = 0, 1, 2


class RowProblem(NamedTuple):
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
    # The smallest l1. Codes that sum to one pay it once whatever they are: left in, a weight large
    # against H would drown H when the multiplier is subtracted again.
    common: float


class Scratch(NamedTuple):
    """Memory of one thread. By position in the active set, except where it says by atom."""

    members: np.ndarray  # (N,) atom
    value: np.ndarray  # (N,) coefficient
    sign: np.ndarray  # (N,) -1 or 1; 0 for an atom free to change sign
    target: np.ndarray  # (N,) minimiser on the active set
    solved: np.ndarray  # (N,) solution of U' x = k - l sign
    ones: np.ndarray  # (N,) solution of U' x = 1
    carry: np.ndarray  # (N,)
    correlation: np.ndarray  # (N,) by atom: k - H y, minus multiplier and common weight
    state: np.ndarray  # (N,) by atom: INACTIVE, ACTIVE or BARRED
    bound: np.ndarray  # (N,) by atom: correlation that is tolerated; infinite unless INACTIVE
    strength: np.ndarray  # (N,) by atom: correlation in excess of the bound
    peaks: np.ndarray  # (LOOK,) the largest of every so many strengths
    entering: np.ndarray  # (N,) atoms about to enter
    entering_value: np.ndarray  # (N,)
    columns: np.ndarray  # (BLOCK, N) right-hand sides of atoms about to enter


@allocating
def allocate(n_atoms):
    """Scratch memory for problems with ``n_atoms`` atoms.

    In three pieces: for each kind of array that is asked for, Numba compiles a function.
    """
    room = max(n_atoms, LOOK)
    places, numbers = np.empty((3, room), np.int64), np.empty((11, room))
    return Scratch(
        places[0, :n_atoms],
        numbers[0, :n_atoms],
        numbers[1, :n_atoms],
        numbers[2, :n_atoms],
        numbers[3, :n_atoms],
        numbers[4, :n_atoms],
        numbers[5, :n_atoms],
        numbers[6, :n_atoms],
        places[1, :n_atoms],
        numbers[7, :n_atoms],
        numbers[8, :n_atoms],
        numbers[9, :LOOK],
        places[2],
        numbers[10],
        np.empty((BLOCK, n_atoms)),
    )


@inner
def allowance(row, atom):
    """Violation accepted at one atom; a weight beyond all correlations says nothing of theirs."""
    return row.tol * (min(row.l1[atom], row.scale) if row.l1[atom] > 0.0 else row.scale)


@inner
def l1_slope(row, atom, sign):
    """Derivative of the l1 term at a coefficient of this sign, without the common weight."""
    if sign > 0.0:
        return row.l1[atom] - row.common
    return row.l1[atom] * sign - row.common


@inner
def tolerated(row, atom):
    """Correlation accepted at an inactive atom."""
    return row.l1[atom] + allowance(row, atom)


@inner
def reset(row, scratch):
    """Forget the active set."""
    scratch.state[:] = INACTIVE
    bound, l1, unweighted = scratch.bound, row.l1, row.tol * row.scale
    for j in range(bound.size):
        bound[j] = l1[j] + (row.tol * l1[j] if l1[j] > 0.0 else unweighted)


@inner
def diagonal(row, atom):
    """Entry of H, shifted, on the diagonal."""
    return row.gram[atom, atom] + row.ridge[atom] + row.shift


@inner
def entry_sign(row, atom, direction):
    """The sign an atom enters with; 0 if nothing happens when it changes sign."""
    if row.nonnegative:
        return 1.0
    if row.l1[atom] == 0.0:
        return 0.0
    return 1.0 if direction > 0.0 else -1.0


@inner
def enter(row, scratch, factor, size, atom, value, direction, column):
    """Append one atom whose forward-solved column is given; False if it depends on the others."""
    height = diagonal(row, atom)
    pivot = height - dot(column[:size], column[:size])
    if not pivot > row.precision * height:
        return False
    append(factor, size, column, pivot)
    sign = entry_sign(row, atom, direction)
    linear = row.cross[atom] - l1_slope(row, atom, sign)
    root = factor[size, size]
    scratch.solved[size] = (linear - dot(column[:size], scratch.solved[:size])) / root
    scratch.ones[size] = (1.0 - dot(column[:size], scratch.ones[:size])) / root
    scratch.members[size] = atom
    scratch.value[size] = value
    scratch.sign[size] = sign
    scratch.state[atom] = ACTIVE
    scratch.bound[atom] = np.inf
    return True


@inner
def solve_columns(row, scratch, factor, size, first, count):
    """Forward-solved columns of the entering atoms ``first .. first + count``."""
    columns, index = scratch.columns, scratch.members
    for r in range(count):
        line = row.gram[scratch.entering[first + r]]
        for i in range(size):
            columns[r, i] = line[index[i]] + row.shift
    forward(factor, size, columns, count)


@inner
def admit_block(row, scratch, factor, size, first, count):
    """Append the entering atoms ``first .. first + count`` as far as they are independent."""
    columns, index = scratch.columns, scratch.members
    solve_columns(row, scratch, factor, size, first, count)
    before = size
    for r in range(count):
        atom = scratch.entering[first + r]
        column = columns[r]
        for i in range(before, size):
            by = 1.0 / factor[i, i]  # it waits for nothing
            rest = row.gram[atom, index[i]] + row.shift - dot(columns[i - before, :i], column[:i])
            column[i] = rest * by
        value = scratch.entering_value[first + r]
        direction = value if value != 0.0 else scratch.correlation[atom] + row.common
        if enter(row, scratch, factor, size, atom, value, direction, column):
            if size - before != r:
                copy(column[:size], columns[size - before])
            size += 1
    return size


@inner
def admit(row, scratch, factor, size, count):
    """Append all entering atoms that are independent; the factor must have room."""
    for first in range(0, count, BLOCK):
        size = admit_block(row, scratch, factor, size, first, min(BLOCK, count - first))
    return size


@inner
def found(row, scratch, factor, count):
    """Make the entering atoms the active set, factorised at once; 0 if they are dependent."""
    entering, columns = scratch.entering, scratch.columns
    lowest = np.inf
    for i in range(count):
        line, out = row.gram[entering[i]], factor[i]
        for j in range(i):
            out[j] = line[entering[j]] + row.shift
        out[i] = diagonal(row, entering[i])
        lowest = min(lowest, out[i])
    if not cholesky(factor, count, row.precision * max(lowest, 0.0)):
        return np.int64(0)
    for i in range(count):
        atom, value = entering[i], scratch.entering_value[i]
        sign = entry_sign(row, atom, value)
        columns[0, i], columns[1, i] = row.cross[atom] - l1_slope(row, atom, sign), 1.0
        scratch.members[i], scratch.value[i], scratch.sign[i] = atom, value, sign
        scratch.state[atom], scratch.bound[atom] = ACTIVE, np.inf
    forward(factor, count, columns, np.int64(2))  # a literal would be another type
    copy(columns[0, :count], scratch.solved)
    copy(columns[1, :count], scratch.ones)
    return count


@inner
def drop(row, scratch, factor, size, position):
    """Remove one active atom."""
    atom = scratch.members[position]
    scratch.state[atom] = INACTIVE
    scratch.bound[atom] = tolerated(row, atom)
    delete(factor, size, position, scratch.carry, scratch.solved, scratch.ones)
    for i in range(position, size - 1):
        scratch.members[i] = scratch.members[i + 1]
        scratch.value[i] = scratch.value[i + 1]
        scratch.sign[i] = scratch.sign[i + 1]
    return size - 1
