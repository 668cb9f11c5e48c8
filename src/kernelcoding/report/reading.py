"""Files of records, one JSON object a line, into experiments with results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .records import SCHEMA, Header, Result, header_of, result_of

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment and the results it has so far."""

    name: str
    header: Header
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """All experiments of a folder, and what had to be left out."""

    experiments: tuple[Experiment, ...]
    notices: tuple[str, ...]


def read_runs(source: PathLike | Iterable[PathLike]) -> Runs:
    """Read a folder of ``.jsonl`` files, a file, or several files.

    Raises
    ------
    FileNotFoundError
        If a path does not exist.
    ValueError
        If there is no result to report.
    """
    paths = files_of(source)
    experiments: list[Experiment] = []
    notices: list[str] = []
    for path in paths:
        found, problems = read_file(path)
        experiments += found
        notices += problems
    if not experiments:
        names = ", ".join(path.name for path in paths)
        details = " ".join(notices[:3])
        raise ValueError(
            f"No result in {names}: expected lines of JSON with kind 'result'. {details} "
            "Run an experiment first (kernelcoding reproduce NAME --out FOLDER).".replace("  ", " ")
        )
    return Runs(tuple(experiments), tuple(notices))


def files_of(source: PathLike | Iterable[PathLike]) -> list[Path]:
    """The files meant; those of a folder by name."""
    if not isinstance(source, str | os.PathLike):
        files = [Path(path) for path in source]
        if not files:
            raise ValueError("No files of records were given. Give a folder, or .jsonl files.")
    elif Path(source).is_dir():
        files = sorted(Path(source).glob("*.jsonl"))
        if not files:
            raise ValueError(
                f"No records in the folder {source}: expected .jsonl files. Run an experiment "
                "first (kernelcoding reproduce NAME --out FOLDER), or give another folder."
            )
    else:
        files = [Path(source)]
    missing = [path for path in files if not path.is_file()]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]} is no file of records. Give a folder of .jsonl files, or such files."
        )
    return files


def read_file(path: Path) -> tuple[list[Experiment], list[str]]:
    """Experiments with at least one result, in the order of the file, and notices."""
    headers: dict[str, Header] = {}
    results: dict[str, dict[str, Result]] = {}
    notices: list[str] = []
    lines = path.read_bytes().split(b"\n")
    last = max((index for index, line in enumerate(lines) if line.strip()), default=-1)
    for index, raw in enumerate(lines):
        if not raw.strip():
            continue
        try:
            line = parse(raw)
            name = str(line.get("experiment") or path.stem)
            if line["kind"] == "experiment":
                headers[name] = header_of(line)
                continue
            result = result_of(line, f"{path.name}, line {index + 1}")
        except (ValueError, RecursionError) as problem:
            notices.append(notice(path.name, index + 1, problem, index == last))
            continue
        headers.setdefault(name, header_of(line))
        # A line written again (a run that was resumed) takes the place of the earlier one.
        results.setdefault(name, {})[result.key] = result
    found = [
        Experiment(name, headers[name], tuple(by_key.values())) for name, by_key in results.items()
    ]
    return found, notices


def parse(raw: bytes) -> dict[str, Any]:
    """One line as an object of a kind and schema we know."""
    line = json.loads(raw.decode("utf-8"))
    if not isinstance(line, dict):
        raise ValueError("expected a JSON object")
    if line.get("schema") != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA}, got {str(line.get('schema'))[:20]}")
    if line.get("kind") not in ("experiment", "result"):
        raise ValueError(f"unknown kind {str(line.get('kind'))[:20]}")
    return line


def notice(name: str, line: int, problem: Exception, is_last: bool) -> str:
    """Say what was left out, and why."""
    if is_last and isinstance(problem, json.JSONDecodeError | UnicodeDecodeError):
        return f"{name}: the last line ({line}) is cut short and was left out."
    reason = "not JSON" if isinstance(problem, json.JSONDecodeError) else str(problem)
    return f"{name}: line {line} was left out: {reason or 'not readable'}."
