"""What each column of a table is, found out from its cells, and what is to be done with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from .columns import listed, shortened
from .dates import FORMS, form_of
from .packages import required_pandas

if TYPE_CHECKING:
    import pandas as pd

NUMBER, CATEGORY, DATE, TEXT = "number", "category", "date", "text"
KINDS = (NUMBER, CATEGORY, DATE, TEXT)
FEW_ROWS = 20  # with fewer, cells that all differ say nothing
MOSTLY = 0.8  # so many numbers among the cells of a column make the others mistakes
MANY_WORDS = 100  # different words that are no categories, if they are most of the cells
WORDS_OF_A_TEXT = 4.0  # on average
_IDENTIFIER = re.compile(
    r"(^|[_\s.-])(id|ids|uid|uuid|guid|key|index|idx|row|rownum|number|no|nr|code)$|^id([_\s.-]|$)"
    r"|[a-z](ID|Id)$|^unnamed",
)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column of a table: what it holds, and whether and why it is used.

    Attributes
    ----------
    name : str
    kind : str
        "number", "category", "date" or "text".
    used : bool
    reason : str
        Why it is left out, or what is to be known of it.
    form : str
        Of dates.
    """

    name: str
    kind: str
    used: bool = True
    reason: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user says of columns; names that the table does not have are refused."""

    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()  # empty: all
    keep: tuple[str, ...] = ()  # although they look like identifiers or constants
    types: Mapping[str, str] = field(default_factory=dict)

    def check(self, names: list[str]) -> None:
        """Refuse unknown columns and kinds."""
        asked = {"--drop": self.drop, "--columns": self.only, "--keep": self.keep}
        for option, columns in {**asked, "--types": tuple(self.types)}.items():
            unknown = [name for name in columns if name not in names]
            if unknown:
                raise ValueError(
                    f"{option} names {listed(unknown)}, and the columns are {listed(names)}."
                )
        for name, kind in self.types.items():
            if kind not in KINDS:
                raise ValueError(f"--types {name}={kind}: a column is one of {', '.join(KINDS)}.")


def column_types(frame: pd.DataFrame, wishes: Wishes, named: bool = True) -> list[ColumnType]:
    """What every column of a table is, and whether it is used.

    Parameters
    ----------
    frame : data frame
        Of features.
    wishes : Wishes
    named : bool, default=True
        Whether columns have names; without, a first column of different whole numbers is taken for
        an identifier.
    """
    names = list(map(str, frame.columns))
    wishes.check(names)
    found = []
    for place, name in enumerate(names):
        if name in wishes.drop or (wishes.only and name not in wishes.only):
            how = "--drop" if name in wishes.drop else "not among --columns"
            found.append(ColumnType(name, TEXT, False, how))
            continue
        column = _typed(name, frame.iloc[:, place], wishes.types.get(name), not named and not place)
        if not column.used and name in wishes.keep:
            kind = CATEGORY if column.kind == TEXT else column.kind
            column = replace(column, kind=kind, used=True, reason="--keep")
        found.append(column)
    if not any(column.used for column in found):
        reasons = ", ".join(f"{c.name!r} ({c.reason})" for c in found[:8])
        raise ValueError(
            f"No column is left to learn from: {reasons}. Name columns to use with --keep or "
            "--types column=category."
        )
    return found


def _typed(name: str, cells: pd.Series, told: str | None, is_first_unnamed: bool) -> ColumnType:
    present = cells.dropna()
    if told is not None:
        return _as_told(name, present, told)
    if not len(present):
        return ColumnType(name, TEXT, False, "empty")
    if cells.dtype.kind in "mM":
        return ColumnType(name, DATE, reason="dates, as days since 1970")
    numbers = _as_numbers(name, present)
    if numbers is not None:
        why = _why_no_number(name, numbers, is_first_unnamed, len(present) == len(cells))
        return ColumnType(name, NUMBER, not why, why)
    words = present.astype(str)
    if words.nunique() == 1 and len(present) == len(cells):
        return ColumnType(name, CATEGORY, False, "constant")
    form = form_of(words)
    if form is not None:
        return ColumnType(name, DATE, True, f"dates ({FORMS[form]}), as days since 1970", form)
    why = _why_no_category(name, words)
    return ColumnType(name, TEXT if why else CATEGORY, not why, why)


def _as_told(name: str, present: pd.Series, told: str) -> ColumnType:
    if told == TEXT:
        return ColumnType(name, TEXT, False, "--types says text")
    if told != DATE:
        return ColumnType(name, told, reason="--types")
    form = "" if present.dtype.kind in "mM" else form_of(present.astype(str))
    if form is None:
        raise ValueError(
            f"--types {name}=date: the cells of column {name!r}, such as "
            f"{shortened(str(present.iloc[0]))!r}, are not written as {', '.join(FORMS.values())}."
        )
    return ColumnType(name, DATE, True, "--types: dates, as days since 1970", form)


def _as_numbers(name: str, present: pd.Series) -> np.ndarray | None:
    """All cells as numbers; None for words; a few words among numbers are mistakes."""
    if present.dtype.kind in "biuf":
        values = present.to_numpy(np.float64)
    else:
        parsed = required_pandas().to_numeric(present, errors="coerce")
        values = parsed.to_numpy(np.float64, na_value=np.nan)
        wrong = np.flatnonzero(np.isnan(values))
        if len(wrong) > (1 - MOSTLY) * len(values) or len(values) - len(wrong) < 3:
            return None
        if wrong.size:
            row, cell = int(present.index[wrong[0]]), shortened(str(present.iloc[int(wrong[0])]))
            raise ValueError(
                f"column {name!r} holds numbers, but row {row + 1} holds {cell!r}. Write a number "
                f"or leave the cell empty; or say --types {name}=category, or --drop {name}."
            )
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        row = int(present.index[infinite[0]])
        raise ValueError(
            f"column {name!r} contains infinity in row {row + 1}. Write a number, leave the cell "
            f"empty, or say --drop {name}."
        )
    return values


def _why_no_number(name: str, values: np.ndarray, is_first_unnamed: bool, is_complete: bool) -> str:
    different = np.unique(values).size
    if different == 1 and is_complete:
        return "constant"
    if values.size < FEW_ROWS or different < 0.99 * values.size:
        return ""
    if not np.all(values == np.round(values)):
        return ""
    steps = np.diff(values)
    if different == values.size and (np.all(steps == 1) or np.all(steps == -1)):
        return "counts the rows"
    if _IDENTIFIER.search(name) or _IDENTIFIER.search(name.lower()):
        return "an identifier, by its name and as its numbers differ"
    return "an identifier: whole numbers that all differ" if is_first_unnamed else ""


def _why_no_category(name: str, words: pd.Series) -> str:
    different = words.nunique()
    if different == len(words) >= FEW_ROWS:
        return "an identifier or text: all cells differ"
    length = float(words.str.count(r"\s+").mean()) + 1
    if length >= WORDS_OF_A_TEXT and different > max(FEW_ROWS, len(words) / 10):
        return f"text: {length:.0f} words per cell"
    if different > MANY_WORDS and different > len(words) / 2:
        return f"{different} different words in {len(words)} rows"
    return ""
