"""From objects to a description and arrays."""

from __future__ import annotations

import dataclasses
import inspect
from collections import UserList
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from . import scikit_learn
from .errors import ModelFileError, unsavable
from .registry import may_hold, stable_name_of
from .values import HAS_PARTS, SPARSE, describe_value

# Attributes that name a folder of pickles, which the object would load.
CACHES = ("memory",)


class Writer:
    """Turns objects into descriptions and collects their arrays; shared objects stay shared."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.names: set[str] = set()  # of the classes met
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no identity is used twice

    def describe(self, value: Any, where: str) -> Any:
        """The description of a value; `where` it is, for messages."""
        simple = describe_value(value)
        if simple is not HAS_PARTS:
            return simple
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            parts = value if type(value).__name__ in SPARSE else sparse.csr_array(value)
            pieces = self._all((parts.data, parts.indices, parts.indptr), where)
            return {"sparse": pieces, "as": type(parts).__name__, "shape": list(parts.shape)}
        return self._structure(value, where)

    def _all(self, values: Iterable[Any], where: str) -> list:
        return [self.describe(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype == object:
            return {"objects": self._all(value.ravel().tolist(), where), "shape": value.shape}
        if value.dtype.hasobject or isinstance(value, np.ma.MaskedArray):
            raise unsavable(value, where)
        name = f"array_{len(self.arrays)}"
        self.arrays[name] = value  # in C or Fortran order, which the file keeps
        return {"array": name}

    def _structure(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind in (list, tuple):
            return {kind.__name__: self._all(value, where)}
        if isinstance(value, UserList):  # scikit-learn's lists that warn
            return {"list": self._all(value.data, where)}
        if kind is dict:
            pairs = [
                [self.describe(key, where), self.describe(item, f"{where}[{key!r}]")]
                for key, item in value.items()
            ]
            return {"dict": pairs}
        if kind is slice:
            return {"slice": self._all((value.start, value.stop, value.step), where)}
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        name = stable_name_of(type(value))
        if name is None:
            raise unsavable(value, where)
        self.names.add(name)
        try:
            scikit_learn.check(name, value)
        except ModelFileError as error:
            raise ValueError(f"{where} cannot be saved: {error}") from None
        left_out = scikit_learn.LEFT_OUT.get(name, ())
        state = {}
        for attribute, item in _attributes(value).items():
            if attribute not in left_out:
                place = f"{where}.{attribute}"
                held = isinstance(value, tuple) or may_hold(type(value), attribute)
                if not held or (attribute in CACHES and item is not None):
                    raise unsavable(item, place)
                state[attribute] = self.describe(item, place)
        return {"class": name, "state": state}


def _attributes(value: Any) -> dict[str, Any]:
    """All attributes of an object that do not follow from the others."""
    kind = type(value)
    if isinstance(value, tuple):
        return dict(zip(kind._fields, value, strict=True))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {
        name: item
        for name, item in vars(value).items()
        if not isinstance(inspect.getattr_static(kind, name, None), cached_property)
    }
