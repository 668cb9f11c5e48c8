"""Other samples with the same labels: what epochs may see in the place of training samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...sparse_vectors import SparseVectors
from ...stacks import Stack

Augment = Callable[[Stack, np.random.RandomState], Stack]


class Augmentation:
    """A user's function of batches, and the samples it is given.

    Parameters
    ----------
    function : callable
        Of a batch of samples (sparse ones as a CSR array) and a random state; returns as many
        samples like them.
    X : array or other stack
        Training samples.
    rng : RandomState
    """

    def __init__(self, function: Augment, X: Stack, rng: np.random.RandomState):
        self.function, self.X, self.rng = function, X, rng

    def __call__(self, rows: NDArray) -> Stack:
        """What the function makes of some samples; ValueError where it is something else."""
        given = self.X[rows]  # a copy, which the function may change
        if isinstance(given, SparseVectors):
            given = given.tocsr()
        expected = getattr(given, "shape", (len(rows),))
        numbers = isinstance(given, np.ndarray) and given.dtype != object
        found = self.function(given, self.rng)
        if numbers:
            found = np.asarray(found, dtype=self.X.dtype)
        if sparse.issparse(given):
            found = SparseVectors(found).astype(self.X.dtype, copy=False)
        shape = getattr(found, "shape", (len(found),))
        if shape != expected:
            raise ValueError(
                "augment must return as many samples as it is given, in their order and of their "
                f"shape: expected {expected}, got {shape}."
            )
        values = found.matrix.data if isinstance(found, SparseVectors) else found
        known = isinstance(values, np.ndarray) and values.dtype.kind == "f"
        if known and not np.isfinite(values).all():
            raise ValueError(
                "augment must return finite numbers, got NaN or infinity. Fill what it leaves "
                "empty, for example with zeros."
            )
        return found
