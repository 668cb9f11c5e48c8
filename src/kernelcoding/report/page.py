"""The page as data: sections, tables, figures and tiles, before it becomes HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..records import RecordedExperiment, ResultGroup, ResultRecord, Runs, Verdict, tables_of
from .class_results import Confusion, class_table, confusions
from .figures import Figure, Figures, LineStyles, history_figures, table_figures
from .formats import NONE, counted, decimal, duration, finite
from .gallery import Gallery, galleries
from .groups import titled
from .line_styles import COLOURS, line_styles_of
from .provenance import Provenance, provenance_of
from .tables import Column, PageCell, PageTable, mean_cell, results_table

METRIC_NAMES = {"accuracy": "Accuracy"}  # others are written as they are


@dataclass(frozen=True, slots=True)
class TableView:
    """A table of results with all that belongs to it."""

    anchor: str
    title: str
    results: PageTable
    figures: Figures | None
    histories: tuple[Figure, ...]
    classes: PageTable | None
    confusions: tuple[Confusion, ...]
    galleries: tuple[Gallery, ...]
    provenance: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """A section of the page."""

    anchor: str
    title: str
    protocol: str
    paper: str
    quick: bool
    facts: str
    tables: tuple[TableView, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of the overview."""

    number: str
    label: str
    style: str = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """All there is to show."""

    title: str
    tiles: tuple[Tile, ...]
    overview: PageTable
    notices: tuple[str, ...]
    experiments: tuple[ExperimentView, ...]


def page_of(runs: Runs, title: str) -> Page:
    """The whole page."""
    anchors = unique([f"x-{slug(experiment.name)}" for experiment in runs.experiments])
    tables = [tables_of(experiment.results) for experiment in runs.experiments]
    views = [
        experiment_view(anchor, experiment, rows)
        for anchor, experiment, rows in zip(anchors, runs.experiments, tables, strict=True)
    ]
    groups = [[group for table in found.values() for group in table] for found in tables]
    has_spreads = any(group.value.spread is not None for found in groups for group in found)
    rows = [
        overview_row(anchor, experiment, found, has_spreads)
        for anchor, experiment, found in zip(anchors, runs.experiments, groups, strict=True)
    ]
    return Page(title, tiles_of(runs), overview_table(rows), runs.notices, tuple(views))


def experiment_view(
    anchor: str, experiment: RecordedExperiment, tables: dict[str, list[ResultGroup]]
) -> ExperimentView:
    """One experiment, its tables as they first appear."""
    description = experiment.description
    metric = METRIC_NAMES.get(description.metric, description.metric)
    styles = line_styles_of({r.method: r.control_of for r in experiment.results})
    facts = [
        counted(len(experiment.results), "record"),
        counted(len(styles), "method"),
        duration(total_seconds(experiment.results)),
    ]
    return ExperimentView(
        anchor=anchor,
        title=experiment.title,
        protocol=description.protocol,
        paper=description.paper,
        quick=description.quick,
        facts=" · ".join(facts),
        tables=tuple(
            table_view(f"{anchor}-t{position}", title, groups, metric, table_styles(groups, styles))
            for position, (title, groups) in enumerate(tables.items(), start=1)
        ),
    )


def table_styles(groups: Sequence[ResultGroup], styles: LineStyles) -> LineStyles:
    """The experiment's line styles; where it has more methods than colours, the table's own."""
    if all(style.index < COLOURS for style in styles.values()):
        return styles
    return line_styles_of({group.method: group.control_of for group in groups})


def table_view(
    anchor: str, title: str, groups: Sequence[ResultGroup], metric: str, styles: LineStyles
) -> TableView:
    """A table with its figures and the records behind it."""
    anchors = [f"{anchor}-r{position}" for position in range(1, len(groups) + 1)]
    return TableView(
        anchor=anchor,
        title=title,
        results=results_table(title, groups, metric, anchors),
        figures=table_figures(title, groups, metric, styles),
        histories=history_figures(title, groups, styles),
        classes=class_table(title, groups, metric),
        confusions=confusions(groups),
        galleries=galleries(groups),
        provenance=tuple(provenance_of(*pair) for pair in zip(anchors, groups, strict=True)),
    )


