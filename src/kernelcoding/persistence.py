"""Fitted models as files that are safe to load: arrays and a description, no code.

A model file is a zip archive (NumPy's ``.npz``) with the numeric arrays and one JSON text that says
how they make up the model. Loading creates objects of the classes that models are made of, fills in
their attributes and calls none of their code: what can be said in a file is a wrong model at worst.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import os
import uuid
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import MemberDescriptorType
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ._version import __version__

FORMAT = 1
PACKAGE = __name__.rpartition(".")[0]
# Where the classes of models live. Rooms that read files, print or download are not among them.
ROOMS = {
    *("aggregation", "classification", "coders", "constraints", "dictionary", "formulation"),
    *("gram", "images", "kernels", "learning", "penalty", "priors", "problem"),
}
# What a description holds as it is.
PLAIN = (bool, int, float, str, type(None))
SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}
# Attributes that name a folder of pickles, which the object would load.
CACHES = ("memory",)
DAMAGED = "the description makes no sense, the file is damaged."
_UNFINISHED = object()


class ModelFileError(ValueError):
    """A file that is no model of this package, or one of a version it does not know."""


def save(model: Any, path: str | os.PathLike) -> None:
    """Write an estimator to a file, all of it or nothing.

    Parameters
    ----------
    model : estimator of this package
        Fitted or not. Its parameters must not be functions, random generators or objects of other
        packages: a file of data cannot hold them.
    path : path-like
        An old file of that name is replaced when the new one is complete.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from kernelcoding import KernelSparseCoder, persistence
    >>> coder = KernelSparseCoder().fit(np.eye(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persistence.save(coder, Path(folder) / "model.kc")
    ...     again = persistence.load(Path(folder) / "model.kc")
    >>> np.array_equal(again.transform(np.eye(3)), coder.transform(np.eye(3)))
    True
    """
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"Expected an estimator of {PACKAGE}, got a {type(model).__qualname__}.")
    writer = _Writer()
    tree = writer.describe(model, "model")
    text = json.dumps({"format": FORMAT, "version": __version__, "model": tree})
    arrays: dict[str, Any] = {**writer.arrays, "description": np.array(text)}
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save the model in.")
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            np.savez_compressed(file, **arrays)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : path-like
        A file written by :func:`save`, of whatever origin.

    Returns
    -------
    model : estimator
        As it was saved.

    Raises
    ------
    ModelFileError
        If the file is anything else, is damaged, or names what models are not made of.
    """
    with open(path, "rb") as file:
        try:
            return _read(file)
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from error
        except Exception as error:  # what is not ours fails in more ways than can be listed
            raise ModelFileError(f"{path} is not a model file of {PACKAGE}.") from error


def _read(file: IO[bytes]) -> Any:
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    content = json.loads(str(arrays.pop("description")))
    version, tree = content["format"], content["model"]
    if version != FORMAT:
        raise ModelFileError(
            f"the file has format {version}, written by {PACKAGE} {content.get('version')}; this "
            f"version reads format {FORMAT}."
        )
    reader = _Reader(arrays)
    model = reader.rebuild(tree)
    if not isinstance(model, BaseEstimator) or reader.arrays:
        raise ModelFileError(DAMAGED)
    return model


class _Writer:
    """Turns objects into descriptions and collects their arrays; shared objects stay shared."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no identity is used twice

    def describe(self, value: Any, where: str) -> Any:
        if isinstance(value, (np.number, np.bool_)):  # their precision decides that of results
            return {"number": [value.dtype.str, value.tobytes().hex()]}
        if isinstance(value, PLAIN):
            return {"float": repr(value)} if isinstance(value, float) else value
        if id(value) in self.seen:
            return {"same": self.seen[id(value)]}
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
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
            raise _unsavable(value, where)
        name = f"array_{len(self.arrays)}"
        self.arrays[name] = value  # in C or Fortran order, which the file keeps
        return {"array": name}

    def _structure(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind in (list, tuple):
            return {kind.__name__: self._all(value, where)}
        if kind is dict:
            pairs = [
                [self.describe(key, where), self.describe(item, f"{where}[{key!r}]")]
                for key, item in value.items()
            ]
            return {"dict": pairs}
        if kind is slice:
            return {"slice": self._all((value.start, value.stop, value.step), where)}
        name = f"{kind.__module__}:{kind.__qualname__}"
        try:
            _class_of(name)
        except ModelFileError:
            raise _unsavable(value, where) from None
        if isinstance(value, tuple):
            return {"record": self._all(value, where), "of": name}
        return {"class": name, "state": self._state(value, where)}

    def _state(self, value: Any, where: str) -> dict[str, Any]:
        state = {}
        for name, item in _attributes(value).items():
            if isinstance(inspect.getattr_static(type(value), name, None), cached_property):
                continue  # follows from the others: a file that says otherwise would be wrong
            if not _may_hold(type(value), name) or (name in CACHES and item is not None):
                raise _unsavable(item, f"{where}.{name}")
            state[name] = self.describe(item, f"{where}.{name}")
        return state


class _Reader:
    """Makes objects from descriptions; every array belongs in one place."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays
        self.made: list[Any] = []

    def rebuild(self, tree: Any) -> Any:
        if isinstance(tree, PLAIN):
            return tree
        if not isinstance(tree, dict):
            raise ModelFileError(DAMAGED)
        if "float" in tree:
            return float(tree["float"])
        if "number" in tree:
            return _number(*tree["number"])
        if "same" in tree:
            return self._same(tree["same"])
        kind = next((name for name in MAKERS if name in tree), None)
        if kind is None:
            raise ModelFileError(DAMAGED)
        place = len(self.made)
        self.made.append(_UNFINISHED)
        self.made[place] = MAKERS[kind](self, tree, place)
        return self.made[place]

    def _same(self, place: Any) -> Any:
        known = type(place) is int and 0 <= place < len(self.made)
        if not known or self.made[place] is _UNFINISHED:
            raise ModelFileError(DAMAGED)
        return self.made[place]

    def _all(self, trees: list) -> list:
        return [self.rebuild(tree) for tree in trees]

    def _array(self, tree: dict, place: int) -> np.ndarray:
        array = self.arrays.pop(tree["array"])
        if not isinstance(array, np.ndarray):
            raise ModelFileError(DAMAGED)
        return array

    def _objects(self, tree: dict, place: int) -> np.ndarray:
        array = np.empty(len(tree["objects"]), dtype=object)
        array[:] = self._all(tree["objects"])
        return array.reshape(tree["shape"])

    def _sparse(self, tree: dict, place: int) -> Any:
        data, indices, indptr = self._all(tree["sparse"])
        if data.dtype.kind not in "biufc" or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
            raise ModelFileError(DAMAGED)
        made = SPARSE[tree["as"]]((data, indices, indptr), shape=tuple(tree["shape"]))
        made.check_format(full_check=True)  # compiled code follows the indices blindly
        return made

    def _list(self, tree: dict, place: int) -> list:
        made: list[Any] = []
        self.made[place] = made  # before its parts, which may refer to it
        made.extend(self.rebuild(item) for item in tree["list"])
        return made

    def _tuple(self, tree: dict, place: int) -> tuple:
        return tuple(self._all(tree["tuple"]))

    def _dict(self, tree: dict, place: int) -> dict:
        made: dict[Any, Any] = {}
        self.made[place] = made
        made.update((self.rebuild(key), self.rebuild(item)) for key, item in tree["dict"])
        return made

    def _slice(self, tree: dict, place: int) -> slice:
        return slice(*self._all(tree["slice"]))

    def _record(self, tree: dict, place: int) -> tuple:
        kind = _class_of(tree["of"])
        items = self._all(tree["record"])
        if not issubclass(kind, tuple) or len(items) != len(kind._fields):
            raise ModelFileError(DAMAGED)
        return tuple.__new__(kind, items)

    def _object(self, tree: dict, place: int) -> Any:
        kind = _class_of(tree["class"])
        value = object.__new__(kind)
        self.made[place] = value
        state = tree["state"]
        if dataclasses.is_dataclass(kind) and set(state) != {
            f.name for f in dataclasses.fields(kind)
        }:
            raise ModelFileError(DAMAGED)
        for name, item in state.items():
            if not _may_hold(kind, name) or (name in CACHES and item is not None):
                raise ModelFileError(f"the file sets {name!r} of a {kind.__qualname__}.")
            object.__setattr__(value, name, self.rebuild(item))
        return value


MAKERS = {
    "array": _Reader._array,
    "objects": _Reader._objects,
    "sparse": _Reader._sparse,
    "list": _Reader._list,
    "tuple": _Reader._tuple,
    "dict": _Reader._dict,
    "slice": _Reader._slice,
    "record": _Reader._record,
    "class": _Reader._object,
}


def _number(dtype: str, content: str) -> np.generic:
    kind = np.dtype(dtype)
    if kind.kind not in "biufc":
        raise ModelFileError(DAMAGED)
    (number,) = np.frombuffer(bytes.fromhex(content), kind)
    return number


def _class_of(name: str) -> Any:
    """A class that models are made of, by name; anything else is refused."""
    module, _, qualname = name.partition(":")
    room, _, _ = module.removeprefix(PACKAGE + ".").partition(".")
    try:
        if not module.startswith(PACKAGE + ".") or room not in ROOMS:
            raise ImportError(module)
        found = getattr(importlib.import_module(module), qualname)
    except (ImportError, AttributeError) as error:
        raise ModelFileError(f"the file wants {name!r}, which is unknown here.") from error
    if not isinstance(found, type) or found.__module__ != module:
        raise ModelFileError(f"the file wants {name!r}, which no model is made of.")
    return found


def _may_hold(kind: type, name: str) -> bool:
    """Whether an attribute is data: not Python's own, nor in the place of a method or property."""
    found = inspect.getattr_static(kind, name, None)
    known = isinstance(found, MemberDescriptorType) or not hasattr(type(found), "__get__")
    return name.isidentifier() and not name.startswith("__") and known


def _attributes(value: Any) -> dict[str, Any]:
    """All attributes of an object, with or without a ``__dict__``."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))


def _unsavable(value: Any, where: str) -> ValueError:
    kind = type(value)
    return ValueError(
        f"{where} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold. "
        "Models with functions, random generators or objects of other packages can only be pickled."
    )
