"""Stacks of samples of any kind: an array, sparse vectors, an array of objects, or several views.

All of them have a length and choose samples by ``X[rows]``; here is what they differ in.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .sparse_vectors import SparseVectors
from .views import Views

__all__ = [
    "Stack",
    "as_points",
    "concatenated",
    "identities",
    "in_memory",
    "numbered",
    "objects",
    "of_one_kind",
    "precision",
    "require_alike",
    "same_samples",
    "stack_of",
    "width",
    "with_type",
]

Stack: TypeAlias = Any  # NDArray, SparseVectors or Views; arrays are what most samples are


def stack_of(X: Stack) -> Stack:
    """SciPy's sparse arrays as sparse vectors, anything else as it is."""
    return SparseVectors(X) if sparse.issparse(X) else X


def precision(X: Stack) -> np.dtype:
    """The precision of what is computed from samples: single where they are, else double."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def width(X: Stack) -> int:
    """Numbers in one sample; one where samples are no arrays."""
    return int(np.prod(getattr(X, "shape", (0,))[1:]))


def with_type(X: Stack, dtype: np.dtype | type) -> Stack:
    """Samples with their numbers in another precision; objects stay as they are."""
    if isinstance(X, Views) or X.dtype.kind in "biuf":
        return X.astype(dtype, copy=False)
    return X


def in_memory(X: Stack) -> Stack:
    """Samples as plain arrays, where they were mapped from a file."""
    return X if isinstance(X, (Views, SparseVectors)) else np.asarray(X)


def concatenated(parts: Sequence[Stack]) -> Stack:
    """Samples of all parts, one after the other; sparse where one of them is."""
    parts = of_one_kind(*parts)
    if not isinstance(parts[0], SparseVectors):
        return np.concatenate(parts)
    return SparseVectors(sparse.vstack([part.tocsr() for part in parts], format="csr"))


def of_one_kind(*stacks: Stack) -> list[Stack]:
    """Stacks of vectors, all of them sparse where one is; others as they are."""
    if not any(isinstance(stack, SparseVectors) for stack in stacks):
        return list(stacks)
    return [
        stack if isinstance(stack, SparseVectors) else SparseVectors(sparse.csr_array(stack))
        for stack in stacks
    ]


def same_samples(left: Stack, right: Stack) -> bool:
    """Whether two stacks hold equal samples in the same order."""
    left, right = of_one_kind(left, right)
    if not isinstance(left, SparseVectors):
        return np.array_equal(left, right)
    return left.shape == right.shape and (left.tocsr() != right.tocsr()).nnz == 0


def identities(X: Stack) -> list[Hashable]:
    """What is equal exactly for equal samples: numbers bit for bit, objects as they say."""
    if isinstance(X, Views):
        return list(zip(*(identities(stack) for stack in X.stacks.values()), strict=True))
    if X.dtype == object:
        return [one if isinstance(one, Hashable) else id(one) for one in X]
    if isinstance(X, SparseVectors):
        starts, columns, values = X.rows
        ends = pairwise(starts)
        return [columns[a:b].tobytes() + values[a:b].tobytes() for a, b in ends]
    numbers = np.ascontiguousarray(X) + 0.0  # turns -0.0 into 0.0
    return [sample.tobytes() for sample in numbers]


def as_points(given: Any, X: Stack) -> Stack:
    """What a user gives as points, as a stack of the kind that the samples are."""
    given = stack_of(given)
    if isinstance(given, SparseVectors):
        return given
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
    elif any(isinstance(part, SparseVectors) for part in parts):
        return _numbered(identities(concatenated(parts)))
    else:
        rows = np.concatenate(parts)
    if rows.dtype == object:
        return _numbered_objects(rows)
    plain = rows.reshape(len(rows), -1)
    if plain.dtype.kind == "f":
        plain = plain + 0.0  # no negative zeros
    return _numbered(row.tobytes() for row in plain)


def _numbered(names: Iterable[Hashable]) -> NDArray:
    """A number for every name, the same for equal ones."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names])


def _numbered_objects(rows: NDArray) -> NDArray:
    """Texts are compared by what they say, other objects by which they are."""
    keys = [item if isinstance(item, (str, bytes)) else id(item) for item in rows.ravel()]
    width = max(1, rows.size // max(1, len(rows)))
    return _numbered(tuple(keys[i : i + width]) for i in range(0, len(keys), width))
