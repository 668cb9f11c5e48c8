r"""The width :math:`\gamma`: a number, or a rule that makes one from data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sparse_vectors import SparseVectors
from .checks import positive_number

if TYPE_CHECKING:
    from .base import Kernel

__all__ = [
    "RULES",
    "check_gamma",
    "mean_width",
    "median_width",
    "number_gamma",
    "resolve_gamma",
    "variance_width",
]

RULES = ("median", "scale")
# A multiple of what "median" stands for, such as "0.1*median".
MULTIPLE = re.compile(r"\s*([^*\s]+)\s*\*\s*median\s*")
MAX_SAMPLES = 1000  # a million pairs place the median well and cost milliseconds


def check_gamma(gamma: float | str, owner: str) -> None:
    """Accept a positive finite number, "median", a multiple of it, or "scale"."""
    if isinstance(gamma, str):
        if gamma.strip() not in RULES and _factor(gamma) is None:
            raise ValueError(
                f'{owner}: gamma must be a positive number, "median", "scale" or a positive '
                f'multiple such as "0.1*median", got {gamma!r}.'
            )
        return
    positive_number(owner, "gamma", gamma)


def _factor(rule: str) -> float | None:
    """The number before ``*median``; None where the rule is another or the number no good."""
    found = MULTIPLE.fullmatch(rule)
    if found is None:
        return 1.0 if rule.strip() == "median" else None
    try:
        factor = float(found[1])
    except ValueError:
        return None
    return factor if np.isfinite(factor) and factor > 0 else None


def number_gamma(gamma: float | str, owner: str) -> float:
    """Return gamma as a number, or say how to make it one."""
    check_gamma(gamma, owner)
    if isinstance(gamma, str):
        raise ValueError(
            f"{owner}: gamma={gamma!r} depends on data and is not resolved; "
            "call .resolve(X) first or pass a number."
        )
    return float(gamma)


def pair_values(kernel: Kernel, X: ArrayLike, most: int = MAX_SAMPLES) -> NDArray:
    """Off-diagonal pair statistics of at most that many evenly spaced samples, each pair once."""
    samples = kernel.check(X)
    if len(samples) > most:
        rows = np.linspace(0, len(samples) - 1, most).round().astype(np.intp)
        samples = samples[rows]
    prepared = kernel.prepare(samples)
    statistic = kernel.statistic(prepared, prepared)
    return statistic[np.triu_indices(len(samples), 1)].astype(np.float64, copy=False)


def median_width(values: NDArray) -> float:
    """One over the median; over the mean of the positive values if the median is not positive."""
    middle = float(np.median(values)) if values.size else 0.0
    if middle > 0:
        return 1.0 / middle
    positive = values[values > 0]
    return 1.0 / float(positive.mean()) if positive.size else 1.0


def mean_width(values: NDArray) -> float:
    """One over the mean pair statistic, 1.0 when that is not positive."""
    mean = float(values.mean()) if values.size else 0.0
    return 1.0 / mean if mean > 0 else 1.0


def variance_width(X: NDArray | SparseVectors) -> float:
    """Return scikit-learn's ``gamma="scale"``: one over features times variance."""
    variance = _variance(X) if X.size else 0.0
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _variance(X: NDArray | SparseVectors) -> float:
    """Of all numbers, the zeros included."""
    if not isinstance(X, SparseVectors):
        return float(X.var(dtype=np.float64))
    known, count = X.matrix.data.astype(np.float64), float(len(X)) * X.shape[1]
    mean = known.sum() / count
    return float((np.square(known - mean).sum() + (count - known.size) * mean**2) / count)


def resolve_gamma(
    kernel: Kernel,
    gamma: float | str,
    X: ArrayLike,
    vector_rule: Callable[[NDArray], float] | None = None,
) -> float:
    """Return the number that `gamma` stands for on the samples X.

    Parameters
    ----------
    kernel : Kernel
        Whose pair statistic is measured.
    gamma : float, "median", a multiple such as "0.1*median", or "scale"
        The parameter as the user gave it.
    X : array of shape (n, ...)
        Samples.
    vector_rule : callable, optional
        The meaning of "scale" when it is not one over the mean pair statistic.
    """
    owner = type(kernel).__name__
    check_gamma(gamma, owner)
    if not isinstance(gamma, str):
        return float(gamma)
    factor = _factor(gamma)
    if factor is not None:
        return factor * median_width(pair_values(kernel, X))
    if vector_rule is not None:
        return vector_rule(kernel.check(X))
    return mean_width(pair_values(kernel, X))
