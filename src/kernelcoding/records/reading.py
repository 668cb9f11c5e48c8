"""Folders and files of records into experiments with their results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .json_text import refusal_of
from .parsing import ParsedLine, parse_lines
from .schema import ExperimentRecord, ResultRecord

RecordPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class RecordedExperiment:
    """An experiment and the results it has so far."""

    name: str
    description: ExperimentRecord
    results: tuple[ResultRecord, ...]

    @property
    def title(self) -> str:
        """What readers call it."""
        return self.description.title or self.name


@dataclass(frozen=True, slots=True)
class Runs:
    """All experiments of a folder, and what had to be left out."""

    experiments: tuple[RecordedExperiment, ...]
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        named = [f"{each.name} ({len(each.results)} results)" for each in self.experiments]
        return f"Runs of {', '.join(named)}; notices: {len(self.notices)}"


def read_runs(source: RecordPath | Iterable[RecordPath]) -> Runs:
    """Read a folder of ``.jsonl`` files, one file, or several files.

    A line that cannot be read is left out and named in the notices, and so is a file in UTF-16. A
    key that is written twice counts once, with its last result. Experiments of different files stay
    apart.

    Parameters
    ----------
    source : path, or several paths
        Files are not changed.

    Returns
    -------
    runs : Runs

    Raises
    ------
    FileNotFoundError
        If a path does not exist.
    ValueError
        If there is no result.
    """
    paths = files_of(source)
    experiments: list[RecordedExperiment] = []
    notices: list[str] = []
    for path in paths:
        content = path.read_bytes()
        refusal = refusal_of(content)
        if refusal:
            notices.append(f"{path.name} was left out: {refusal}.")
            continue
        lines = list(parse_lines(content, path.name))
        experiments += experiments_of(lines, path.stem)
        notices += [notice(path.name, line, line is lines[-1]) for line in lines if line.problem]
    if not experiments:
        names = ", ".join(path.name for path in paths)
        details = " ".join(notices[:3])
        raise ValueError(
            f"No result in {names}: expected lines of JSON with kind 'result'. {details} "
            "Run an experiment first (kernelcoding reproduce NAME --out FOLDER).".replace("  ", " ")
        )
    return Runs(tuple(experiments), tuple(notices))


def files_of(source: RecordPath | Iterable[RecordPath]) -> list[Path]:
    """The files that are meant; those of a folder by name."""
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


def experiments_of(lines: Sequence[ParsedLine], default: str) -> list[RecordedExperiment]:
    """Experiments with at least one result, in the order of the file.

    Parameters
    ----------
    lines : sequence of ParsedLine
        Of one file.
    default : str
        The name of an experiment whose lines do not have it.
    """
    described: dict[str, ExperimentRecord] = {}
    results: dict[str, dict[str, ResultRecord]] = {}
    for record in (line.record for line in lines):
        if record is None:
            continue
        name = record.experiment or default
        if isinstance(record, ExperimentRecord):
            described[name] = record
        else:
            # A line written again (a run that was resumed) takes the place of the earlier one.
            results.setdefault(name, {})[record.key] = record
    return [
        RecordedExperiment(name, described.get(name, ExperimentRecord(name)), tuple(found.values()))
        for name, found in results.items()
    ]


def notice(name: str, line: ParsedLine, is_last: bool) -> str:
    """Say what was left out, and why."""
    if is_last and not line.is_json:
        return f"{name}: the last line ({line.number}) is cut short and was left out."
    return f"{name}: line {line.number} was left out: {line.problem}."
