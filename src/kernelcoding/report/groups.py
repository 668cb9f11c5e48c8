"""Rows of a table by method, and how the page names them."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import ResultGroup
from .formats import size


def titled(group: ResultGroup) -> str:
    """A method with its number of atoms."""
    return group.method if group.size is None else f"{group.method}, {size(group.size)} atoms"


def by_method(groups: Sequence[ResultGroup]) -> dict[str, list[ResultGroup]]:
    """Groups of each method, by number of atoms."""
    found: dict[str, list[ResultGroup]] = {}
    for group in groups:
        found.setdefault(group.method, []).append(group)
    return found


def last_with(groups: Sequence[ResultGroup], part: str) -> list[ResultGroup]:
    """For each method the largest dictionary that has this artifact."""
    having = [g for g in groups if any(getattr(r.artifacts, part) for r in g.results)]
    return [rows[-1] for rows in by_method(having).values()]
