"""A file of records while it grows: lines are appended whole or not at all, by one run at a time.

The first line of ``<experiment>.jsonl`` describes the experiment, the others are results, or the
description again where it has changed. A last line that is damaged, by a power failure or a full
disk, is moved to ``<experiment>.jsonl.damaged`` when the file is opened again, with a warning, and
its result is computed again. A last line that lacks nothing but its newline is kept.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .json_text import refusal_of
from .parsing import ParsedLine, parse_lines
from .schema import ExperimentRecord, Record, ResultRecord


class RecordFile:
    """A file of records that is continued where it ended.

    Parameters
    ----------
    path : path
        The file, made with its folder if it does not exist.
    description : ExperimentRecord
        The first line. A file that was started with another experiment, or with ``quick`` other
        than here, is refused.

    Attributes
    ----------
    keys : set of str
        Keys of the results that are in the file.
    """

    def __init__(self, path: Path, description: ExperimentRecord):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if path.exists() else b""
        lines, damaged = _divided(path, content)
        found = [line.record for line in lines if line.record is not None]
        if found:
            _check_same_run(path, found[0], description)
        # The file is whole before anything is added to it, and is not touched if it is refused.
        if damaged is not None:
            _set_aside(path, damaged, content)
        elif lines and not content.endswith(b"\n"):
            _add(path, b"\n")
        self.keys = {record.key for record in found if isinstance(record, ResultRecord)}
        described = [record for record in found if isinstance(record, ExperimentRecord)]
        # An experiment that has grown since is described anew: readers take the last description.
        if described[-1:] != [description]:
            self.append(description)

    def append(self, record: Record) -> None:
        """Add one record; it is on the disk when this returns.

        Parameters
        ----------
        record : ExperimentRecord or ResultRecord
        """
        _add(self.path, encoded(record))
        if isinstance(record, ResultRecord):
            self.keys.add(record.key)


def encoded(record: Record, empty: bool = True) -> bytes:
    """The line of a file that holds a record, with its newline; without ``empty``, what is there.

    Its numbers must be finite: JSON has no others.
    """
    fields = record.as_line()
    if not empty:
        fields = {name: value for name, value in fields.items() if value not in (None, "", {})}
    line = json.dumps(fields, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return line.encode() + b"\n"


def _divided(path: Path, content: bytes) -> tuple[list[ParsedLine], ParsedLine | None]:
    """The lines of a file, and the last one apart if it is damaged."""
    refusal = refusal_of(content)
    if refusal:
        raise ValueError(f"{path} cannot be continued: {refusal}. Or write to another folder.")
    lines = list(parse_lines(content, path.name))
    damaged = lines.pop() if lines and not lines[-1].is_json else None
    for line in lines:
        if line.problem:
            raise ValueError(
                f"{path} cannot be continued: line {line.number} is no record: {line.problem}. "
                "Remove the line, or write to another folder."
            )
    return lines, damaged


def _set_aside(path: Path, line: ParsedLine, content: bytes) -> None:
    """Move a damaged last line to a file of its own: it may be somebody's only copy."""
    aside = path.with_name(f"{path.name}.damaged")
    _add(aside, content[line.start :].rstrip(b"\n") + b"\n")
    with path.open("r+b") as file:
        file.truncate(line.start)
        os.fsync(file.fileno())
    warnings.warn(
        f"{path}: the last line ({line.number}) is damaged. It was moved to {aside.name}, and its "
        "result will be computed again.",
        UserWarning,
        stacklevel=3,
    )


def _add(path: Path, content: bytes) -> None:
    """Append to a file; it is on the disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        with os.fdopen(descriptor, "ab", buffering=0, closefd=False) as file:
            left = memoryview(content)
            while left:  # a disk that becomes full takes a part without a word
                left = left[file.write(left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_same_run(path: Path, found: Record, wanted: ExperimentRecord) -> None:
    before, now = found.as_line(), wanted.as_line()
    for name in ("kind", "experiment", "quick"):
        if before.get(name) != now[name]:
            raise ValueError(
                f"{path} cannot be continued: it has {name}={before.get(name)!r}, this run "
                f"{name}={now[name]!r}. Write to another folder, or move the file away."
            )


def _lock_function() -> Callable[[IO[str]], None]:
    try:
        import fcntl
    except ModuleNotFoundError:  # pragma: no cover - Windows
        import msvcrt

        def lock(file: IO[str]) -> None:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

        return lock
    return lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock beside a file; the system takes it back when its owner dies, however it dies.

    Parameters
    ----------
    path : path
        The file that no other process may write.

    Raises
    ------
    BlockingIOError
        If another process holds the lock.
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
