"""Codes that are all zero: how many of how many, why, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..formulations import Formulation
from ..problem import CodingProblem

# Share of codes above which zeros are no matter of single samples, but of alpha or the kernel.
MANY = 0.5
NOTHING_IN_COMMON = (
    "no sample has anything in common with any atom (are the samples zero or far from the atoms, "
    "or the kernel far too narrow?)."
)

# Similarities below this share of k(x, x) are a matter of the kernel, not of alpha.
UNLIKE = 1e-3

# What a code is, and some samples: a formulation may differ from block to block.
Part: TypeAlias = tuple[Formulation, CodingProblem]


def why_zero(parts: Iterable[Part]) -> str:
    """A sentence that says why the codes of problems, all zero and converged, are zero.

    Parameters
    ----------
    parts : iterable of pairs of Formulation and CodingProblem
        Of the samples whose codes are zero; a formulation knows the largest useful alpha, or not.
    """
    largest, known, alpha, closest, own = 0.0, True, np.nan, 0.0, 0.0
    for formulation, problem in parts:
        closest = max(closest, float(np.abs(problem.cross).max(initial=0.0)))
        own = max(own, float(problem.self_similarity.max(initial=0.0)))
        critical = formulation.critical_alpha(problem)
        known = known and critical is not None
        largest = max(largest, 0.0 if critical is None else float(critical.max(initial=0.0)))
        alpha = float(getattr(formulation, "alpha", np.nan))
    if closest == 0.0 or (known and largest == 0.0):
        return NOTHING_IN_COMMON
    if not known or not np.isfinite([largest, alpha]).all():
        return "use a smaller alpha or a wider kernel."
    if alpha < largest:
        return (
            f"alpha={alpha:g} is not too large (the largest that uses any atom at all is "
            f"{largest:.3g}), but zero was within the tolerance or the iteration limit; use a "
            "smaller tol or a larger max_iter."
        )
    if closest < UNLIKE * own:
        return (
            f"no sample is similar to any atom: similarities are at most {closest:.2g}, where "
            f'k(x, x) is {own:.2g}. Use a wider kernel, such as gamma="median", or bring features '
            "to one scale (StandardScaler), before a smaller alpha."
        )
    return (
        f"alpha={alpha:g} is too large for these samples. The largest alpha that uses any atom at "
        f"all is {largest:.3g}; useful values are a tenth of that and below."
    )


def warn_zero_codes(
    parts: Callable[[], Iterable[Part]],
    counts: tuple[int, int],
    where: str = "",
    stacklevel: int = 3,
) -> None:
    """Say once that more than half of the codes are zero; samples that are zero do not count.

    Parameters
    ----------
    parts : callable
        Gives the coding problems of the samples whose codes are zero, block by block: the
        similarities of all of them need not fit in memory.
    counts : pair of int
        How many codes of how many are zero.
    where : str, default=""
        Which codes these are.
    stacklevel : int, default=3
        Of the warning: 3 is whoever calls the caller of this function.
    """
    if counts[0] <= MANY * counts[1]:
        return
    # The code of zero is zero, and nothing is wrong with that.
    absent = sum(int(np.count_nonzero(part.self_similarity <= 0)) for _, part in parts())
    n_zero, n_codes = counts[0] - absent, counts[1] - absent
    if n_zero <= MANY * n_codes:
        return
    if n_zero == n_codes:
        message = f"All codes{where} are zero: {why_zero(parts())} ({n_zero} of {n_codes} codes.)"
    else:
        message = f"{n_zero} of {n_codes} codes{where} are all zero: {why_zero(parts())}"
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


def silenced(parts: Iterable[Part]) -> Iterator[Part]:
    """The samples of coding problems whose codes are zero, where that can be told from alpha."""
    for formulation, problem in parts:
        alpha = float(getattr(formulation, "alpha", np.nan))
        critical = formulation.critical_alpha(problem)
        if critical is None or not np.isfinite(alpha):
            yield formulation, problem
        elif (critical <= alpha).any():
            yield formulation, problem.take(np.flatnonzero(critical <= alpha))
