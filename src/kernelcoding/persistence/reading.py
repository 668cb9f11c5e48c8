"""From a description and arrays to objects; nothing that is read is trusted."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from . import scikit_learn
from .archive import ModelArchive
from .checks import check_points, check_sparse_vectors
from .errors import DAMAGED, ModelFileError
from .history import FIELDS_OF_FORMAT_1, NAMES_OF_FORMAT_1, State, upgraded
from .registry import class_named, may_hold
from .values import PLAIN, SPARSE, TYPES, dtype_named, numpy_number
from .writing import CACHES

# Of our records, those that compiled code looks into, and attributes that no other object may have:
# it would pass for one.
_CHECKS = {"Points": check_points, "SparseVectors": check_sparse_vectors}
_THEIRS = ("squared_norms",)
# Values without parts, in the order in which they are looked for.
_SIMPLE = ("float", "number", "dtype", "type", "same")
_UNFINISHED = object()


class Reader:
    """Makes objects from descriptions; every array belongs in one place.

    Parameters
    ----------
    archive : ModelArchive
        From which arrays are taken.
    written_as : int
        The format of the file.
    """

    def __init__(self, archive: ModelArchive, written_as: int) -> None:
        self._archive = archive
        self.foreign: list[tuple[str, Any]] = []  # objects of scikit-learn, by name
        self._written_as = written_as
        self._made: list[Any] = []

    def rebuild(self, tree: Any) -> Any:
        """The value of a description."""
        if isinstance(tree, PLAIN):
            return tree
        if not isinstance(tree, dict):
            raise ModelFileError(DAMAGED)
        if "float" in tree:
            return float(tree["float"])
        if "number" in tree:
            return numpy_number(*tree["number"])
        if "dtype" in tree:
            return dtype_named(tree["dtype"])
        if "type" in tree:
            return TYPES[tree["type"]]
        if "same" in tree:
            return self._same(tree["same"])
        kind = next((name for name in MAKERS if name in tree), None)
        if kind is None:
            raise ModelFileError(DAMAGED)
        place = len(self._made)
        self._made.append(_UNFINISHED)
        self._made[place] = MAKERS[kind](self, tree, place)
        return self._made[place]

    def complete(self) -> None:
        """Check what compiled code will meet, when no part can change any more."""
        for name, value in self.foreign:
            scikit_learn.complete(name, value, self._archive.spend)

    def _same(self, place: Any) -> Any:
        known = type(place) is int and 0 <= place < len(self._made)
        if not known or self._made[place] is _UNFINISHED:
            raise ModelFileError(DAMAGED)
        return self._made[place]

    def _all(self, trees: list) -> list:
        return [self.rebuild(tree) for tree in trees]

    def _array(self, tree: dict, place: int) -> np.ndarray:
        return self._archive.take(tree["array"])

    def _objects(self, tree: dict, place: int) -> np.ndarray:
        array = np.empty(len(tree["objects"]), dtype=object)
        array[:] = self._all(tree["objects"])
        return array.reshape(tree["shape"])

    def _sparse(self, tree: dict, place: int) -> Any:
        data, indices, indptr = self._all(tree["sparse"])
        if data.dtype.kind not in "biufc" or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
            raise ModelFileError(DAMAGED)
        shape = tuple(tree["shape"])
        self._archive.spend(data.nbytes + indices.nbytes + indptr.nbytes)
        # Copied: arrays that it shared with another object could change after the check.
        made = SPARSE[tree["as"]]((data, indices, indptr), shape=shape, copy=True)
        made.check_format(full_check=True)  # compiled code follows the indices blindly
        return made

    def _list(self, tree: dict, place: int) -> list:
        made: list[Any] = []
        self._made[place] = made  # before its parts, which may refer to it
        made.extend(self.rebuild(item) for item in tree["list"])
        return made

    def _tuple(self, tree: dict, place: int) -> tuple:
        return tuple(self._all(tree["tuple"]))

    def _dict(self, tree: dict, place: int) -> dict:
        made: dict[Any, Any] = {}
        self._made[place] = made
        made.update((self._key(key), self.rebuild(item)) for key, item in tree["dict"])
        return made

    def _key(self, tree: Any) -> Any:
        """A key, of which the hash is known at once: tuples of tuples may take for ever."""
        key = self.rebuild(tree)
        for part in key if type(key) is tuple else (key,):
            if not isinstance(part, (*PLAIN, np.generic, np.dtype, type)):
                raise ModelFileError(DAMAGED)
        return key

    def _slice(self, tree: dict, place: int) -> slice:
        return slice(*self._all(tree["slice"]))

    def _record(self, tree: dict, place: int) -> Any:
        """A named tuple, as format 1 wrote it: without the names."""
        name, kind = self._known(tree["of"])
        items, fields = tree["record"], FIELDS_OF_FORMAT_1.get(name, ())
        if self._written_as != 1 or not fields or len(items) != len(fields):
            raise ModelFileError(DAMAGED)
        return self._make(name, kind, dict(zip(fields, items, strict=True)), place)

    def _object(self, tree: dict, place: int) -> Any:
        name, kind = self._known(tree["class"])
        return self._make(name, kind, tree["state"], place)

    def _known(self, called: Any) -> tuple[str, type]:
        """Stable name and class, from what the file calls it; anything else is refused."""
        name = NAMES_OF_FORMAT_1.get(called) if self._written_as == 1 else called
        if name is None:
            raise ModelFileError(f"the file wants {called!r}, which no model is made of.")
        return name, class_named(name)

    def _make(self, name: str, kind: type, trees: Any, place: int) -> Any:
        value: Any
        if issubclass(kind, tuple):
            value = _record_of(kind, self._state(name, trees))
        else:
            value = object.__new__(kind)
            self._made[place] = value  # before its parts, which may refer to it
            _fill(value, self._state(name, trees))
        if name in _CHECKS:
            _CHECKS[name](value)
        if name in scikit_learn.LOCATIONS:
            self.foreign.append((name, value))
        return value

    def _state(self, name: str, trees: Any) -> State:
        if not isinstance(trees, dict):
            raise ModelFileError(DAMAGED)
        state = {attribute: self.rebuild(tree) for attribute, tree in trees.items()}
        for attribute in scikit_learn.LEFT_OUT.get(name, ()):
            if attribute in state:
                raise ModelFileError(f"the file sets {attribute!r} of a {name}.")
        state = upgraded(name, state, self._written_as)
        for attribute in _THEIRS:
            if attribute in state and name not in _CHECKS:
                raise ModelFileError(f"the file sets {attribute!r} of a {name}.")
        return state


MAKERS = {
    "array": Reader._array,
    "objects": Reader._objects,
    "sparse": Reader._sparse,
    "list": Reader._list,
    "tuple": Reader._tuple,
    "dict": Reader._dict,
    "slice": Reader._slice,
    "record": Reader._record,
    "class": Reader._object,
}


def arrays_named_in(tree: Any) -> list[str]:
    """Names of the arrays that a description asks for, found as :class:`Reader` would find them."""
    names: list[str] = []
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        if not isinstance(part, dict) or any(name in part for name in _SIMPLE):
            continue
        kind = next((name for name in MAKERS if name in part), None)
        if kind == "array":
            names.append(part["array"])
        elif kind == "class":  # attributes may be called "array"
            left += part["state"].values()
        elif kind is not None:
            left.append(part[kind])
    return names


def _record_of(kind: Any, state: State) -> tuple:
    if state.keys() != set(kind._fields):
        raise ModelFileError(DAMAGED)
    return tuple.__new__(kind, (state[field] for field in kind._fields))


def _fill(value: Any, state: State) -> None:
    """Set the attributes of an object, and parameters that are newer than the file."""
    kind = type(value)
    if dataclasses.is_dataclass(kind) and state.keys() != {
        field.name for field in dataclasses.fields(kind)
    }:
        raise ModelFileError(DAMAGED)
    for name, item in state.items():
        if not may_hold(kind, name) or (name in CACHES and item is not None):
            raise ModelFileError(f"the file sets {name!r} of a {kind.__qualname__}.")
        object.__setattr__(value, name, item)
    if issubclass(kind, BaseEstimator):
        for name, parameter in inspect.signature(kind.__init__).parameters.items():
            if name not in state and parameter.default is not parameter.empty:
                object.__setattr__(value, name, parameter.default)
