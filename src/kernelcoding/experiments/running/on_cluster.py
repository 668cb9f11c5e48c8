"""Cells on the workers of a Dask cluster, which are sent where the data is, not the data."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock

from ...datasets.home import resolve_home
from ...records import ResultRecord
from ..cache import Cache
from ..definition import Cell, Dataset, Experiment, Request
from .result import compute_result

# The last data set of this process, by the run that it was read for: cells share it.
_read: dict[str, Dataset] = {}
# What cells of a split share, and the warnings they catch, are of the process: one cell at a time.
_turn = Lock()


def records_on(
    scheduler: str, experiment: Experiment, request: Request, cells: list[Cell]
) -> Iterator[ResultRecord]:
    """Records as workers finish them.

    Parameters
    ----------
    scheduler : str
        Address of a Dask scheduler.
    experiment : Experiment
    request : Request
        Where the data set is, for workers as for this process.
    cells : list of Cell
        What to compute, one task each.
    """
    from ...distributed.calls import results_on

    run = uuid.uuid4().hex
    there = replace(
        request,
        data_home=resolve_home(request.data_home),
        download=False,  # this process has it by now
        cache=Cache(Path(request.cache.folder).absolute()),
        n_jobs=1,
    )
    return results_on(scheduler, record_here, ((run, experiment, there, cell) for cell in cells))


def record_here(run: str, experiment: Experiment, request: Request, cell: Cell) -> ResultRecord:
    """What a worker does: read the data set, once per run, and compute the record of a cell."""
    with _turn:
        if run not in _read:
            _read.clear()
            _read[run] = experiment.load(request)
        return compute_result(run, experiment, _read[run], cell)
