"""One result, as plain numbers and words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """What one method did on one split of one data set."""

    experiment: str
    method: str
    kernel: str
    accuracy: float
    nonzero: float  # mean number of atoms a code uses
    error: float  # mean squared reconstruction error over mean k(x, x)
    gap: float  # largest certificate
    seconds: float  # fitting and coding
