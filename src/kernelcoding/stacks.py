"""Stacks of samples of any kind: an array, an array of objects, or several views.

All of them have a length and choose samples by ``X[rows]``; here is what they differ in.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .views import Views

__all__ = [
    "Stack",
    "as_points",
    "identities",
    "in_memory",
    "numbered",
    "objects",
    "precision",
    "require_alike",
    "with_type",
]

Stack: TypeAlias = Any  # NDArray or Views; arrays are what most samples are


def precision(X: Stack) -> np.dtype:
    """The precision of what is computed from samples: single where they are, else double."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def with_type(X: Stack, dtype: np.dtype | type) -> Stack:
    """Samples with their numbers in another precision; objects stay as they are."""
    if isinstance(X, Views) or X.dtype.kind in "biuf":
        return X.astype(dtype, copy=False)
    return X


def in_memory(X: Stack) -> Stack:
    """Samples as plain arrays, where they were mapped from a file."""
    return X if isinstance(X, Views) else np.asarray(X)


def identities(X: Stack) -> list[Hashable]:
    """What is equal exactly for equal samples: numbers bit for bit, objects as they say."""
    if isinstance(X, Views):
        return list(zip(*(identities(stack) for stack in X.stacks.values()), strict=True))
    if X.dtype == object:
        return [one if isinstance(one, Hashable) else id(one) for one in X]
    numbers = np.ascontiguousarray(X) + 0.0  # turns -0.0 into 0.0
    return [sample.tobytes() for sample in numbers]


def as_points(given: Any, X: Stack) -> Stack:
    """What a user gives as points, as a stack of the kind that the samples are."""
    if isinstance(X, Views):
        if isinstance(given, Views):
            return given
        return np.asarray(given) if isinstance(given, (list, np.ndarray)) else Views(given)
    is_text = X.dtype == object and X.ndim == 1 and not isinstance(given, np.ndarray)
    return objects(given) if is_text and hasattr(given, "__len__") else np.asarray(given)


def objects(items: Any) -> NDArray:
    """One object per sample, shape (n,), whatever the objects are."""
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        array[place] = item
    return array


def require_alike(what: str, points: Stack, X: Stack) -> None:
    """Refuse points whose shape is not that of the samples: ValueError."""
    if isinstance(X, Views) and isinstance(points, Views):
        for name in X.names:
            own = points.require(name)
            require_alike(f"In the view {name!r}, {what}", own, X.stacks[name])
    elif isinstance(X, Views) or isinstance(points, Views):
        raise ValueError(f"{what} and samples must have the same views.")
    elif points.shape[1:] != X.shape[1:]:
        raise ValueError(
            f"{what} have shape {points.shape[1:]} each, but the samples have {X.shape[1:]}."
        )


def numbered(*parts: Stack) -> NDArray:
    """A number for every sample of all parts, the same for exact copies."""
    if isinstance(parts[0], Views):
        columns = [numbered(*(part.stacks[name] for part in parts)) for name in parts[0].names]
        rows = np.stack(columns, axis=1)
    else:
        rows = np.concatenate(parts)
    if rows.dtype == object:
        return _numbered_objects(rows)
    plain = rows.reshape(len(rows), -1)
    if plain.dtype.kind == "f":
        plain = plain + 0.0  # no negative zeros
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in plain])


def _numbered_objects(rows: NDArray) -> NDArray:
    """Texts are compared by what they say, other objects by which they are."""
    seen: dict[Any, int] = {}
    keys = [item if isinstance(item, (str, bytes)) else id(item) for item in rows.ravel()]
    width = max(1, rows.size // max(1, len(rows)))
    groups = [tuple(keys[i : i + width]) for i in range(0, len(keys), width)]
    return np.array([seen.setdefault(group, len(seen)) for group in groups])
