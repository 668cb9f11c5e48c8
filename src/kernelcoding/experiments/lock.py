"""One run a file: a lock that the system takes back when its owner dies, however it dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


def _lock_function() -> Callable[[IO[Any]], None]:
    try:
        import fcntl
    except ModuleNotFoundError:  # pragma: no cover - Windows
        import msvcrt

        def lock(file: IO[Any]) -> None:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

        return lock
    return lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock beside ``path``.

    Parameters
    ----------
    path : path
        The file that nobody else may write.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with lock.open("a+", encoding="utf-8") as file:
        try:
            _lock_function()(file)
        except OSError as error:
            file.seek(0)
            raise BlockingIOError(
                f"Another run (process {file.read().strip() or 'unknown'}) is writing {path}. Wait "
                "until it has ended, or write to another folder."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
