"""How everything here is compiled: once per machine, without the interpreter lock."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
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
        return tied_to_sources(njit(nogil=True, cache=True, **options)(function))
    except RuntimeError:  # Numba: no locator available for the cache
        return njit(nogil=True, **options)(function)


def tied_to_sources(dispatcher: Callable) -> Callable:
    """Let a cached function be compiled anew when any file of this room changes.

    Numba watches only the file a function is written in, and reads the names of records before it
    looks at any date: after an upgrade it would use, or stumble over, what old files left behind.
    Its own version is the first thing it compares, so the sources go into that.
    """
    kept: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if isinstance(getattr(kept, "_version", None), str):  # else Numba has changed: as it was
        kept._version = f"{kept._version} {source_digest()}"
    return dispatcher


@cache
def source_digest() -> str:
    """A short name for the present state of all compiled sources."""
    try:
        files = sorted(Path(__file__).parent.glob("*.py"))
        content = b"".join(file.read_bytes() for file in files)
    except OSError:  # not a folder of files: then nobody edits them either
        return ""
    return hashlib.sha256(content).hexdigest()[:16]
