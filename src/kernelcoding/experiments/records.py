"""Files of records: one JSON object a line, written whole or not at all.

The first line of ``<experiment>.jsonl`` tells what was run, the others are finished results, or the
description again where it has changed. A line cut short by a power failure is dropped when the file
is opened again, and its work redone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA = 1


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Whole records of a file, first the one that describes the experiment.

    Parameters
    ----------
    path : str or path-like
        The file. It is not changed; a last line that was cut short is left out.

    Returns
    -------
    records : list of dict
    """
    return _parse(Path(path))[0]


class RecordFile:
    """A file of records that is continued where it ended.

    Parameters
    ----------
    path : path
        The file, made with its folder if it does not exist.
    header : mapping
        The first record. A file that was started with another experiment, or with ``quick`` other
        than here, is refused.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        records, whole = _parse(path) if path.exists() else ([], 0)
        if path.exists() and whole < path.stat().st_size:
            _cut(path, whole)
        if records:
            _check_header(path, records[0], header)
        described = [record for record in records if record["kind"] == "experiment"]
        # An experiment that has grown since is described anew: readers take the last description.
        if described[-1:] != [dict(header)]:
            self.append(header)
        self.results = [record for record in records if record["kind"] == "result"]

    @property
    def keys(self) -> set[str]:
        """Keys of the results that are in the file."""
        return {record["key"] for record in self.results}

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record; it is on the disk when this returns.

        Parameters
        ----------
        record : mapping
            Anything JSON can say; NaN and infinity it cannot.
        """
        line = json.dumps(record, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            with os.fdopen(descriptor, "ab", buffering=0, closefd=False) as file:
                file.write(line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if record["kind"] == "result":
            self.results.append(dict(record))


def _parse(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Records, and the number of bytes they take; only the last line may be broken."""
    content = path.read_bytes()
    records: list[dict[str, Any]] = []
    at = 0
    while at < len(content):
        end = content.find(b"\n", at) + 1
        record = _decode(content[at : end - 1]) if end else None
        if record is None:
            if end and content.find(b"\n", end) >= 0:
                raise ValueError(
                    f"Line {len(records) + 1} of {path} is no record: expected a JSON object with "
                    '"kind". Remove the line, or move the file away.'
                )
            break
        records.append(record)
        at = end
    return records, at


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(record, dict) and record.get("kind") in ("experiment", "result")
    return record if whole and (record["kind"] == "experiment" or "key" in record) else None


def _cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())


def _check_header(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in ("kind", "schema", "experiment", "quick"):
        if found.get(name) != wanted[name]:
            raise ValueError(
                f"{path} cannot be continued: it has {name}={found.get(name)!r}, this run "
                f"{name}={wanted[name]!r}. Write to another folder, or move the file away."
            )
