"""Our numbers beside the paper's, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from ..records import ResultGroup, Summary


def plain_table(title: str, columns: Sequence[str]) -> Table:
    """A table without lines that fits into 80 columns; names to the left, numbers to the right.

    Parameters
    ----------
    title : str
    columns : sequence of str
        The first is the one with names.
    """
    table = Table(title=Text(title), title_justify="left", box=None, padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        table.add_column(
            column, justify="right" if position else "left", no_wrap=bool(position), overflow="fold"
        )
    return table


def comparisons(tables: Mapping[str, Sequence[ResultGroup]]) -> Iterator[Table]:
    """One table for each table of an experiment.

    Parameters
    ----------
    tables : mapping
        Rows by table, as :func:`kernelcoding.records.tables_of` gives them.
    """
    for title, groups in tables.items():
        cells: dict[str, list[str | Text]] = {
            "method": [Text(group.method) for group in groups],
            "atoms": ["" if group.size is None else f"{group.size:g}" for group in groups],
            "ours": [_mean_and_spread(group.value) for group in groups],
            "paper": ["" if group.paper is None else f"{group.paper:.1f}" for group in groups],
            "": ["" if group.verdict is None else group.verdict.value for group in groups],
            "splits": [str(group.value.count) for group in groups],
        }
        # Columns with nothing to say are left out: not every table is in the paper.
        cells = {name: column for name, column in cells.items() if any(column)}
        table = plain_table(title, list(cells))
        for row in zip(*cells.values(), strict=True):
            table.add_row(*row)
        yield table


def _mean_and_spread(value: Summary) -> str:
    if value.mean is None:
        return ""
    spread = "" if value.spread is None else f" ± {value.spread:.1f}"
    return f"{value.mean:.1f}{spread}"
