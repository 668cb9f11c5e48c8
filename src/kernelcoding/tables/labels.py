"""Labels as files hold them: words or numbers, and spelled so that no spreadsheet runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 2**53  # up to here a float says which integer it is
LARGE_TEXT = 2**24  # characters, of 4 bytes each, that an array of texts may have room for
# A cell that begins so is a formula to spreadsheets; tabs and line ends are dropped before it.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def is_number(cell: str) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def labels_of(path: object, cells: Sequence[str] | NDArray, target: str) -> NDArray:
    """Integers where all labels are, else numbers or words.

    Parameters
    ----------
    path : object
        What the file is called in messages.
    cells : sequence of str or array
        The column of labels.
    target : str
        What the column is called, for messages.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in "UO":
        return _whole(cells)
    texts = [str(cell) for cell in cells]
    missing = [row for row, text in enumerate(texts, start=1) if not text.strip()]
    if missing:
        raise ValueError(
            f"{path}: {len(missing)} of {len(texts)} samples have no label in column {target!r}, "
            f"the first in row {missing[0]}. Fill them in, or leave these rows out."
        )
    if not all(is_number(text) for text in texts):
        return _words(texts)
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)  # identifiers are long
    except (ValueError, OverflowError):
        pass
    different = set(texts)
    if len(set(map(Decimal, different))) > len(set(map(float, different))):
        return _words(texts)  # as floats, different labels would be one
    return _whole(np.array([float(text) for text in texts]))


def _whole(numbers: NDArray) -> NDArray:
    whole = np.all((numbers == np.round(numbers)) & (np.abs(numbers) < LARGEST_EXACT))
    return numbers.astype(np.int64) if whole else numbers


def _words(texts: list[str]) -> NDArray:
    """Every text of a NumPy array takes the room of the longest, unless they are objects."""
    room = max(map(len, texts)) * len(texts)
    return np.array(texts, dtype=object if room > LARGE_TEXT else str)


def safe_spelling(label: str) -> str:
    """A label with an apostrophe in front where a spreadsheet would run it.

    Parameters
    ----------
    label : str

    Examples
    --------
    >>> safe_spelling("=1+1"), safe_spelling("cat"), safe_spelling("-1")
    ("'=1+1", 'cat', '-1')
    """
    return f"'{label}" if is_formula(label) or _is_spelled(label) else label


def plain_spelling(label: str) -> str:
    """The label that `safe_spelling` was given.

    Parameters
    ----------
    label : str

    Examples
    --------
    >>> plain_spelling("'=1+1"), plain_spelling("''=1"), plain_spelling("'tis")
    ('=1+1', "'=1", "'tis")
    """
    return label[1:] if _is_spelled(label) else label


def is_formula(label: str) -> bool:
    """Whether a spreadsheet would run a label; numbers are what they are."""
    begins = _FORMULA.match(label) is not None and not label.startswith("'")
    return begins and _NUMBER.fullmatch(label) is None


def _is_spelled(label: str) -> bool:
    return label.startswith("'") and _FORMULA.match(label) is not None
