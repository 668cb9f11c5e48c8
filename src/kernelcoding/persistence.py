"""Fitted models as files that are safe to load: arrays and a description, no code.

A model file is a zip archive (NumPy's ``.npz``) with the numeric arrays and one JSON text that says
how they make up the model. Loading creates objects of this package's own classes, fills in their
attributes and calls nothing: a file from a stranger can at worst be a wrong model.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ._version import __version__

FORMAT = 1
PACKAGE = __name__.rpartition(".")[0]
# What a description may name beside classes of this package.
PLAIN = (bool, int, float, str, type(None))


class ModelFileError(ValueError):
    """A file that is no model of this package, or one of a version it does not know."""


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted estimator to a file, all of it or nothing.

    Parameters
    ----------
    model : estimator of this package
    path : path-like
    """
    writer = _Writer()
    tree = writer.describe(model, "model")
    text = json.dumps({"format": FORMAT, "version": __version__, "model": tree})
    path = Path(path)
    arrays: dict[str, Any] = {**writer.arrays, "description": np.array(text)}
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : estimator
        As it was saved.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        content = json.loads(str(arrays.pop("description")))
        version, tree = content["format"], content["model"]
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ModelFileError(f"{path} is not a model file of {PACKAGE}.") from error
    if version != FORMAT:
        raise ModelFileError(
            f"{path} has format {version}, written by {PACKAGE} {content.get('version')}; this "
            f"version reads format {FORMAT}."
        )
    return _Reader(arrays).rebuild(tree)


class _Writer:
    """Turns objects into descriptions and collects their arrays; shared objects stay shared."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no identity is used twice

    def describe(self, value: Any, where: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, PLAIN):
            return value if not isinstance(value, float) else {"float": repr(value)}
        if id(value) in self.seen:
            return {"same": self.seen[id(value)]}
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            parts = sparse.csr_array(value)
            pieces = [parts.data, parts.indices, parts.indptr]
            described = [self.describe(np.asarray(piece), where) for piece in pieces]
            return {"csr": described, "shape": list(value.shape)}
        return self._structure(value, where)

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype == object:
            items = [self.describe(item, where) for item in value.ravel().tolist()]
            return {"objects": items, "shape": list(value.shape)}
        name = f"array_{len(self.arrays)}"
        self.arrays[name] = value
        return {"array": name, "fortran": bool(value.flags.f_contiguous and value.ndim > 1)}

    def _structure(self, value: Any, where: str) -> Any:
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.describe(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if type(value) is dict:
            pairs = [
                [self.describe(key, where), self.describe(item, f"{where}[{key!r}]")]
                for key, item in value.items()
            ]
            return {"dict": pairs}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        cls = type(value)
        if not _is_ours(cls.__module__) or isinstance(value, type):
            raise ValueError(
                f"{where} is {value!r}, which a model file cannot hold. Models with functions, "
                "random generators or objects of other packages can only be pickled."
            )
        name_of = f"{cls.__module__}:{cls.__qualname__}"
        if isinstance(value, tuple):
            return {"record": [self.describe(item, where) for item in value], "of": name_of}
        state = {
            name: self.describe(item, f"{where}.{name}") for name, item in _state(value).items()
        }
        return {"class": name_of, "state": state}


class _Reader:
    """Makes objects from descriptions."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays
        self.made: list[Any] = []

    def rebuild(self, tree: Any) -> Any:
        if isinstance(tree, PLAIN):
            return tree
        if not isinstance(tree, dict):
            raise ModelFileError("The model file is damaged: its description makes no sense.")
        if "float" in tree:
            return float(tree["float"])
        if "same" in tree:
            return self.made[tree["same"]]
        place = len(self.made)
        self.made.append(None)
        kind = next((name for name in MAKERS if name in tree), None)
        if kind is None:
            raise ModelFileError("The model file is damaged: its description makes no sense.")
        self.made[place] = MAKERS[kind](self, tree, place)
        return self.made[place]

    def _array(self, tree: dict, place: int) -> np.ndarray:
        array = self.arrays[tree["array"]]
        return np.asfortranarray(array) if tree["fortran"] else array

    def _objects(self, tree: dict, place: int) -> np.ndarray:
        array = np.empty(len(tree["objects"]), dtype=object)
        array[:] = [self.rebuild(item) for item in tree["objects"]]
        return array.reshape(tree["shape"])

    def _csr(self, tree: dict, place: int) -> sparse.csr_array:
        parts = tuple(self.rebuild(item) for item in tree["csr"])
        return sparse.csr_array(parts, shape=tuple(tree["shape"]))

    def _list(self, tree: dict, place: int) -> list:
        return [self.rebuild(item) for item in tree["list"]]

    def _tuple(self, tree: dict, place: int) -> tuple:
        return tuple(self.rebuild(item) for item in tree["tuple"])

    def _dict(self, tree: dict, place: int) -> dict:
        return {self.rebuild(key): self.rebuild(value) for key, value in tree["dict"]}

    def _slice(self, tree: dict, place: int) -> slice:
        return slice(*tree["slice"])

    def _record(self, tree: dict, place: int) -> tuple:
        kind = _class_of(tree["of"])
        if not issubclass(kind, tuple):
            raise ModelFileError(f"The model file takes {tree['of']} for a record.")
        return tuple.__new__(kind, [self.rebuild(item) for item in tree["record"]])

    def _object(self, tree: dict, place: int) -> Any:
        kind = _class_of(tree["class"])
        value = kind.__new__(kind)
        self.made[place] = value  # before its parts, which may refer to it
        for name, item in tree["state"].items():
            object.__setattr__(value, name, self.rebuild(item))
        return value


MAKERS = {
    "array": _Reader._array,
    "objects": _Reader._objects,
    "csr": _Reader._csr,
    "list": _Reader._list,
    "tuple": _Reader._tuple,
    "dict": _Reader._dict,
    "slice": _Reader._slice,
    "record": _Reader._record,
    "class": _Reader._object,
}


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(PACKAGE + ".")


def _class_of(name: str) -> Any:
    """A class of this package by name; anything else is refused."""
    module, _, qualname = name.partition(":")
    try:
        if not _is_ours(module):
            raise AttributeError(name)
        found = getattr(importlib.import_module(module), qualname)
    except (ImportError, AttributeError, ValueError) as error:
        raise ModelFileError(f"The model file wants {name!r}, which is unknown here.") from error
    if not isinstance(found, type) or found.__module__ != module:
        raise ModelFileError(f"The model file wants {name!r}, which is no class of {PACKAGE}.")
    return found


def _state(value: Any) -> dict[str, Any]:
    """All attributes of an object, with or without a ``__dict__``."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))
