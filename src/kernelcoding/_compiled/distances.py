"""Squared distances from inner products, in one pass."""

from __future__ import annotations

from .jit import compiled, part


@part(fastmath={"reassoc", "contract"})
def direct_distance(left, right):
    """Sum of squared differences in double precision; the same in either order."""
    total = 0.0
    for k in range(left.size):
        difference = float(left[k]) - float(right[k])
        total += difference * difference
    return total


@compiled
def finish_distances(products, left_norms, right_norms, left, right, near, alone):
    """Replace inner products by squared distances, none negative.

    Parameters
    ----------
    products : array of shape (n, m)
        Changed in place to ``left_norms[i] + right_norms[j] - 2 products[i, j]``.
    left_norms, right_norms : arrays of shape (n,) and (m,)
        Squared norms, about the origin that the products have.
    left, right : arrays of shape (n, d) and (m, d)
        The points, about any one origin.
    near : float
        A distance that is not above this share of its two norms has lost its digits to
        cancellation (or is NaN): it is computed anew from differences.
    alone : bool
        Whether left and right are one stack, whose diagonal is zero.
    """
    for i in range(products.shape[0]):
        row, own = products[i], left_norms[i]
        cancelled = 0
        for j in range(row.size):
            # Norms are added to each other first: a + b equals b + a, so symmetric products give
            # exactly symmetric distances.
            norms = own + right_norms[j]
            distance = norms - 2 * row[j]
            row[j] = distance
            cancelled += not distance > near * norms
        if cancelled > alone:  # rare, and a loop with calls would not be vectorised
            for j in range(row.size):
                if not row[j] > near * (own + right_norms[j]):
                    row[j] = direct_distance(left[i], right[j])
        if alone:
            row[i] = 0
