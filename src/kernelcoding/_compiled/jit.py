"""How everything here is compiled: once per machine, without the interpreter lock.

Numba is loaded, and compiles, in a thread that Ctrl-C does not reach. Broken off it would leave
half of an import or of a compilation behind, and nothing would work after that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ..parallel import wait_for

njit = wait_for(partial(import_module, "numba")).njit


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile with a cache on disk, or without one where no folder can be written.

    A read-only installation with a read-only home must still work; it only compiles anew in
    each process.
    """
    if function is None:
        return lambda inner: compiled(inner, **options)
    try:
        found = tied_to_sources(njit(nogil=True, cache=True, **options)(function))
    except RuntimeError:  # Numba: no locator available for the cache
        found = njit(nogil=True, **options)(function)
    return undisturbed(found)


def undisturbed(dispatcher: Any) -> Callable:
    """Let a function that meets new types be compiled where no interrupt can break it off."""
    compile_for = getattr(dispatcher, "_compile_for_args", None)
    if compile_for is not None:  # else Numba has changed: as it was
        dispatcher._compile_for_args = lambda *args: wait_for(partial(compile_for, *args))
    return dispatcher


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
