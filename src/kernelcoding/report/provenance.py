"""Where a number comes from: configuration, versions and every split behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import ResultGroup, ResultRecord
from ..records.forms import number
from ..records.schema import JSON
from .formats import NONE, counted, decimal, interval, places, scientific, setting_text
from .groups import titled
from .tables import ERROR, Column, PageCell, PageTable, error_percent, percent


@dataclass(frozen=True, slots=True)
class Provenance:
    """The records behind one number."""

    anchor: str
    title: str
    summary: str
    configuration: tuple[tuple[str, str], ...]  # what all splits share
    versions: tuple[tuple[str, str], ...]
    splits: PageTable


def provenance_of(anchor: str, group: ResultGroup) -> Provenance:
    """Settings that all splits share are given once, others in the rows of the splits."""
    configurations = [dict(result.configuration) for result in group.results]
    shared, varying = divided(configurations)
    versions, differing = divided([dict(result.versions) for result in group.results])
    return Provenance(
        anchor=anchor,
        title=titled(group),
        summary=f"{interval(group.value)} % over {counted(group.value.count, 'split')}",
        configuration=tuple((name, setting_text(value)) for name, value in shared.items()),
        versions=tuple((name, setting_text(value)) for name, value in versions.items()),
        splits=splits_table(group, varying, differing),
    )


def divided(mappings: Sequence[dict[str, JSON]]) -> tuple[dict[str, JSON], list[str]]:
    """What all mappings agree on, and the names of the rest."""
    names = list(dict.fromkeys(name for mapping in mappings for name in mapping))
    shared = {
        name: mappings[0][name]
        for name in names
        if all(name in other and other[name] == mappings[0].get(name) for other in mappings)
    }
    return shared, [name for name in names if name not in shared]


def splits_table(group: ResultGroup, settings: Sequence[str], versions: Sequence[str]) -> PageTable:
    """One row per split, with what differs between them."""
    results = group.results
    seconds = places(r.seconds for r in results)
    errors = [error_percent(result) for result in results]
    is_certified = any(
        value is not None for value in (*errors, *(r.artifacts.gap for r in results))
    )
    columns = (
        Column("Split", numeric=False),
        Column("Seed"),
        Column(percent("Value")),
        Column("Nonzeros"),
        *([Column("Gap"), Column(ERROR)] if is_certified else []),
        Column("Seconds"),
        *(Column(name, numeric=False) for name in (*settings, *versions)),
        Column("Finished", numeric=False),
        Column("Record", numeric=False),
    )
    rows = tuple(
        (
            PageCell(str(result.split) or NONE, number_or_word(result.split)),
            PageCell(str(result.seed) or NONE, number_or_word(result.seed)),
            PageCell(decimal(result.value), result.value),
            PageCell(decimal(result.nonzeros), result.nonzeros),
            *(certificate_cells(result, places(errors)) if is_certified else ()),
            PageCell(decimal(result.seconds, seconds), result.seconds),
            *(setting_cell(dict(result.configuration), name) for name in settings),
            *(setting_cell(dict(result.versions), name) for name in versions),
            PageCell(result.finished or NONE, result.finished or None),
            PageCell(result.source, result.source),
        )
        for result in results
    )
    return PageTable(f"Splits of {titled(group)}", columns, rows)


def certificate_cells(result: ResultRecord, digits: int) -> tuple[PageCell, PageCell]:
    """Gap and error of one split."""
    gap, error = result.artifacts.gap, error_percent(result)
    return PageCell(scientific(gap), gap), PageCell(decimal(error, digits), error)


def number_or_word(label: int | str) -> float | str | None:
    """What a label is sorted by: numbers, and numbers in words, as numbers."""
    word = str(label)
    try:
        value = number(float(word))
    except ValueError:
        value = None
    return value if value is not None else word or None


def setting_cell(mapping: dict[str, JSON], name: str) -> PageCell:
    """One setting of one split."""
    if name not in mapping:
        return PageCell(NONE)
    order = number(mapping[name])
    return PageCell(
        setting_text(mapping[name]), setting_text(mapping[name]) if order is None else order
    )
