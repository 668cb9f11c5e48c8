"""The parts of a fitted model: what prepares samples, what codes them, what names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ..classification import ResidualClassifier
from ..tables import ModelFeatures, TableColumns
from ..tables.kinds import CATEGORY

Step = tuple[str, BaseEstimator]


def steps_of(model: BaseEstimator) -> list[Step]:
    """Names and steps of a pipeline; of any other model, the model alone."""
    return list(model.steps) if isinstance(model, Pipeline) else [("model", model)]


def split_off_last(model: BaseEstimator) -> tuple[Pipeline | None, BaseEstimator]:
    """What prepares samples, None where nothing does, and what names them."""
    if not isinstance(model, Pipeline):
        return None, model
    return (model[:-1] if len(model.steps) > 1 else None), model.steps[-1][1]


def prepared_by(before: Pipeline | None, X: Any) -> Any:
    """Samples as the last step takes them."""
    return X if before is None else before.transform(X)


@dataclass(frozen=True, slots=True)
class CodingParts:
    """What happens to samples before they are coded, and what codes them."""

    before: Pipeline | None
    coder: BaseEstimator
    last: BaseEstimator

    def prepared(self, X: Any) -> Any:
        """Samples as the coder takes them."""
        return prepared_by(self.before, X)


def coding_parts(model: BaseEstimator) -> CodingParts | None:
    """The parts of a model that make codes; None if there are none.

    Parameters
    ----------
    model : estimator
        Fitted; perhaps a pipeline.
    """
    steps = steps_of(model)
    last = steps[-1][1]
    if isinstance(last, ResidualClassifier):
        coder, n_before = getattr(last, "coder_", last), len(steps) - 1
    elif hasattr(last, "transform"):
        coder, n_before = last, len(steps) - 1
    elif len(steps) > 1 and hasattr(steps[-2][1], "transform"):
        coder, n_before = steps[-2][1], len(steps) - 2
    else:
        return None
    return CodingParts(Pipeline(steps[:n_before]) if n_before else None, coder, last)


def table_columns(model: BaseEstimator) -> TableColumns | None:
    """The columns that a model of tables looks at; None for other models."""
    _, first = steps_of(model)[0]
    return first if isinstance(first, TableColumns) else None


def features_of(model: BaseEstimator) -> ModelFeatures:
    """What a model says of its features.

    Parameters
    ----------
    model : estimator
        Fitted.
    """
    columns = table_columns(model)
    if columns is not None:
        named = columns.named
        return ModelFeatures(
            tuple(c.name for c in columns.columns) if named else None,
            len(columns.columns),
            frozenset(i for i, c in enumerate(columns.columns) if c.kind == CATEGORY),
            columns.target,
            frozenset(c.name for c in columns.columns if not c.used),
        )
    names = getattr(model, "feature_names_in_", None)
    known = None if names is None else tuple(map(str, names))
    return ModelFeatures(known, getattr(model, "n_features_in_", None))
