"""Failures that are known and being mended; the list is empty when all is well."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A failure that is counted but does not fail a run."""

    campaign: str
    family: str  # a regular expression for the label of the case
    message: str  # a regular expression for what is said
    reason: str


KNOWN: tuple[Known, ...] = (
    Known(
        "problems",
        "^mixed_norms ",
        "^converged",
        "norms of atoms over nine decades: not optimal, and the certificate says so",
    ),
    Known(
        "problems",
        "^(gaussian|near_duplicate) NoPrior (Free|SumToOne)$",
        "^converged",
        "least squares of nearly equal atoms: a cut-off of eigenvalues; the certificate says so",
    ),
    Known(
        "command-line",
        " np[yz]$",
        "^SystemError .*PyUnicode_New",
        "words of an NPY file that are no characters",
    ),
    Known(
        "estimators",
        "(huge|infinite)",
        "not finite",
        "queries whose k(x, x) overflows are not refused, their errors are not numbers",
    ),
)
