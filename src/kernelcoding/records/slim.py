"""Records without what makes them large: numbers and settings to keep beside a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .file import encoded
from .reading import RecordPath, files_of, read_runs
from .schema import Artifacts, ResultRecord


def write_slim(source: RecordPath | Iterable[RecordPath], folder: RecordPath) -> list[Path]:
    """Write the records of each experiment without artifacts and search spaces.

    What is left are values, settings, seconds, memory and versions: about a tenth. The report reads
    such records as it reads others; pieces that they lack are absent.

    Parameters
    ----------
    source : path, or several paths
        As of :func:`read_runs`; these files are not changed.
    folder : path
        Gets a file ``<experiment>.jsonl`` for each experiment, in the place of an older one.

    Returns
    -------
    paths : list of Path

    Raises
    ------
    ValueError
        If there is no result, or two experiments have one name.
    FileExistsError
        If the folder holds the records themselves.
    """
    experiments = read_runs(source).experiments
    names = [experiment.name for experiment in experiments]
    if len(set(names)) < len(names):
        raise ValueError(f"Experiments of one name, in different files: {', '.join(names)}.")
    paths = [Path(folder) / f"{name}.jsonl" for name in names]
    if {path.resolve() for path in files_of(source)} & {path.resolve() for path in paths}:
        raise FileExistsError(f"{folder} holds the records themselves. Name another folder.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, experiment in zip(paths, experiments, strict=True):
        lines = [encoded(experiment.description), *map(_slim_line, experiment.results)]
        path.write_bytes(b"".join(lines))
    return paths


def _slim_line(result: ResultRecord) -> bytes:
    """The record without artifacts, the settings that were not chosen, and what is empty."""
    kept = tuple((key, x) for key, x in result.configuration if key != "search_space" and x != ())
    return encoded(replace(result, artifacts=Artifacts(), configuration=kept), empty=False)
