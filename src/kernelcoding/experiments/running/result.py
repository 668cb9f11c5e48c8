"""One result: search settings on the training part, fit, score the test part, measure."""

from __future__ import annotations

import platform
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from threadpoolctl import threadpool_limits

from ... import __version__
from ...records import ResultRecord
from ...records.schema import JSON
from ..definition import Cell, Dataset, Experiment, Method, Split
from .artifacts import Evaluation, artifacts, mean_nonzeros
from .fit_and_predict import answers_with_codes, encoder_of, fit_to_the_end
from .metrics import METRICS, Metric
from .resource_usage import Usage, measured
from .search import Choice, SearchTask, atoms_for, build_estimator, choose_settings
from .workspace import SplitWorkspace, workspace_of

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
MOST_WARNINGS = 5


def compute_result(run: str, experiment: Experiment, dataset: Dataset, cell: Cell) -> ResultRecord:
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
    record : ResultRecord
    """
    metric = METRICS[experiment.metric]
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            workspace = workspace_of(run, experiment, dataset, cell)
            choice, searching = _searched(workspace, cell, metric)
            done, working = _evaluated(workspace, cell, choice, metric)
            value = metric.value(done.truth, done.answers, done.ignored)
            found = artifacts(done, metric)
    except Exception as error:
        error.add_note(f"in {experiment.name}, {cell.key}")
        raise
    heard = dict.fromkeys(str(warning.message).splitlines()[0] for warning in raised)
    return ResultRecord(
        experiment=experiment.name,
        key=cell.key,
        table=cell.table.name,
        method=cell.method.name,
        control_of=cell.method.control_of,
        size=cell.size,
        split=cell.split,
        seed=workspace.split.seed,
        value=round(value, 4),
        paper=cell.paper,
        seconds=round(working.seconds, 4),
        memory=_largest(searching.peak_memory_mb, working.peak_memory_mb),
        nonzeros=mean_nonzeros(done.codes),
        configuration=_configuration(cell.method, choice, searching.seconds, workspace.split),
        versions=versions(cell.method.requires),
        finished=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        artifacts=replace(found, warnings=tuple(heard)[:MOST_WARNINGS]),
    )


def _searched(workspace: SplitWorkspace, cell: Cell, metric: Metric) -> tuple[Choice, Usage]:
    """Settings by cross-validation in the training part."""
    dataset, split = workspace.dataset, workspace.split
    task = SearchTask(
        training=workspace.inputs(cell.method.view, cell.method.kernel).training,
        target=dataset.target[split.train],
        ignored=None if dataset.ignored is None else dataset.ignored[split.train],
        n_classes=len(dataset.names),
        folds=split.folds,
        metric=metric,
    )
    with measured() as usage:
        choice = choose_settings(cell.method, task, cell.size)
    return choice, usage


def _evaluated(
    workspace: SplitWorkspace, cell: Cell, choice: Choice, metric: Metric
) -> tuple[Evaluation, Usage]:
    """The model of the chosen settings, fitted to the training part, and its answers."""
    dataset, split = workspace.dataset, workspace.split
    inputs = workspace.inputs(cell.method.view, cell.method.kernel)
    target = dataset.target[split.train]
    width = choice.settings.get("width")
    n_atoms = atoms_for(cell.size, len(target), len(target))
    with measured() as usage:
        training = inputs.training(width)
        estimator = build_estimator(cell.method, choice.settings, n_atoms)
        model = fit_to_the_end(estimator, training.values, target)
        queries = inputs.queries(width)
        answers, codes = answers_with_codes(model, queries, metric, len(dataset.names))
    if codes is None and (encoder := encoder_of(model)) is not None:
        codes = encoder.transform(queries)
    return Evaluation(model, queries, codes, answers, dataset, split), usage


def _largest(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return round(max(known), 1) if known else None


def _configuration(
    method: Method, choice: Choice, seconds: float, split: Split
) -> tuple[tuple[str, JSON], ...]:
    space = {**method.space, **method.head_space}
    said: dict[str, JSON] = {
        **{name: _plain(value) for name, value in choice.settings.items()},
        "kernel": None if method.kernel is None else repr(method.kernel),
        "view": method.view,
        "search_space": {name: [_plain(value) for value in space[name]] for name in space},
        "at_edge": list(choice.at_edge),
        "cross_validation": None if choice.score is None else round(choice.score, 3),
        "folds": len(split.folds),
        "search_seconds": round(seconds, 2),
        "training_samples": len(split.train),
        "test_samples": len(split.test),
    }
    return tuple(said.items())


def _plain(value: object) -> JSON:
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return value.item() if isinstance(value, np.generic) else repr(value)


def versions(package: str | None = None) -> tuple[tuple[str, str], ...]:
    """Versions of what was computed with.

    Parameters
    ----------
    package : str, default=None
        One more than the usual ones.

    Returns
    -------
    pairs of a name and a version
    """
    found = {"kernelcoding": __version__, "python": platform.python_version()}
    for name in (*PACKAGES, *((package,) if package else ())):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover - depends on the installation
            found[name] = "unknown"
    return tuple(found.items())
