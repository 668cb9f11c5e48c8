"""What an answer must be: finite, feasible, optimal or not called so, and certified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base import Failure
from . import exact
from .convex import codes_by_clarabel
from .families import Arrays
from .reference import LARGEST_ENUMERATED, Sets, candidates, excess, size_of, supports
from .terms import Long, Terms, norm

ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Answer:
    """What the library said about a problem."""

    codes: NDArray  # (n, N)
    converged: NDArray  # (n,)
    certificates: NDArray  # (n,)
    tol: float
    rounded: bool  # whether the stored matrix is a rounded one
    is_bound: bool  # whether certificates are bounds: not for priors of one's own


def judge(arrays: Arrays, terms: Terms, sets: Sets, answer: Answer) -> None:
    """Raise a failure for the first row that is wrong without a word."""
    codes = answer.codes
    _require(np.isfinite(codes).all(axis=1), "a code is not finite")
    _require(~np.isnan(answer.certificates), "a certificate is not a number")
    _require(_feasible(codes, sets) | ~answer.converged, "a converged code is not feasible")
    others = better_codes(arrays, terms, sets)
    gaps = excess(arrays, terms, codes, others)
    error = terms.relative * _penalties(terms, codes, others)
    own_size, sizes = size_of(arrays, codes), size_of(arrays, others)
    n_atoms = len(arrays.gram)
    if answer.is_bound:
        allowed = answer.certificates * (1 + 1e-9) + ROUNDING * n_atoms * own_size**2
        allowed = allowed[:, None] + error
        if answer.rounded:
            allowed = allowed + ROUNDING * n_atoms * sizes**2
        said = "certificate {:.3g} below the true gap {:.3g}"
        _compare(arrays, terms, sets, codes, others, gaps, allowed, answer.certificates, said)
    if sets.n_nonzero is not None:
        others = _same_support(arrays, terms, codes)
        gaps, error = excess(arrays, terms, codes, others), 0.0
        sizes = size_of(arrays, others)
    precision = np.finfo(codes.dtype).eps / np.finfo(np.float64).eps * ROUNDING
    terms_size = own_size[:, None] ** 2 + sizes**2 + _penalties(terms, codes, others)
    allowed = error + precision * n_atoms * terms_size
    allowed = allowed + _tolerated(arrays, terms, sets, answer, others)
    allowed = np.where(answer.converged[:, None], allowed, np.inf)
    said = "converged, certificate {:.3g}, but {:.3g} above the optimum"
    _compare(arrays, terms, sets, codes, others, gaps, allowed, answer.certificates, said)


def better_codes(arrays: Arrays, terms: Terms, sets: Sets) -> NDArray:
    """Feasible codes to compare with, (n, C, N)."""
    small = len(arrays.gram) <= LARGEST_ENUMERATED
    if sets.one_atom or (small and not terms.has_groups):
        return candidates(arrays, terms, sets)
    return codes_by_clarabel(arrays, terms, sets)


def _feasible(codes: NDArray, sets: Sets) -> NDArray:
    wide = codes.astype(Long)
    tolerance = 64 * codes.shape[1] * np.finfo(codes.dtype).eps
    size = np.maximum(1.0, np.abs(wide).sum(axis=1))
    allowed = np.ones(len(codes), bool)
    if sets.nonnegative or sets.one_atom:
        allowed &= wide.min(axis=1) >= -tolerance * size
    if sets.sum_to_one or sets.one_atom:
        allowed &= np.abs(wide.sum(axis=1) - 1.0) <= tolerance * size
    if sets.one_atom or sets.n_nonzero is not None:
        allowed &= np.count_nonzero(codes, axis=1) <= (sets.n_nonzero or 1)
    return allowed


def _same_support(arrays: Arrays, terms: Terms, codes: NDArray) -> NDArray:
    """Least squares on the atoms that a greedy code has chosen, (n, C, N)."""
    found = np.zeros((len(codes), 1, codes.shape[1]), Long)
    for rows, support in supports(codes):
        if not support.size:
            continue
        part = Arrays(
            arrays.own[rows], arrays.cross[rows][:, support], arrays.gram[np.ix_(support, support)]
        )
        free = Terms(
            np.zeros_like(part.cross), np.zeros_like(part.cross), terms.labels, terms.weights
        )
        best = candidates(part, free, Sets())
        sizes = size_of(part, best) ** 2
        gaps = excess(part, free, codes[rows][:, support], best)
        chosen = np.argmax(gaps - ROUNDING * len(arrays.gram) * sizes, axis=1)
        found[np.ix_(rows, [0], support)] = np.take_along_axis(best, chosen[:, None, None], axis=1)
    return found


def _penalties(terms: Terms, codes: NDArray, others: NDArray) -> NDArray:
    return terms.value(codes[:, None, :].astype(Long)) + terms.value(others)


def _tolerated(
    arrays: Arrays, terms: Terms, sets: Sets, answer: Answer, others: NDArray
) -> NDArray:
    """The gap that violations of conditions within the tolerance explain, by convexity, (n, C)."""
    difference = np.abs(answer.codes[:, None, :].astype(Long) - others)
    atoms = np.sqrt(np.maximum(np.diag(arrays.gram), 0.0)).astype(Long)
    own = np.sqrt(np.maximum(arrays.own, 0.0)).astype(Long)[:, None]
    if sets.sum_to_one:
        own = np.maximum(own, atoms.max())
    slopes = np.where((terms.l1 > 0) & answer.is_bound, terms.l1, terms.l1 + own * atoms)
    total = (slopes[:, None, :] * difference).sum(axis=-1)
    for group in np.flatnonzero(terms.weights):
        total = total + terms.weights[group] * norm(difference[..., terms.labels == group])
    # A hundredth of the tolerance, relative to the sample's own size, is nobody's loss.
    return answer.tol * (4.0 * total + 0.01 * own**2)


def _compare(
    arrays: Arrays,
    terms: Terms,
    sets: Sets,
    codes: NDArray,
    others: NDArray,
    gaps: NDArray,
    allowed: NDArray,
    certificates: NDArray,
    said: str,
) -> None:
    """Blame the worst row whose gap is more than allowed, after asking exact arithmetic."""
    beyond = np.where(np.isfinite(allowed), gaps - allowed, -np.inf)
    if not np.any(beyond > 0):
        return
    row, which = np.unravel_index(np.argmax(beyond), beyond.shape)
    true = float(exact.excess(arrays, terms, int(row), codes[row], others[row, which], sets))
    if true > allowed[row, which]:
        message = said.format(float(certificates[row]), true)
        raise Failure(f"{message}, row {row}")


def _require(good: NDArray, message: str) -> None:
    if not np.all(good):
        raise Failure(f"{message}, row {int(np.argmin(good))}")
