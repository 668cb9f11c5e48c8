"""One value: search settings on the training part, fit, ask about the test part, measure."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .. import __version__
from .artifacts import Work, artifacts, mean_nonzeros
from .asking import ask_with_codes, encoder_of, fit
from .definition import Cell, Dataset, Experiment, Split
from .material import Material, material_of
from .measure import measured
from .metrics import METRICS
from .records import SCHEMA
from .search import Choice, Lesson, atoms_for, build, choose

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
KEPT = 2  # splits whose samples and statistics a process remembers


class Bench:
    """What the cells of one split share: its indices, views of its samples, pair statistics."""

    def __init__(self, experiment: Experiment, dataset: Dataset, family: str, number: int):
        self.experiment, self.dataset = experiment, dataset
        self.split: Split = experiment.splits[family].make(dataset, number)
        self._views: dict[str, Any] = {}
        self._materials: dict[tuple[str, str], Material] = {}

    def material(self, view: str, kernel: Any) -> Material:
        """Training and test samples as a method wants them; made once."""
        if view not in self._views:
            self._views[view] = self.experiment.views[view](self.dataset, self.split)
        key = (view, repr(kernel))
        if key not in self._materials:
            samples = self._views[view]
            train, test = samples[self.split.train], samples[self.split.test]
            self._materials[key] = material_of(kernel, train, test)
        return self._materials[key]


_benches: dict[tuple[str, str, int], Bench] = {}  # of this process, by run, family and split


def bench_of(run: str, experiment: Experiment, dataset: Dataset, cell: Cell) -> Bench:
    """The bench of a cell; a process keeps those it used last."""
    key = (run, cell.table.splits, cell.split)
    bench = _benches.pop(key, None) or Bench(experiment, dataset, cell.table.splits, cell.split)
    _benches[key] = bench
    while len(_benches) > KEPT:
        del _benches[next(iter(_benches))]
    return bench


def compute(run: str, experiment: Experiment, dataset: Dataset, cell: Cell) -> dict[str, Any]:
    """The record of one cell.

    Parameters
    ----------
    run : str
        Name of the run, under which the process remembers its work.
    experiment : Experiment
    dataset : Dataset
    cell : Cell

    Returns
    -------
    record : dict
        As it is written.
    """
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            fields = _computed(bench_of(run, experiment, dataset, cell), cell)
    except Exception as error:
        error.add_note(f"in {experiment.name}, {cell.key}")
        raise
    if raised:
        heard = dict.fromkeys(str(warning.message).splitlines()[0] for warning in raised)
        fields["artifacts"]["warnings"] = list(heard)[:5]
    return {
        "kind": "result",
        "schema": SCHEMA,
        "experiment": experiment.name,
        "key": cell.key,
        "table": cell.table.name,
        "method": cell.method.name,
        "size": cell.size,
        "split": cell.split,
        "paper": cell.paper,
        **fields,
        "versions": versions(cell.method.requires),
        "finished": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _computed(bench: Bench, cell: Cell) -> dict[str, Any]:
    dataset, split, method = bench.dataset, bench.split, cell.method
    metric = METRICS[bench.experiment.metric]
    material = bench.material(method.view, method.kernel)
    target = dataset.target[split.train]
    ignored = None if dataset.ignored is None else dataset.ignored[split.train]
    n_classes = len(dataset.names)
    lesson = Lesson(material.training, target, ignored, n_classes, split.folds, metric)
    with measured() as searching:
        choice = choose(method, lesson, cell.size)
    width = choice.settings.get("width")
    n_atoms = atoms_for(cell.size, len(target), len(target))
    with measured() as working:
        training = material.training(width)
        model = fit(build(method, choice.settings, n_atoms), training.values, target)
        queries = material.queries(width)
        answers, codes = ask_with_codes(model, queries, metric, n_classes)
    if codes is None and (encoder := encoder_of(model)) is not None:
        codes = encoder.transform(queries)
    ignored = None if dataset.ignored is None else dataset.ignored[split.test]
    work = Work(model, queries, codes, answers, dataset, split)
    return {
        "seed": split.seed,
        "value": round(metric.value(dataset.target[split.test], answers, ignored), 4),
        "seconds": round(working.seconds, 4),
        "peak_memory_mb": _largest(searching.peak_memory_mb, working.peak_memory_mb),
        "nonzeros": mean_nonzeros(codes),
        "configuration": _configuration(method, choice, searching.seconds, bench.split),
        "artifacts": artifacts(work, metric),
    }


def _largest(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return round(max(known), 1) if known else None


def _configuration(method: Any, choice: Choice, seconds: float, split: Split) -> dict[str, Any]:
    kernel = None if method.kernel is None else repr(method.kernel)
    space = {**method.space, **method.head_space}
    return {
        **{name: _plain(value) for name, value in choice.settings.items()},
        "kernel": kernel,
        "view": method.view,
        "search_space": {name: [_plain(value) for value in space[name]] for name in space},
        "at_edge": list(choice.at_edge),
        "cross_validation": None if choice.score is None else round(choice.score, 3),
        "folds": len(split.folds),
        "search_seconds": round(seconds, 2),
        "training_samples": len(split.train),
        "test_samples": len(split.test),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return value.item() if isinstance(value, np.generic) else repr(value)


def versions(package: str | None = None) -> Mapping[str, str]:
    """Versions of what was computed with.

    Parameters
    ----------
    package : str, default=None
        One more than the usual ones.

    Returns
    -------
    mapping of str to str
    """
    found = {"kernelcoding": __version__, "python": platform.python_version()}
    for name in (*PACKAGES, *((package,) if package else ())):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover - depends on the installation
            found[name] = "unknown"
    return found
