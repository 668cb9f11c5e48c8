"""What all fetchers return: the same fields, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .obtain import description

Fields: TypeAlias = dict[str, Any]  # of a Bunch, by name
Fetched: TypeAlias = Bunch | tuple[list[str] | NDArray, NDArray]  # all fields; data and target

_Key = TypeVar("_Key")
_Choice = TypeVar("_Choice")
_COMMON: Fields = {"files": None, "train": None, "test": None}


def choice_of(table: Mapping[_Key, _Choice], name: str, value: _Key) -> _Choice:
    """Entry of a table of choices, or an error that lists them."""
    if value not in table:
        raise ValueError(f"Expected {name} to be one of {list(table)}, got {value!r}.")
    return table[value]


def finish(fields: Fields, name: str, return_X_y: bool) -> Fetched:
    """Bunch of a set from what its reader found, or data and target only."""
    fields = _COMMON | fields
    data, target = fields["data"], np.asarray(fields["target"], dtype=np.int64)
    if len(data) != len(target):
        raise ValueError(
            f"Expected one label per sample, got {len(data)} and {len(target)} ({name})."
        )
    if return_X_y:
        return data, target
    fields["target"] = target
    fields["target_names"] = np.array(fields["target_names"])
    return Bunch(**fields, DESCR=description(name))
