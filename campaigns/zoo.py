"""Forms in which samples and labels come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse


def _strided(X: NDArray) -> NDArray:
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _backwards(X: NDArray) -> NDArray:
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def _read_only(X: NDArray) -> NDArray:
    X = X.copy()
    X.setflags(write=False)
    return X


def _frame(X: NDArray) -> object:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])


def _nullable(X: NDArray) -> object:
    frame = _frame(np.round(X)).astype("Int64")  # type: ignore[attr-defined]
    frame.iloc[0, 0] = None
    return frame


def _unaligned(X: NDArray) -> NDArray:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    view = raw[1:].view(np.float64).reshape(X.shape)
    view[:] = X
    return view


def _with(value: float) -> Callable[[NDArray], NDArray]:
    def changed(X: NDArray) -> NDArray:
        X = X.copy()
        X[-1, -1] = value
        return X

    return changed


FORMS: dict[str, Callable[[NDArray], object]] = {
    "plain": lambda X: X,
    "read-only": _read_only,
    "strided": _strided,
    "backwards": _backwards,
    "unaligned": _unaligned,
    "Fortran": np.asfortranarray,
    "big-endian": lambda X: X.astype(">f8"),
    "rounded to float16": lambda X: X.astype(np.float16),
    "integers": lambda X: np.round(4 * X).astype(int),
    "small integers": lambda X: np.round(4 * X).astype(np.int8),
    "unsigned": lambda X: np.abs(np.round(4 * X)).astype(np.uint8),
    "booleans": lambda X: X > 0,
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "data frame": _frame,
    "subclass": lambda X: X.view(np.recarray),
    "words of numbers": lambda X: X.astype(str).astype(object),
    # Another problem than the plain one, or none.
    "float32": lambda X: X.astype(np.float32),
    "long double": lambda X: X.astype(np.longdouble),
    "matrix": np.asmatrix,
    "masked": lambda X: np.ma.masked_array(X, mask=X > 1),
    "CSR": sparse.csr_array,
    "one row as vector": lambda X: X[0],
    "three axes": lambda X: X[None],
    "empty": lambda X: X[:0],
    "no features": lambda X: X[:, :0],
    "one sample": lambda X: X[:1],
    "one feature less": lambda X: X[:, :-1] if X.shape[1] > 1 else X,
    "NaN": _with(np.nan),
    "infinite": _with(np.inf),
    "huge": lambda X: 1e300 * X,
    "tiny": lambda X: 1e-300 * X,
    "one huge": _with(1e200),
    "denormal": lambda X: X * 5e-324 * 1000,
    "constant": np.ones_like,
    "equal rows": lambda X: np.repeat(X[:1], len(X), axis=0),
    "far away": lambda X: X + 1e9,
    "complex": lambda X: X + 1j,
    "words": lambda X: np.full(X.shape, "word"),
    "bytes": lambda X: np.full(X.shape, b"word"),
    "dates": lambda X: np.round(X).astype("datetime64[D]"),
    "ragged": lambda X: [*X.tolist(), [1.0] * (X.shape[1] + 1)],
    "nested objects": lambda X: np.array([[None] * X.shape[1]] * len(X), object),
    "nullable data frame": _nullable,
    "nothing": lambda X: None,
    "a number": lambda X: 3.0,
    "a word": lambda X: "word",
    "a dictionary": lambda X: {"X": X},
}
_ORDER = list(FORMS)
DIFFERENT = frozenset(_ORDER[_ORDER.index("float32") :])


LABELS: dict[str, Callable[[Generator, int], object]] = {
    "numbers": lambda rng, n: np.arange(n) % 3,
    "every sample its own": lambda rng, n: np.arange(n),  # 500 classes
    "words": lambda rng, n: np.array(["a", "bb", "c c"])[np.arange(n) % 3],
    "objects": lambda rng, n: np.array(["a", "bb"], object)[np.arange(n) % 2],
    "booleans": lambda rng, n: np.arange(n) % 2 == 0,
    "big-endian": lambda rng, n: (np.arange(n) % 3).astype(">i4"),
    "one class": lambda rng, n: np.zeros(n, int),
    "floats": lambda rng, n: rng.normal(size=n),
    "whole floats": lambda rng, n: (np.arange(n) % 3).astype(float),
    "NaN": lambda rng, n: np.where(np.arange(n) % 2, np.nan, 1.0),
    "too few": lambda rng, n: np.arange(max(n - 1, 0)),
    "none": lambda rng, n: None,
    "column": lambda rng, n: (np.arange(n) % 3)[:, None],
    "indicators": lambda rng, n: np.eye(3, dtype=int)[np.arange(n) % 3],
    "mixed": lambda rng, n: np.array([1, "a"] * n, object)[:n],
    "lists": lambda rng, n: (np.arange(n) % 3).tolist(),
    "tuples": lambda rng, n: [(1, 2)] * n,
}
