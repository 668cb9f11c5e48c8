"""What fit says: columns and what was done with them, models and how they compare."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ..model_search import Outcome
from ..model_search.judging import Row
from ..own_data.preparing import Treated
from .comparison import plain_table

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


def search_table(outcome: Outcome) -> Table:
    """Models, best first, with peers among them.

    Parameters
    ----------
    outcome : Outcome
    """
    how = f"{outcome.n_folds} folds of {outcome.n_searched:,} rows"
    if outcome.n_compared:
        how = f"a quarter of {outcome.n_compared:,} rows left out"
    table = plain_table(
        f"Models: part of right labels in percent, {how}", ("model", "accuracy", "spread", "s")
    )
    table.add_column("settings", justify="left", overflow="fold")
    ranked = sorted((*outcome.rows, *outcome.peers), key=lambda row: -row.trial.mean)
    for row in ranked:
        is_kept = row is outcome.kept
        table.add_row(
            Text(f"{'* ' if is_kept else '  '}{row.name}", style="bold" if is_kept else ""),
            f"{100 * row.trial.mean:.1f}" if row.trial.scores else "",
            f"± {100 * row.trial.spread:.1f}" if row.trial.scores else "",
            f"{row.trial.seconds:.1f}",
            Text(_settings(row)),
        )
    return table


def _settings(row: Row) -> str:
    if row.trial.failure:
        return row.trial.failure[:60]
    told = ", ".join(f"{name} {value}" for name, value in row.settings.items())
    return "(for comparison)" if row.is_peer else told
