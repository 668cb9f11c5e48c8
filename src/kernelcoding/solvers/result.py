"""What a solver is asked and what it returns: one record each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..codes import Codes, zero_rows


@dataclass(frozen=True, slots=True)
class Options:
    """How a solver is to work; what it is to solve is in penalty and constraint."""

    tol: float = 1e-6
    max_iter: int = 10_000
    n_jobs: int | None = None
    sparse_output: bool = False
    start: Codes | None = None  # codes to start from: they change the time, not the answer
    # (n, N) memory that dense codes may be written to: new memory costs more than formulas do.
    room: NDArray | None = None


class Status(Enum):
    """How the coding of one batch ended; the value is the sentence shown to the user."""

    CONVERGED = "every code reached the tolerance"
    MAX_ITER = (
        "the iteration limit was reached before the tolerance; "
        "increase max_iter, alpha or tol, or use a better conditioned kernel"
    )
    SINGULAR = (
        "the atoms depend on each other up to rounding, and what only rounding tells apart was "
        "left out; use a prior such as Ridge(), fewer atoms or a better conditioned kernel"
    )


@dataclass(frozen=True, slots=True)
class Convergence:
    """How many of how many rows stopped by their tolerance."""

    n_converged: int = 0
    n_rows: int = 0
    why_not: Status = Status.MAX_ITER  # what kept the other rows from it
    n_zero: int = 0  # rows whose codes are all zero

    def __add__(self, other: Convergence) -> Convergence:
        n_converged, n_rows = self.n_converged + other.n_converged, self.n_rows + other.n_rows
        why_not = self.why_not if self.n_unfinished else other.why_not
        return Convergence(n_converged, n_rows, why_not, self.n_zero + other.n_zero)

    @property
    def n_unfinished(self) -> int:
        """Rows that did not stop by their tolerance."""
        return self.n_rows - self.n_converged

    @property
    def status(self) -> Status:
        """The worst of all rows."""
        return self.why_not if self.n_unfinished else Status.CONVERGED

    def warn(self, where: str = "", stacklevel: int = 3) -> None:
        """Tell the user once, where a row did not converge; ``where`` says which codes."""
        if self.status is Status.CONVERGED:
            return
        warnings.warn(
            f"{self.n_unfinished} of {self.n_rows} codes{where} did not converge: "
            f"{self.status.value}.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


@dataclass(frozen=True, slots=True)
class CodingResult:
    """Codes and how each of them ended; whether they are optimal, the judge is asked."""

    codes: Codes  # (n, N)
    converged: NDArray  # (n,)  did the row stop by tolerance?
    n_iter: NDArray  # (n,)  iterations spent on the row
    why_not: Status = Status.MAX_ITER  # what kept the others from converging
    scores: NDArray | None = None  # (n, S) of the codes, where they were to be on target

    @classmethod
    def closed_form(cls, codes: Codes) -> CodingResult:
        """Codes from a formula: there is nothing to converge."""
        ones = np.ones(codes.shape[0], dtype=int)
        return cls(codes, ones == 1, ones)

    @property
    def convergence(self) -> Convergence:
        """How many rows converged, and how many codes are all zero."""
        n_converged = int(np.count_nonzero(self.converged))
        n_zero = int(np.count_nonzero(zero_rows(self.codes)))
        return Convergence(n_converged, len(self.converged), self.why_not, n_zero)

    @property
    def status(self) -> Status:
        """The worst of all rows."""
        return self.convergence.status
