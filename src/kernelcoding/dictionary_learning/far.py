"""Samples that are far away: how learning takes them, and what it cannot do without them here."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..blocks import Blocks
from ..distributed.inputs import is_lazy
from ..kernels import Kernel
from ..selection import counting_rows, drawn_rows
from ..stacks import Stack
from ..validation import refuse_missing_labels

MEASURED = 1000  # evenly spaced samples on which a kernel's parameters are measured
FOLLOWED = 5000  # samples at random with which a kernel is learned


class Learns(Protocol):
    """Parameters that say how samples are learned from."""

    n_landmarks: int | None
    landmarks: str | ArrayLike


def far_samples(estimator: BaseEstimator, X: Any, kernel: Kernel) -> Blocks:
    """Samples of Dask as blocks, checked as far as that needs none of them.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set.
    X : Dask array, data frame or list of delayed blocks, or DaskSamples of these
    kernel : Kernel
    """
    from ..distributed.samples import DaskSamples

    if kernel.uses_index or kernel.views:
        kind = "a precomputed kernel" if kernel.uses_index else "a kernel of several views"
        _refuse(estimator, f"{kind} needs all samples in memory", "a kernel of arrays")
    found = X if isinstance(X, DaskSamples) else DaskSamples(X)
    seen: Any = np.broadcast_to(np.zeros(1), (1, *found.form.shape))
    if found.given.feature_names is not None:
        import pandas

        seen = pandas.DataFrame(columns=list(found.given.feature_names))
    validate_data(estimator, seen, reset=True, skip_check_array=True)
    if len(found) < 2:
        raise ValueError("Found array with 1 sample(s) while a minimum of 2 is required.")
    kernel.check(found[:1])
    return found


def require_landmarks(estimator: BaseEstimator, X: Stack | Blocks, learning: Learns) -> None:
    """Refuse to make a landmark of every sample where samples are far away."""
    if not isinstance(X, Blocks) or learning.n_landmarks is not None:
        return
    if isinstance(learning.landmarks, str):
        _refuse(
            estimator,
            "n_landmarks=None makes a landmark of every sample, whose similarities with each other "
            "are a matrix of all samples squared",
            "n_landmarks=2000",
        )


def refuse_far(estimator: BaseEstimator, X: Stack | Blocks, why: str, instead: str) -> None:
    """Refuse samples that are far away: ValueError says why, and what to use instead."""
    if isinstance(X, Blocks):
        _refuse(estimator, why, instead)


def _refuse(estimator: BaseEstimator, why: str, instead: str) -> NoReturn:
    raise ValueError(
        f"{type(estimator).__name__}.fit does not learn this from samples of Dask: {why}. Use "
        f"{instead}, or fit to a part that fits in memory (X[:10_000].compute())."
    )


def at_hand(given: Any, X: Stack | Blocks) -> NDArray | None:
    """Labels or weights of all samples, one number each, in memory."""
    if given is None or not is_lazy(given):
        return None if given is None else np.asarray(given)
    from ..distributed.inputs import same_blocks
    from ..distributed.samples import DaskSamples, computed

    if not isinstance(X, DaskSamples):
        return np.asarray(given)
    return np.concatenate([np.asarray(part) for part in computed(*same_blocks(X.given, given))])


def labels_at_hand(y: Any, X: Stack | Blocks) -> NDArray | None:
    """Labels of all samples in memory; ValueError where some are missing."""
    labels = at_hand(y, X) if is_lazy(y) else y
    refuse_missing_labels(labels)
    return None if labels is None else np.asarray(labels)


def measured(X: Stack | Blocks, sample_weight: NDArray | None) -> Stack:
    """What a kernel's parameters are measured on: samples at hand, or some of those far away."""
    if not isinstance(X, Blocks):
        return X
    rows = counting_rows(len(X), sample_weight)
    if len(rows) > MEASURED:
        rows = rows[np.linspace(0, len(rows) - 1, MEASURED).round().astype(np.intp)]
    return X[rows]


def followed(
    X: Stack | Blocks,
    y: NDArray | None,
    sample_weight: NDArray | None,
    random_state: np.random.RandomState,
) -> tuple[Stack, NDArray | None]:
    """Samples (and labels) that a kernel is learned with: all at hand, or some drawn at random."""
    if not isinstance(X, Blocks):
        return X, y
    rows = drawn_rows(counting_rows(len(X), sample_weight), FOLLOWED, random_state)
    return X[rows], None if y is None else y[rows]
