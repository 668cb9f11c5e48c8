"""One small definite system per row: the rows and columns of a Gram matrix that a code uses."""

from __future__ import annotations

import numpy as np

from .factor import cholesky, solve_factored
from .jit import compiled


@compiled
def solve_on_supports(gram, ridge, starts, atoms, sum_to_zero, solved, done):
    """Solve ``(K_SS + diag(ridge)) b = g`` for every row and its support S.

    Parameters
    ----------
    gram : array of shape (N, N)
        K, of which the triangle below the diagonal is read.
    ridge : array of shape (p,)
        One number for each nonzero of all rows.
    starts, atoms : arrays of shape (n + 1,) and (p,)
        Where rows begin, and their atoms: ``indptr`` and ``indices`` of a CSR array.
    sum_to_zero : bool
        Whether a multiple of one is taken off g, such that b sums to zero.
    solved : array of shape (p,)
        g, overwritten by b.
    done : array of bool of shape (n,)
        Becomes False where a system is not definite beyond rounding; its g stays.
    """
    largest = 0
    for i in range(done.size):
        largest = max(largest, starts[i + 1] - starts[i])
    system, ones = np.empty((largest, largest)), np.empty(largest)
    for i in range(done.size):
        row = slice(starts[i], starts[i + 1])
        support, own, values = atoms[row], ridge[row], solved[row]
        size, top = support.size, 0.0
        for a in range(size):
            similar = gram[support[a]]
            for b in range(a + 1):
                system[a, b] = similar[support[b]]
            system[a, a] += own[a]
            top = max(top, system[a, a])
        done[i] = cholesky(system, size, 1e-14 * size * top)
        if not done[i]:
            continue
        solve_factored(system, size, values)
        if sum_to_zero:
            ones[:size] = 1.0
            solve_factored(system, size, ones)
            values -= values.sum() / ones[:size].sum() * ones[:size]
