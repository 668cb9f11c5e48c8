"""Words of a table that a model has not met in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer

from ..tables.columns import listed
from ..tables.preparation import NO_WORD, WORDS
from .parts import table_columns

if TYPE_CHECKING:
    import pandas as pd


def unseen_categories(model: BaseEstimator, frame: pd.DataFrame, source: str) -> list[str]:
    """A sentence for every column with categories that training did not have.

    Parameters
    ----------
    model : estimator
        Fitted to a table.
    frame : data frame
        Other rows.
    source : str
        What the file is called in messages.
    """
    columns = table_columns(model)
    if columns is None:
        return []
    encoder = next(step for _, step in model.steps if isinstance(step, ColumnTransformer))
    if WORDS not in encoder.named_transformers_:
        return []
    read = columns.transform(frame)
    names = next(columns for part, _, columns in encoder.transformers_ if part == WORDS)
    said = []
    for name, known in zip(names, encoder.named_transformers_[WORDS].categories_, strict=True):
        words = read[name].tolist()
        new = set(words) - set(known.tolist())
        if not new:
            continue
        count = sum(word in new for word in words)
        what = "are empty" if new == {NO_WORD} else f"hold {listed(sorted(new))}"
        said.append(
            f"{source}: {count} of {len(words)} cells of column {name!r} {what}, as none did in "
            "training: they count as no category."
        )
    return said
