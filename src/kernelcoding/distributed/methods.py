"""Methods of fitted estimators that are lazy for lazy samples: one task per block of rows.

An estimator says what a method answers for one row (:class:`Answer`) and is otherwise written for
samples in memory; for samples of Dask the same method runs in every block. No Dask in here: it is
imported when the first lazy samples come.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from .inputs import holds_lazy, is_lazy

__all__ = [
    "Answer",
    "RowAnswer",
    "one_number",
    "one_vector",
    "over_blocks",
    "precision_of",
    "refuse_lazy",
]

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class RowAnswer:
    """What a method gives for one row of samples.

    Parameters
    ----------
    shape : tuple of int
        Of the answer for one row.
    dtype : dtype
    is_csr : bool, default=False
        Whether rows come as a CSR array.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    is_csr: bool = False


# Of the fitted estimator and the numbers of its samples: what it will answer for one row.
Answer = Callable[[Any, np.dtype], RowAnswer]


def over_blocks(
    answer: Answer, *, takes: str = "samples", before: Callable[[Any], object] | None = None
) -> Callable[[Method], Method]:
    """Make a method of samples lazy where the samples are.

    Parameters
    ----------
    answer : callable
        Of the estimator and the precision of the samples: the :class:`RowAnswer`.
    takes : {"samples", "codes"}, default="samples"
        What the first argument holds. Further ones hold one row per row of it.
    before : callable, default=None
        Of the estimator: what is done once, before any block, and kept with it.
    """

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def asked(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
            if not any(map(is_lazy, (X, *args, *kwargs.values()))):
                return method(self, X, *args, **kwargs)
            from .mapping import Call, lazily

            return lazily(Call(self, method.__name__, answer, takes, before), X, args, kwargs)

        return cast(Method, asked)

    return decorate


def one_number(estimator: Any, dtype: np.dtype) -> RowAnswer:
    """An :data:`Answer` of one number per row, in double precision."""
    return RowAnswer((), np.dtype(np.float64))


def one_vector(estimator: Any, dtype: np.dtype) -> RowAnswer:
    """An :data:`Answer` of one vector per row: as many numbers as scikit-learn is told."""
    return RowAnswer((estimator._n_features_out,), dtype)


def precision_of(dtype: np.dtype | None) -> np.dtype:
    """The precision that estimators compute in: single for single, else double."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def refuse_lazy(estimator: object, X: object, *, training: bool) -> None:
    """Refuse samples of Dask where they would have to be in memory: ValueError."""
    if not (is_lazy(X) or holds_lazy(X)):
        return
    _refuse(type(estimator).__name__, X, training)


def _refuse(name: str, X: object, training: bool) -> NoReturn:
    kind = "several views of Dask" if not is_lazy(X) else "samples of Dask"
    if not is_lazy(X) and not training:
        raise ValueError(
            f"{name} got {kind}, which would all be computed in this process. Pass one Dask data "
            "frame whose columns are the views, or a list of delayed blocks, each of which holds "
            "all views of some samples."
        )
    if training:
        raise ValueError(
            f"{name}.fit compares its samples with each other and got {kind}, which would all be "
            "computed in this process. Fit to a part that fits in memory (X[:10_000].compute()), "
            "or learn a dictionary block by block with KernelDictionaryLearning(n_landmarks=...); "
            "transform, predict and the like of the fitted estimator then take all of X lazily."
        )
    raise ValueError(
        f"{name} got {kind} in a method that needs them in memory: pass X.compute(), or use "
        "transform, predict, reconstruction_error and the like, which are lazy."
    )
