"""Results as a table in Markdown: rows are methods, columns tables or numbers of atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..records import Gain, ResultGroup, ResultRecord, Summary, gains_of
from .formats import decimal, signed, size


@dataclass(frozen=True, slots=True)
class Result:
    """A row of a table of records, with its gain over its control."""

    group: ResultGroup
    gain: Gain | None


@dataclass(frozen=True, slots=True)
class Part:
    """Results that stand in one column, or in several side by side."""

    heading: str
    results: dict[str, Result]  # by method


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a column can show of a result, and its heading."""

    title: str
    text: Callable[[Result], str]


def parts_of(
    heading: str, groups: Sequence[ResultGroup], sizes: Sequence[float] | None = None
) -> list[Part]:
    """A table by its numbers of atoms; one part where it has a single one.

    Parameters
    ----------
    heading : str
        Of the part, or before the numbers of atoms; may be empty.
    groups : sequence of ResultGroup
        The rows of the table.
    sizes : sequence of float, default=None
        The numbers of atoms that are wanted; None is all.
    """
    gains = gains_of(groups)
    results = [Result(*pair) for pair in zip(groups, gains, strict=True)]
    wanted = [r for r in results if sizes is None or r.group.size in (None, *sizes)]
    found = {r.group.size: size(r.group.size) for r in wanted if r.group.size is not None}
    if len(found) < 2:
        return [Part(heading, {r.group.method: r for r in wanted})]
    columns = dict(sorted(found.items())) | {
        r.group.size: "every sample" for r in wanted if r.group.size is None
    }
    return [
        Part(
            ", ".join(filter(None, (heading, words))),
            {r.group.method: r for r in wanted if r.group.size == count},
        )
        for count, words in columns.items()
    ]


def value_text(result: Result) -> str:
    """Mean ± spread (number of splits)."""
    return _spread_text(result.group.value)


def error_text(result: Result) -> str:
    """What is missing to a hundred percent."""
    return _spread_text(result.group.over_splits(_missing), places=2)


def _missing(result: ResultRecord) -> float | None:
    return None if result.value is None else 100 - result.value


def _spread_text(summary: Summary, places: int = 1) -> str:
    mean = decimal(summary.mean, places)
    if summary.spread is None:
        return mean
    return f"{mean} ± {decimal(summary.spread, places)} ({summary.count})"


def paper_text(result: Result) -> str:
    """The paper's number."""
    return _or_empty(result.group.paper, 1)


def gain_text(result: Result) -> str:
    """Mean difference to the control ± its standard error."""
    gain = result.gain
    if gain is None:
        return ""
    return signed(gain.mean, 2) + ("" if gain.error is None else f" ± {decimal(gain.error, 2)}")


def nonzeros_text(result: Result) -> str:
    """Atoms per code."""
    return _or_empty(result.group.over_splits(lambda r: r.nonzeros or None).mean, 0)


def seconds_text(result: Result) -> str:
    """Fitting and predicting."""
    mean = result.group.over_splits(lambda r: r.seconds).mean
    return _or_empty(mean, 1 if mean is not None and mean < 10 else 0)


def memory_text(result: Result) -> str:
    """The largest of the processes."""
    return _or_empty(result.group.largest(lambda r: r.memory), 0)


def _or_empty(value: float | None, places: int) -> str:
    return "" if value is None else decimal(value, places)


QUANTITIES = {
    "value": Quantity("ours", value_text),
    "paper": Quantity("paper", paper_text),
    "gain": Quantity("gain", gain_text),
    "nonzeros": Quantity("atoms per code", nonzeros_text),
    "seconds": Quantity("seconds", seconds_text),
    "memory": Quantity("MB", memory_text),
    "error": Quantity("ours", error_text),
}
IN_ONE_PART = ("value", "paper", "gain", "nonzeros", "seconds")
MAIN = ("value", "error")  # they stand below the heading of their part


@dataclass(frozen=True, slots=True)
class Layout:
    """How parts are laid out."""

    quantities: Sequence[str] | None = None  # None: all there are in one part, values in several
    methods: dict[str, str] = field(default_factory=dict)  # rows with their names; empty: all
    corner: str = ""
    is_turned: bool = False  # methods are columns


def markdown_table(parts: Sequence[Part], layout: Layout) -> str:
    """The lines of the table.

    Parameters
    ----------
    parts : sequence of Part
    layout : Layout
    """
    methods = layout.methods or {name: name for part in parts for name in part.results}
    columns = [column for part in parts for column in _columns(part, methods, layout, len(parts))]
    table = [[layout.corner, *methods.values()], *columns]
    cells = table if layout.is_turned else [list(row) for row in zip(*table, strict=True)]
    lines = [_line(row) for row in cells]
    return "\n".join([lines[0], _line(["---"] * len(cells[0])), *lines[1:]]) + "\n"


def _columns(part: Part, methods: Iterable[str], layout: Layout, n_parts: int) -> list[list[str]]:
    names = layout.quantities or (IN_ONE_PART if n_parts == 1 else MAIN[:1])
    columns = []
    for name in names:
        quantity = QUANTITIES[name]
        found = [part.results.get(method) for method in methods]
        cells = ["" if result is None else quantity.text(result) for result in found]
        title = part.heading if name in MAIN and part.heading else quantity.title
        if layout.quantities or any(cells):
            columns.append([title, *cells])
    return columns


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
