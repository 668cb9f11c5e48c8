"""Squared distances from inner products, in one pass."""

from __future__ import annotations

from .jit import compiled


@compiled(error_model="numpy")
def finish_distances(products, left, right):
    """Replace ``products[i, j]`` by ``left[i] + right[j] - 2 products[i, j]``, never negative.

    Norms are added to each other first: a + b equals b + a, so symmetric products give exactly
    symmetric distances.
    """
    for i in range(products.shape[0]):
        row, own = products[i], left[i]
        for j in range(row.size):
            distance = (own + right[j]) - 2 * row[j]
            row[j] = 0 if distance < 0 else distance  # a NaN stays one
