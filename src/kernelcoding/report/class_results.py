"""Results of each class: values and confusion matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..records import Artifacts, ResultGroup, summarize
from .confusion_matrices import confusion_chart
from .formats import counted, decimal
from .groups import last_with, titled
from .tables import Column, PageCell, PageTable


@dataclass(frozen=True, slots=True)
class Confusion:
    """A method's confusion matrix, summed over splits."""

    title: str
    splits: str
    picture: str


def class_table(caption: str, groups: Sequence[ResultGroup], metric: str) -> PageTable | None:
    """Values of each class, one column per method, means over splits."""
    chosen = last_with(groups, "per_class")
    if not chosen:
        return None
    values = [class_means(result.artifacts for result in group.results) for group in chosen]
    names = list(dict.fromkeys(name for means in values for name in means))
    columns = (Column("Class", numeric=False), *(Column(titled(group)) for group in chosen))
    rows = []
    for name in names:
        numbers = [means.get(name) for means in values]
        ours = [n for n, g in zip(numbers, chosen, strict=True) if g.control_of is None]
        best = max((number for number in ours if number is not None), default=None)
        cells = (
            class_cell(n, n is not None and n == best and g.control_of is None and len(chosen) > 1)
            for n, g in zip(numbers, chosen, strict=True)
        )
        rows.append((PageCell(name, name), *cells))
    return PageTable(f"{caption}: {metric} of each class, %", columns, tuple(rows))


def class_cell(value: float | None, is_best: bool) -> PageCell:
    """A number; the best of its row is set in bold."""
    return PageCell(decimal(value), value, style="best" if is_best else "")


def class_means(artifacts: Iterable[Artifacts]) -> dict[str, float]:
    """Mean over splits of each class."""
    found: dict[str, list[float]] = {}
    for part in artifacts:
        for name, value in part.per_class:
            found.setdefault(name, []).append(value)
    return {name: summarize(values).mean or 0.0 for name, values in found.items()}


def confusions(groups: Sequence[ResultGroup]) -> tuple[Confusion, ...]:
    """Counts summed over the splits that have the same classes."""
    found = []
    for group in last_with(groups, "confusion"):
        parts = [r.artifacts for r in group.results if r.artifacts.confusion]
        classes = parts[0].classes
        same = [part.confusion for part in parts if part.classes == classes]
        counts = [
            [sum(cells) for cells in zip(*rows, strict=True)] for rows in zip(*same, strict=True)
        ]
        label = f"Confusion matrix of {titled(group)}, rows are the truth"
        splits = counted(len(same), "split")
        found.append(Confusion(titled(group), splits, confusion_chart(classes, counts, label)))
    return tuple(found)
