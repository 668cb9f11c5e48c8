"""From the columns of a table to numbers: what a model keeps of it, and scikit-learn's parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags

from .columns import listed, shortened
from .dates import FORMS, days_of
from .kinds import CATEGORY, DATE, NUMBER, ColumnType
from .packages import required_pandas
from .samples import numbers_of

if TYPE_CHECKING:
    import pandas as pd

NO_WORD = "(missing)"  # the category of empty cells
NUMBERS, WORDS = "numbers", "words"  # parts of the preparation
MOST_CATEGORIES = 30  # of a column; the rarest share one


class TableColumns(TransformerMixin, BaseEstimator):
    """The columns of a table that a model looks at, each read as it was in training.

    Cells become numbers (missing ones NaN), dates days since 1970, and words stay words, empty
    cells being a word of their own. Columns are found by their names.

    Parameters
    ----------
    columns : sequence of ColumnType
        All columns of the table that the model was fitted with, in their order.
    named : bool, default=True
        Whether they are found by name; else by position.
    target : str, default=None
        The column of labels, which tables may have and which is not looked at.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of str
        Where columns have names.
    """

    def __init__(
        self, columns: Sequence[ColumnType], named: bool = True, target: str | None = None
    ) -> None:
        self.columns = columns
        self.named = named
        self.target = target

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn nothing: how columns are read was decided when the table was looked at.

        Parameters
        ----------
        X : data frame
        y : ignored
        """
        self.n_features_in_ = len(self.columns)
        if self.named:
            names = np.array([column.name for column in self.columns], dtype=object)
            self.feature_names_in_ = names
        return self

    @property
    def used(self) -> list[ColumnType]:
        """The columns that are looked at."""
        return [column for column in self.columns if column.used]

    def transform(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """The columns that are looked at, as numbers and words.

        Parameters
        ----------
        X : data frame, or array with the columns in their order
            Further columns are not looked at.

        Returns
        -------
        frame : data frame
            Of floats and words.
        """
        pandas = required_pandas()
        frame = X if isinstance(X, pandas.DataFrame) else pandas.DataFrame(np.asarray(X))
        found = {}
        for place, column in enumerate(self.columns):
            if column.used:
                found[column.name] = _read(column, self._cells(frame, place, column.name))
        return pandas.DataFrame(found)

    def _cells(self, frame: pd.DataFrame, place: int, name: str) -> pd.Series:
        by_name = self.named and not all(isinstance(label, int) for label in frame.columns)
        if not by_name:
            if frame.shape[1] != len(self.columns):
                raise ValueError(f"Expected {len(self.columns)} columns, got {frame.shape[1]}.")
            return frame.iloc[:, place]
        if name not in frame.columns:
            lacking = [c.name for c in self.used if c.name not in frame.columns]
            raise ValueError(f"The table lacks {listed(lacking)}.")
        return frame[name]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Names of the columns that are looked at.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array([column.name for column in self.used], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _read(column: ColumnType, cells: pd.Series) -> NDArray:
    if column.kind == CATEGORY:
        return words_of(cells)
    if column.kind == NUMBER:
        values = numbers_of("the table", column.name, cells)
        _refuse(column, cells, np.isinf(values), "a finite number")
        return values
    days = days_of(cells, column.form)
    wrong = np.isnan(days) & cells.notna().to_numpy()
    _refuse(column, cells, wrong, f"a date as {FORMS.get(column.form, 'in training')}")
    return days


def _refuse(column: ColumnType, cells: pd.Series, wrong: NDArray, expected: str) -> None:
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"row {row + 1}, column {column.name!r}: expected {expected}, got "
            f"{shortened(str(cells.iloc[row]))!r}. Write it so, or leave the cell empty."
        )


def words_of(cells: pd.Series) -> NDArray:
    """Cells as words; whole numbers are spelled alike whatever they were stored as."""
    missing = cells.isna().to_numpy()
    if cells.dtype.kind == "f":
        texts = [f"{value:g}" if value == round(value) else repr(value)
                 for value in cells.fillna(0.0).tolist()]  # fmt: skip
        words = np.array(texts, dtype=object)
    else:
        words = np.array([str(cell).strip() for cell in cells.tolist()], dtype=object)
    words[missing] = NO_WORD
    return words


def preparation(columns: Sequence[ColumnType], scale: bool) -> ColumnTransformer:
    """Missing numbers imputed and marked, numbers standardised, words as indicators.

    Parameters
    ----------
    columns : sequence of ColumnType
        Those that are used.
    scale : bool
        Whether numbers are standardised.
    """
    numeric = [column.name for column in columns if column.kind in (NUMBER, DATE)]
    words = [column.name for column in columns if column.kind == CATEGORY]
    steps = [("impute", SimpleImputer(strategy="median", add_indicator=True))]
    if scale:
        steps.append(("scale", StandardScaler()))
    indicators = OneHotEncoder(
        handle_unknown="ignore",
        max_categories=MOST_CATEGORIES,
        sparse_output=False,
    )
    parts = [(NUMBERS, Pipeline(steps), numeric)] if numeric else []
    if words:
        parts.append((WORDS, indicators, words))
    return ColumnTransformer(parts, sparse_threshold=0.0)


def treatment(column: ColumnType, scale: bool, n_missing: int, n_words: int) -> str:
    """What is done with a column, in words.

    Parameters
    ----------
    column : ColumnType
    scale : bool
        Whether numbers are standardised.
    n_missing : int
        Number of empty cells.
    n_words : int
        Number of different words.
    """
    if not column.used:
        return f"left out: {column.reason}"
    reason = f" ({column.reason})" if column.reason else ""
    if column.kind == CATEGORY:
        rare = f", the rarest in one of {MOST_CATEGORIES}" if n_words > MOST_CATEGORIES else ""
        return f"{n_words} categories, an indicator each{rare}{reason}"
    done = ["standardised"] if scale else ["as it is"]
    if n_missing:
        done.append("missing ones are the median, with an indicator")
    return ", ".join(done) + reason