# Overview --------------------------------------------------------------------------------------

OVERVIEW = (
    Column("Experiment", numeric=False),
    Column("Best, %", hint="Largest mean over splits"),
    Column("by", numeric=False),
    Column("Paper's best, %"),
    Column("Better", hint="Numbers above the paper's by more than the spread"),
    Column("Within spread"),
    Column("Below"),
    Column("Records"),
    Column("Time", hint="Sum over records"),
)


def overview_row(
    anchor: str, experiment: RecordedExperiment, groups: Sequence[ResultGroup], has_spreads: bool
) -> tuple[PageCell, ...]:
    """An experiment in one line."""
    title = experiment.title
    valued = [g for g in groups if g.value.mean is not None and g.control_of is None]
    best = max(valued, key=lambda group: group.value.mean or 0.0, default=None)
    paper = max((group.paper for group in groups if group.paper is not None), default=None)
    seconds = total_seconds(experiment.results)
    counts = tallies(groups)
    return (
        PageCell(title, title, link=f"#{anchor}"),
        mean_cell(best.value, has_spreads) if best else PageCell(NONE),
        PageCell(titled(best), titled(best)) if best else PageCell(NONE),
        PageCell(decimal(paper), paper),
        *(PageCell(decimal(count, 0) if any(counts) else NONE, count) for count in counts),
        PageCell(decimal(len(experiment.results), 0), len(experiment.results)),
        PageCell(duration(seconds), seconds),
    )


def overview_table(rows: Sequence[tuple[PageCell, ...]]) -> PageTable:
    """All experiments; columns that say nothing are left out."""
    keep = [any(row[i].text != NONE for row in rows) for i in range(len(OVERVIEW))]
    return PageTable(
        "Experiments",
        tuple(column for column, kept in zip(OVERVIEW, keep, strict=True) if kept),
        tuple(tuple(c for c, kept in zip(row, keep, strict=True) if kept) for row in rows),
    )


def tallies(groups: Sequence[ResultGroup]) -> tuple[int, int, int]:
    """How many numbers are better, within spread (or equal), and below."""
    verdicts = [group.verdict for group in groups]
    same = sum(verdict in (Verdict.WITHIN, Verdict.EQUAL) for verdict in verdicts)
    return verdicts.count(Verdict.BETTER), same, verdicts.count(Verdict.BELOW)


def tiles_of(runs: Runs) -> tuple[Tile, ...]:
    """The numbers at the top."""
    results = [result for experiment in runs.experiments for result in experiment.results]
    groups = [g for e in runs.experiments for t in tables_of(e.results).values() for g in t]
    counts = tallies(groups)
    compared = [
        Tile(decimal(count, 0), label, verdict.name.lower(), verdict.sign)
        for count, label, verdict in zip(
            counts,
            ("better than the paper", "within spread of it", "below it"),
            (Verdict.BETTER, Verdict.WITHIN, Verdict.BELOW),
            strict=True,
        )
    ]
    return (
        Tile(
            decimal(len(runs.experiments), 0),
            "experiment" if len(runs.experiments) == 1 else "experiments",
        ),
        Tile(decimal(len(results), 0), "record" if len(results) == 1 else "records"),
        *(compared if any(counts) else ()),
        Tile(duration(total_seconds(results)), "of computing"),
    )


def total_seconds(results: Sequence[ResultRecord]) -> float | None:
    """Time of all results."""
    return finite(sum(result.seconds or 0.0 for result in results))


def slug(name: str) -> str:
    """A name that may stand in an address."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "experiment"


def unique(names: Sequence[str]) -> list[str]:
    """Names with numbers where they repeat."""
    found: list[str] = []
    for name in names:
        candidate, count = name, 1
        while candidate in found:
            count += 1
            candidate = f"{name}-{count}"
        found.append(candidate)
    return found
