"""What a file of samples holds, whatever its form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .columns import listed, shortened
from .packages import required_pandas

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class LabelledSamples:
    """What a file holds: samples, labels and names of features where there are any.

    Attributes
    ----------
    X : array or data frame
        Frames have the cells of tables as they were read: numbers, words, dates.
    y : array or None
    names : tuple of str or None
        Of the features, where the file or the model has names.
    notes : tuple of str
        Sentences for the user.
    aside : dict of arrays
        Columns that are no features, by how they were asked for.
    target : int or None
        Where the labels were in a table.
    """

    X: NDArray | pd.DataFrame
    y: NDArray | None
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    aside: dict[str, NDArray] = field(default_factory=dict)
    target: int | None = None

    @property
    def is_table(self) -> bool:
        """Whether there are columns of several kinds, not an array of numbers."""
        return not isinstance(self.X, np.ndarray)

    def numbers(self, path: object) -> NDArray | pd.DataFrame:
        """The samples as numbers, with the names of their features if known; else a refusal.

        Parameters
        ----------
        path : object
            What the file is called in messages.
        """
        if isinstance(self.X, np.ndarray):
            if self.names is None:
                return self.X
            return required_pandas().DataFrame(self.X, columns=list(self.names), copy=False)
        values = np.empty(self.X.shape)
        for place, name in enumerate(self.X.columns):
            values[:, place] = numbers_of(path, name, self.X.iloc[:, place])
        if self.names is None:
            return values
        return required_pandas().DataFrame(values, columns=list(self.names), copy=False)


def numbers_of(path: object, name: str, column: pd.Series) -> NDArray:
    """One column as numbers; dates have numbers, too, but nobody means them."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in "mM":
        raise ValueError(
            f"{path}: column {name!r} holds dates, and the model takes numbers there. {REMEDY}"
        )
    found = (
        required_pandas().to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    )
    wrong = np.flatnonzero(np.isnan(found) & column.notna().to_numpy())
    if wrong.size:
        row = int(wrong[0])
        got = shortened(str(column.iloc[row]))
        raise ValueError(
            f"{path}: features must be numbers (row {row + 1}, column {name!r}: got {got!r}). "
            f"{REMEDY}"
        )
    return found


REMEDY = (
    "If the column holds labels, name it with --target; else write a number, or leave the row out."
)


def refuse_missing(X: NDArray | pd.DataFrame, path: object) -> None:
    """Refuse numbers with NaN or infinity, and say where the first is.

    Parameters
    ----------
    X : array or data frame of numbers
    path : object
        What the file is called in messages.
    """
    values = np.asarray(X)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    row, *place = np.argwhere(~np.isfinite(values))[0].tolist()
    kind = "NaN" if np.isnan(values[(row, *place)]) else "infinity"
    names = list(getattr(X, "columns", ()))
    name = names[place[0]] if names else ", ".join(map(str, place))
    raise ValueError(
        f"{path}: row {row + 1}, column {name!r} contains {kind}. Write a number, or leave the "
        "row out."
    )


def joined(parts: list[LabelledSamples], names: list[str]) -> LabelledSamples:
    """Samples of several files as one; columns are found by their names.

    Parameters
    ----------
    parts : list of LabelledSamples
    names : list of str
        Of the files.
    """
    first = parts[0]
    for part, name in zip(parts, names, strict=True):
        if part.is_table != first.is_table or (part.y is None) != (first.y is None):
            raise ValueError(
                f"{name} holds something else than {names[0]}: give files of one kind."
            )
        if part.is_table:
            _same_columns(first, part, names[0], name)
        elif part.X.shape[1:] != first.X.shape[1:]:
            raise ValueError(
                f"{name} holds samples of shape {part.X.shape[1:]}, {names[0]} of "
                f"{first.X.shape[1:]}."
            )
    if isinstance(first.X, np.ndarray):
        X = np.concatenate([np.asarray(part.X) for part in parts])
    else:
        frames = [part.X[list(first.X.columns)] for part in parts]
        X = required_pandas().concat(frames, ignore_index=True)
    y = None if first.y is None else np.concatenate([np.asarray(part.y) for part in parts])
    aside = {key: np.concatenate([part.aside[key] for part in parts]) for key in first.aside}
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return LabelledSamples(X, y, first.names, notes, aside, first.target)


def _same_columns(
    first: LabelledSamples, part: LabelledSamples, first_name: str, name: str
) -> None:
    known, present = list(getattr(first.X, "columns", ())), list(getattr(part.X, "columns", ()))
    lacking = [column for column in known if column not in present]
    extra = [column for column in present if column not in known]
    if lacking or extra:
        what = f"lacks {listed(lacking)}" if lacking else f"has {listed(extra)}, too"
        raise ValueError(
            f"{name} {what}: it has other columns than {first_name}. Give files with the same "
            "columns."
        )
