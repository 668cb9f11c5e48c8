"""Cells that are dates: the form in which all of a column are written, and days as numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .packages import required_pandas

if TYPE_CHECKING:
    import pandas as pd

# In the order in which they are tried: where day and month cannot be told apart, the day is first.
FORMS = {
    "ISO8601": "year-month-day",
    "%d.%m.%Y": "day.month.year",
    "%d/%m/%Y": "day/month/year",
    "%m/%d/%Y": "month/day/year",
    "%d-%m-%Y": "day-month-year",
    "%d/%m/%Y %H:%M": "day/month/year hour:minute",
    "%m/%d/%Y %H:%M": "month/day/year hour:minute",
    "%d.%m.%Y %H:%M": "day.month.year hour:minute",
    "%Y/%m/%d": "year/month/day",
}
_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ]\d.*)?")
EPOCH = np.datetime64("1970-01-01", "us")
DAY = 86_400_000_000  # microseconds


def form_of(cells: pd.Series) -> str | None:
    """The form in which all of some cells are dates; None if there is none.

    Parameters
    ----------
    cells : series of str
        Without missing ones.
    """
    if not len(cells) or not _LIKE_A_DATE.fullmatch(str(cells.iloc[0]).strip()):
        return None
    beginning = cells.iloc[:200]
    for form in FORMS:
        if _parsed(beginning, form).notna().all() and _parsed(cells, form).notna().all():
            return form
    return None


def days_of(cells: pd.Series, form: str) -> NDArray:
    """Days since 1970 of cells that are dates of a form; NaN where they are not.

    Parameters
    ----------
    cells : series of str or of dates
    form : str
        As :func:`form_of` gave it; of no account for dates.
    """
    dates = cells if cells.dtype.kind == "M" else _parsed(cells, form)
    if getattr(dates.dtype, "tz", None) is not None:
        dates = dates.dt.tz_convert(None)
    stamps = dates.to_numpy("datetime64[us]")
    days = (stamps - EPOCH).astype(np.int64) / DAY
    return np.where(np.isnat(stamps), np.nan, days)


def _parsed(cells: pd.Series, form: str) -> pd.Series:
    pandas = required_pandas()
    words = cells.astype(object).where(cells.notna(), None)
    return pandas.to_datetime(words, format=form, errors="coerce", utc=form == "ISO8601")
