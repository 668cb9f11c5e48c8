"""What a solver returns: one record; the status value is the sentence shown to the user."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ..problem import Codes


class Status(Enum):
    """How the coding of one batch ended."""

    CONVERGED = "every code reached the tolerance"
    MAX_ITER = (
        "the iteration limit was reached before the tolerance; "
        "increase max_iter, alpha or tol, or use a better conditioned kernel"
    )


@dataclass(frozen=True, slots=True)
class CodingResult:
    """Codes and what is known about them, one entry a sample."""

    codes: Codes  # (n, N)
    gap: NDArray | None  # (n,)  certificate at these codes, from the judge; None if not asked
    converged: NDArray  # (n,)  did the row stop by tolerance?
    n_iter: NDArray  # (n,)  iterations spent on the row

    @property
    def status(self) -> Status:
        """The worst of all rows."""
        return Status.CONVERGED if np.all(self.converged) else Status.MAX_ITER
