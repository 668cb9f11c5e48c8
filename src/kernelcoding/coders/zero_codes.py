"""Codes that are all zero: why, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import chain

import numpy as np

from ..formulations import Formulation
from ..problem import CodingProblem

NOTHING_IN_COMMON = (
    "no sample has anything in common with any atom (are the samples zero or far from the atoms, "
    "or the kernel far too narrow?)."
)


def why_zero(formulation: Formulation, problems: Iterable[CodingProblem]) -> str:
    """A sentence that says why the codes of problems, all zero and converged, are zero.

    Parameters
    ----------
    formulation : Formulation
        What a code is; it knows the largest useful alpha, or does not.
    problems : iterable of CodingProblem
        Of the samples whose codes are zero.
    """
    largest, known, alike = 0.0, True, False
    for problem in problems:
        alike = alike or bool(problem.cross.any())
        critical = formulation.critical_alpha(problem)
        known = known and critical is not None
        largest = max(largest, 0.0 if critical is None else float(critical.max(initial=0.0)))
    alpha = float(getattr(formulation, "alpha", np.nan))
    if not alike or (known and largest == 0.0):
        return NOTHING_IN_COMMON
    if not known or not np.isfinite([largest, alpha]).all():
        return "use a smaller alpha or a wider kernel."
    if alpha < largest:
        return (
            f"alpha={alpha:g} is not too large (the largest that uses any atom at all is "
            f"{largest:.3g}), but zero was within the tolerance or the iteration limit; use a "
            "smaller tol or a larger max_iter."
        )
    return (
        f"alpha={alpha:g} is too large for these samples. The largest alpha that uses any atom at "
        f"all is {largest:.3g}; useful values are a tenth of that and below."
    )


def warn_all_zero(
    formulation: Formulation, problems: Iterable[CodingProblem], stacklevel: int
) -> None:
    """Say once that no sample has a code, unless the samples are zero themselves."""
    # One at a time: the similarities of all samples need not fit in memory.
    kept = (problem for problem in problems if (problem.self_similarity > 0).any())
    first = next(kept, None)
    if first is None:  # the code of zero is zero
        return
    why = why_zero(formulation, chain([first], kept))
    warnings.warn(f"All codes are zero: {why}", UserWarning, stacklevel=stacklevel)
