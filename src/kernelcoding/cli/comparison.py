"""Our numbers beside the paper's, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from ..experiments import Row


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


def comparisons(rows: Iterable[Row]) -> Iterator[Table]:
    """One table for each table of an experiment.

    Parameters
    ----------
    rows : iterable of Row
        As :func:`kernelcoding.experiments.summarize` gives them.
    """
    for title, found in groupby(rows, key=lambda row: row.table):
        members = list(found)
        cells: dict[str, list[str | Text]] = {
            "method": [Text(row.method) for row in members],
            "atoms": ["" if row.size is None else str(row.size) for row in members],
            "ours": [_ours(row) for row in members],
            "paper": ["" if row.paper is None else f"{row.paper:.1f}" for row in members],
            "": [row.verdict for row in members],
            "splits": [str(row.n_splits) for row in members],
        }
        # Columns with nothing to say are left out: not every table is in the paper.
        cells = {name: column for name, column in cells.items() if any(column)}
        table = plain_table(title, list(cells))
        for row in zip(*cells.values(), strict=True):
            table.add_row(*row)
        yield table


def _ours(row: Row) -> str:
    spread = "" if row.deviation is None else f" ± {row.deviation:.1f}"
    return f"{row.mean:.1f}{spread}"
