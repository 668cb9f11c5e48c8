"""What is done to a user's samples before a model sees them, by the form they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..tables import ColumnType, LabelledSamples, TableColumns, Wishes, column_types, preparation
from ..tables.kinds import CATEGORY
from ..tables.preparation import treatment, words_of
from ..tables.samples import refuse_missing
from .parts import Step, steps_of

# Kernels of plain vectors, for which columns may be standardised: histograms have no such freedom.
SCALED_KERNELS = (
    *("rbf", "gaussian", "linear", "cosine", "laplacian", "poly", "polynomial", "sigmoid"),
)


@dataclass(frozen=True, slots=True)
class Treated:
    """A column and what is done with it, in words."""

    name: str
    kind: str
    missing: int
    treatment: str

    def as_json(self) -> dict[str, str | int]:
        """Words and numbers."""
        return {
            "name": self.name,
            "kind": self.kind,
            "missing": self.missing,
            "treatment": self.treatment,
        }


@dataclass(frozen=True, slots=True)
class Prepared:
    """Steps of a pipeline, not fitted, and what they do."""

    steps: tuple[Step, ...]
    columns: tuple[Treated, ...] = ()
    notes: tuple[str, ...] = ()

    def transformer(self) -> Pipeline | None:
        """The steps as one; None where there are none."""
        return Pipeline(list(self.steps)) if self.steps else None

    def with_model(self, model: BaseEstimator) -> BaseEstimator:
        """A model that takes samples as they come."""
        if not self.steps:
            return model
        return Pipeline([*self.steps, *steps_of(model)])


def prepared(
    samples: LabelledSamples,
    source: str,
    wishes: Wishes,
    kernel: object,
    scale: bool,
    target: str | None = None,
) -> Prepared:
    """What is to be done with these samples.

    Parameters
    ----------
    samples : LabelledSamples
    source : str
        What the file is called in messages.
    wishes : Wishes
        What a user says of columns.
    kernel : object
        Name of the kernel, or the kernel.
    scale : bool
        Whether numbers may be standardised.
    target : str, default=None
        The column of labels.
    """
    is_vector_kernel = isinstance(kernel, str) and kernel in SCALED_KERNELS
    notes: tuple[str, ...] = ()
    if scale and not is_vector_kernel:
        scale = False
        if samples.is_table:
            notes = (f"Columns were not standardised: --kernel {kernel} is not for that.",)
    if not samples.is_table:
        return Prepared(_array_steps(np.asarray(samples.X), source, wishes, scale), (), notes)
    try:
        columns = column_types(samples.X, wishes, samples.names is not None)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    used = [column for column in columns if column.used]
    place = target if samples.target is None or samples.names else str(samples.target)
    steps = (
        ("columns", TableColumns(tuple(columns), samples.names is not None, place)),
        ("preparation", preparation(used, scale)),
    )
    return Prepared(steps, tuple(_treated(samples.X, columns, scale)), notes)


def _array_steps(X: NDArray, source: str, wishes: Wishes, scale: bool) -> tuple[Step, ...]:
    if wishes != Wishes():
        raise ValueError(
            f"{source} holds an array, and --drop, --columns, --keep and --types are for tables."
        )
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not scale:
        refuse_missing(X, source)
        return ()
    if np.isinf(X).any():
        refuse_missing(np.where(np.isnan(X), 0.0, X), source)
    holes = np.isnan(X).any()
    steps: list[Step] = [("impute", SimpleImputer(strategy="median", add_indicator=True))]
    return tuple([*(steps if holes else []), ("scale", StandardScaler())])


def _treated(frame: Any, columns: list[ColumnType], scale: bool) -> list[Treated]:
    found = []
    for column in columns:
        cells = frame[column.name]
        missing = int(cells.isna().sum())
        n_words = 0
        if column.used and column.kind == CATEGORY:
            n_words = len(set(words_of(cells).tolist()))
        words = treatment(column, scale, missing, n_words)
        found.append(Treated(column.name, column.kind, missing, words))
    return found
