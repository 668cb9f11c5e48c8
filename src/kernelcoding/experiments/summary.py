"""Our numbers beside the paper's: means and spreads over splits, from records alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..report.statistics import Summary, judge
from .records import read_records


@dataclass(frozen=True, slots=True)
class Row:
    """One method at one size, over the splits that were run."""

    table: str
    method: str
    size: int | None
    mean: float  # percent
    deviation: float | None  # over splits; None for one split
    n_splits: int
    paper: float | None
    seconds: float  # mean

    @property
    def verdict(self) -> str:
        """Where we are, as the report says it; "" without a number to compare."""
        found = judge(Summary(self.mean, self.deviation, self.n_splits), self.paper)
        return "" if found is None else found.value


def summarize(path: str | os.PathLike[str]) -> list[Row]:
    """Rows of a file of records: tables and methods as they first appear, sizes ascending.

    Parameters
    ----------
    path : str or path-like
        ``<experiment>.jsonl``.

    Returns
    -------
    rows : list of Row
    """
    groups: dict[tuple[str, str, int | None], list[dict[str, Any]]] = {}
    for record in read_records(path):
        if record["kind"] == "result":
            key = (record["table"], record["method"], record["size"])
            groups.setdefault(key, []).append(record)
    tables, methods = (list(dict.fromkeys(key[part] for key in groups)) for part in range(2))

    def place(key: tuple[str, str, int | None]) -> tuple[int, int, int]:
        table, method, size = key
        return tables.index(table), methods.index(method), size or 0

    return [_row(key, groups[key]) for key in sorted(groups, key=place)]


def _row(key: tuple[str, str, int | None], records: list[dict[str, Any]]) -> Row:
    values = np.array([record["value"] for record in records])
    return Row(
        *key,
        mean=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        n_splits=len(values),
        paper=records[0]["paper"],
        seconds=float(np.mean([record["seconds"] for record in records])),
    )
