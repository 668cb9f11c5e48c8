"""Our numbers beside the paper's: means and spreads over splits, from records alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        """Where we are: "better", "within spread", "below", or "" without a number to compare."""
        if self.paper is None:
            return ""
        if self.mean >= self.paper:
            return "better"
        spread = self.deviation or 0.0
        return "within spread" if self.mean + spread >= self.paper else "below"


def summarize(path: str | os.PathLike[str]) -> list[Row]:
    """Rows of a file of records, in the order of first appearance.

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
    order = {name: number for number, name in enumerate(dict.fromkeys(key[0] for key in groups))}
    return [_row(key, found) for key, found in sorted(groups.items(), key=lambda g: order[g[0][0]])]


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
