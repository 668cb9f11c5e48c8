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
    Known("problems", " NoPrior AtMost$", "^certificate", "AtMost: certificates are no bounds"),
    Known(
        "problems",
        " (SumToOne|Simplex)$",
        "not feasible",
        "codes do not sum to one to the last bits: weights or similarities large against the Gram",
    ),
    Known("problems", " Locality ", "^converged", "Locality at large sigma is not optimal"),
    Known(
        "problems",
        "^single_precision Locality ",
        "^ValueError .* must not contain infs or NaNs",
        "Locality at large sigma in float32 overflows",
    ),
    Known(
        "problems", "^mixed_norms ", "^(converged|certificate)", "norms of atoms over many decades"
    ),
    Known(
        "problems",
        " NoPrior (Free|SumToOne)$",
        "^converged",
        "least squares: the cut-off of eigenvalues drops directions that matter",
    ),
    Known(
        "problems",
        " (LocalCoordinate|WeightedL1) (Free|NonNegative)$",
        "^converged",
        "norms of atoms over many decades: an atom without weight is tested by the largest one",
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
