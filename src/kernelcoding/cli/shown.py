"""What fit says: columns and what was done with them, models and how they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from ..model_search import Outcome
from ..own_data.preparing import Treated
from .comparison import plain_table
from .console import console, note

MOST_COLUMNS = 30  # that are shown one by one; else they are counted by what was done


def columns_table(columns: Sequence[Treated]) -> Table:
    """One line per column, or per treatment where there are many columns.

    Parameters
    ----------
    columns : sequence of Treated
    """
    if len(columns) > MOST_COLUMNS:
        return _grouped(columns)
    table = plain_table("Columns", ("column", "kind", "missing"))
    table.add_column("what was done", justify="left", overflow="fold")
    for column in columns:
        missing = str(column.missing) if column.missing else ""
        table.add_row(Text(column.name), column.kind, missing, Text(column.treatment))
    return table


def _grouped(columns: Sequence[Treated]) -> Table:
    table = plain_table(f"{len(columns)} columns", ("kind", "columns"))
    table.add_column("what was done", justify="left", overflow="fold")
    groups: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        groups.setdefault((column.kind, column.treatment), []).append(column.name)
    for (kind, treatment), names in groups.items():
        which = "" if len(names) > 8 else f": {', '.join(names)}"
        table.add_row(kind, str(len(names)), Text(f"{treatment}{which}"))
    return table


def search_table(search: Mapping[str, Any]) -> Table:
    """Models, best first, with peers among them.

    Parameters
    ----------
    search : mapping
        As :meth:`~kernelcoding.model_search.Outcome.as_json` gives it, and model files keep it.
    """
    how = f"{search['folds']} folds of {search['rows_searched']:,} rows"
    if search["rows_compared"]:
        how = f"a quarter of {search['rows_compared']:,} rows left out"
    table = plain_table(f"Models: accuracy in percent, {how}", ("model", "accuracy", "spread", "s"))
    table.add_column("settings", justify="left", overflow="fold")
    for row in sorted(search["table"], key=lambda row: -(row["accuracy"] or -1.0)):
        is_kept, accuracy = row["model"] == search["kept"], row["accuracy"]
        table.add_row(
            Text(f"{'* ' if is_kept else '  '}{row['model']}", style="bold" if is_kept else ""),
            "" if accuracy is None else f"{accuracy:.1f}",
            "" if accuracy is None else f"± {row['spread']:.1f}",
            f"{row['seconds']:.1f}",
            Text(_settings(row)),
        )
    return table


def tell_search(outcome: Outcome | None, n_samples: int) -> None:
    """How models compare, which was kept, and what is to be looked at; nothing without a search.

    Parameters
    ----------
    outcome : Outcome or None
    n_samples : int
        That the model was fitted to.
    """
    if outcome is None:
        return
    console.print(search_table(outcome.as_json()))
    console.print(outcome.verdict(), markup=False, highlight=False)
    note(*outcome.size_notes(n_samples), *outcome.warnings())


def _settings(row: Mapping[str, Any]) -> str:
    if row["failure"]:
        return str(row["failure"])[:60]
    told = ", ".join(f"{name} {value}" for name, value in row["settings"].items())
    return "(for comparison)" if row["peer"] else told
