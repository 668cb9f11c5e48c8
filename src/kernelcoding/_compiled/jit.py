"""How everything here is compiled: once per machine, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile with a cache on disk, or without one where no folder can be written.

    A read-only installation with a read-only home must still work; it only compiles anew in
    each process.
    """
    if function is None:
        return lambda inner: compiled(inner, **options)
    try:
        return njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # Numba: no locator available for the cache
        return njit(nogil=True, **options)(function)
