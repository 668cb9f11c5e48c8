"""Walk the cells of an experiment, skip what is in the file, write what is new, line by line."""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, zip_longest
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from ...records import ExperimentRecord, RecordFile, ResultRecord, locked
from ..cache import Cache
from ..definition import PAPER, Cell, Dataset, Experiment, Request
from .metrics import METRICS
from .on_cluster import records_on
from .orphans import end_with_parent
from .progress import RunProgress, watched
from .result import compute_result


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cells to run; None is all."""

    tables: Collection[str] | None = None
    methods: Collection[str] | None = None
    sizes: Collection[int | None] | None = None
    splits: Collection[int] | None = None

    def allows(self, cell: Cell) -> bool:
        """Whether a cell is wanted."""
        wanted = (
            (self.tables, cell.table.name),
            (self.methods, cell.method.name),
            (self.sizes, cell.size),
            (self.splits, cell.split),
        )
        return all(names is None or name in names for names, name in wanted)

    def check(self, experiment: Experiment) -> None:
        """Refuse names that the experiment does not have."""
        cells = list(experiment.cells())
        known: dict[str, set[str] | set[int] | set[int | None]] = {
            "tables": {cell.table.name for cell in cells},
            "methods": {cell.method.name for cell in cells},
            "sizes": {cell.size for cell in cells},
            "splits": {cell.split for cell in cells},
        }
        for kind, names in known.items():
            unknown = [name for name in getattr(self, kind) or () if name not in names]
            if unknown:
                raise ValueError(
                    f"{experiment.name} has no {kind} {unknown}; it has "
                    f"{sorted(names, key=lambda name: (str(type(name)), name))}."
                )


def run_experiment(
    experiment: Experiment,
    data_home: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "runs",
    n_jobs: int | None = None,
    *,
    selection: Selection = Selection(),
    download: bool = True,
    progress: bool = True,
    scheduler: str | None = None,
) -> Path:
    """Run what is not in the file of records yet.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    data_home : str or path-like, default=None
        Folder of the data sets.
    out : str or path-like, default="runs"
        Folder of the records.
    n_jobs : int, default=None
        Processes; None is one, -1 all cores. Several processes use one thread each.
    selection : Selection
        Which cells.
    download : bool, default=True
        Whether data sets may be downloaded.
    progress : bool, default=True
        Whether to say on standard error how far the run is.
    scheduler : str, default=None
        Address of a Dask scheduler, whose workers compute results instead of processes of this
        host. They read the data set from the same folder; this process alone writes records.

    Returns
    -------
    path : Path
        The file of records.
    """
    selection.check(experiment)
    folder = Path(out)
    path = folder / f"{experiment.name}.jsonl"
    with locked(path):
        file = RecordFile(path, description_of(experiment))
        finished = frozenset(file.keys)
        wanted = [cell for cell in experiment.cells() if selection.allows(cell)]
        pending = [cell for cell in wanted if cell.key not in finished and installed(cell)]
        with watched(len(pending), progress) as watcher:
            _explain(wanted, finished, path, watcher)
            if pending:
                cache = Cache(folder / ".cache")
                request = Request(data_home, download, cache, n_jobs)
                dataset = experiment.load(request)
                watcher.begin()
                cells = _possible(experiment, dataset, pending, watcher)
                found = (
                    _records(experiment, dataset, cells, n_jobs)
                    if scheduler is None
                    else records_on(scheduler, experiment, request, cells)
                )
                for record in found:
                    file.append(record)
                    watcher.done(record)
    return path


def description_of(experiment: Experiment) -> ExperimentRecord:
    """The first record of a file."""
    return ExperimentRecord(
        experiment=experiment.name,
        title=experiment.title,
        protocol=experiment.protocol,
        paper=PAPER,
        metric=METRICS[experiment.metric].name,
        quick=experiment.quick,
    )


def installed(cell: Cell) -> bool:
    """Whether the package that a method needs is there."""
    return cell.method.requires is None or find_spec(cell.method.requires) is not None


def _explain(
    wanted: list[Cell], finished: Collection[str], path: Path, watcher: RunProgress
) -> None:
    known = sum(cell.key in finished for cell in wanted)
    if known:
        watcher.say(f"{known} of {len(wanted)} results are in {path} already.")
    missing = sorted({str(cell.method.requires) for cell in wanted if not installed(cell)})
    if missing:
        watcher.say(f"Methods that need {', '.join(missing)} are left out: it is not installed.")


def _possible(
    experiment: Experiment, dataset: Dataset, pending: list[Cell], watcher: RunProgress
) -> list[Cell]:
    """Cells that the data set has samples enough for."""
    cells = []
    for cell in pending:
        if cell.size is None or cell.size <= _training_samples(experiment, dataset, cell):
            cells.append(cell)
        else:
            watcher.say(f"{cell.key} is left out: more atoms than training samples.")
    return cells


def _records(
    experiment: Experiment, dataset: Dataset, cells: list[Cell], n_jobs: int | None
) -> Iterator[ResultRecord]:
    """Records as they are finished, in any order if there are several processes."""
    run = uuid.uuid4().hex
    workers = min(effective_n_jobs(n_jobs), max(1, len(cells)))
    if workers == 1:
        for cell in cells:
            yield compute_result(run, experiment, dataset, cell)
        return
    # One BLAS thread per process: the cores are taken already.
    with parallel_config(backend="loky", n_jobs=workers, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")(
            delayed(_in_worker)(run, experiment, dataset, cell)
            for cell in interleaved(cells, workers)
        )


def _in_worker(run: str, experiment: Experiment, dataset: Dataset, cell: Cell) -> ResultRecord:
    """A result computed in a process of its own, which ends with the one that started it."""
    end_with_parent()
    return compute_result(run, experiment, dataset, cell)


def _training_samples(experiment: Experiment, dataset: Dataset, cell: Cell) -> int:
    return len(experiment.splits[cell.table.splits].make(dataset, cell.split).train)


def interleaved(cells: list[Cell], workers: int) -> list[Cell]:
    """Cells in an order that gives each of the workers a split of its own for a while."""
    by_split: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        by_split.setdefault((cell.table.splits, cell.split), []).append(cell)
    groups = list(by_split.values())
    ordered: list[Cell] = []
    for first in range(0, len(groups), workers):
        turns = zip_longest(*groups[first : first + workers])
        ordered += [cell for cell in chain.from_iterable(turns) if cell is not None]
    return ordered
