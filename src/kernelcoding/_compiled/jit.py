"""How everything here is compiled: once per machine, without the interpreter lock.

Numba is loaded, and compiles, in a thread that Ctrl-C does not reach. Broken off it would leave
half of an import or of a compilation behind, and nothing would work after that.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..parallel import wait_for

numba = wait_for(partial(import_module, "numba"))
njit = numba.njit

# Versions of Numba that parts and wholes (``linking.py``) were tested with.
OLDEST, NEWEST = (0, 61), (0, 68)
LONG = 2.0  # seconds of compiling after which people are told what they wait for


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile a function that Python calls, with a cache on disk where a folder can be written.

    A read-only installation with a read-only home must still work; it only compiles anew in
    each process.
    """
    if function is None:
        return lambda inner: compiled(inner, **options)
    plain = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    options = plain | options | _compiler("WholeCompiler")
    try:
        found = tied_to_sources(njit(cache=True, **options)(function))
    except RuntimeError:  # Numba: no locator available for the cache
        found = njit(**options)(function)
    return undisturbed(quick(found))


def part(function: Callable | None = None, **options: Any) -> Callable:
    """Compile a function that only compiled code calls: it is kept with those that call it."""
    if function is None:
        return lambda inner: part(inner, **options)
    # No wrappers that Python would need to call it.
    bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    found = njit(nogil=True, **(bare | options | _compiler("PartCompiler")))(function)
    return quick(hidden(found))


def hidden(dispatcher: Any) -> Any:
    """Let Python's calls of a part end in an error, not in a crash."""

    def refuse(*args: Any) -> None:
        raise TypeError(f"{dispatcher.__name__} is a part: only compiled code can call it.")

    if hasattr(dispatcher, "_compile_for_args"):  # else nothing is compiled
        dispatcher._compile_for_args = refuse
        dispatcher._insert = lambda *args: None
    return dispatcher


def undisturbed(dispatcher: Any) -> Callable:
    """Let a function that meets new types be compiled where no interrupt can break it off."""
    compile_for = getattr(dispatcher, "_compile_for_args", None)
    if compile_for is not None:  # else Numba has changed: as it was

        def compile_alone(*args: Any) -> Any:
            with told(), without_collecting():
                return wait_for(partial(remembering, compile_for, *args))

        dispatcher._compile_for_args = compile_alone
    return dispatcher


@contextmanager
def told() -> Iterator[None]:
    """Say once per process what a long wait is for."""
    timer = threading.Timer(LONG, _tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@cache
def _tell() -> None:
    # Python shows warnings where nobody has set up logging: somebody is there who waits.
    level = logging.WARNING if _is_watched() else logging.INFO
    logging.getLogger("kernelcoding").log(
        level, "Compiling, once per machine; `kernelcoding warm-up` compiles everything at one go."
    )


def _is_watched() -> bool:
    """Whether somebody reads the error stream as it is written: in a terminal or a notebook."""
    return "ipykernel" in sys.modules or bool(sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def without_collecting() -> Iterator[None]:
    """Compiling makes many objects and few cycles: looking for these is a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def remembering(compile_for: Callable, *args: Any) -> Any:
    """Compile; what an operation on some types gives is looked up once."""
    module = linking()
    with nullcontext() if module is None else module.remembered_types():
        return compile_for(*args)


def _compiler(name: str) -> dict[str, Any]:
    """The option that selects a compiler of ours; none for versions of Numba not tested."""
    module = linking()
    return {} if module is None else {"pipeline_class": getattr(module, name)}


def quick(dispatcher: Any) -> Any:
    """Let options of compilations be compared quickly."""
    module, compiler = linking(), getattr(dispatcher, "_compiler", None)
    if module is not None and compiler is not None:  # else as it was, or not compiled at all
        compiler._customize_flags = module.QuickFlags
    return dispatcher


@cache
def linking() -> ModuleType | None:
    """Our compilers, or None if Numba is a version that they were not tested with."""
    version = tuple(int(number) for number in numba.__version__.split(".")[:2])
    if not OLDEST <= version <= NEWEST:
        return None
    return import_module("kernelcoding._compiled.linking")


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
