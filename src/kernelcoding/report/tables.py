"""Tables of the page: cells that carry both their words and the number they are sorted by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..records import Gain, ResultGroup, ResultRecord, Summary, gains_of
from .charts import interval_chart
from .formats import NONE, decimal, finite, places, scientific, signed, size
from .svg import padded

NO_SPREAD = "\u00a0"
GAP, ERROR = "Gap, at most", "Error,\u00a0%"
CERTIFICATES = (
    "Gap: a certificate, computed from the finished codes, whatever solver made them. In no split "
    "does the objective of a test sample's code lie further above its minimum; a dash where a "
    "split has no such bound. It is loose for matching pursuit, whose problem is combinatorial. "
    "Error: mean squared distance from samples to what their codes make of the atoms, in percent "
    "of the atoms' squared norm."
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column and whether it holds numbers."""

    title: str
    numeric: bool = True
    hint: str = ""
    sortable: bool = True


@dataclass(frozen=True, slots=True)
class PageCell:
    """Words, what they are sorted by (None comes last), and perhaps a link or a picture."""

    text: str
    order: float | str | None = None
    link: str = ""
    style: str = ""
    sign: str = ""
    picture: str = ""
    note: str = ""  # set apart, so that numbers of a column stand below each other


@dataclass(frozen=True, slots=True)
class PageTable:
    """A sortable table; the first cell of a row names it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    note: str = ""  # below it


def results_table(
    caption: str, groups: Sequence[ResultGroup], metric: str, anchors: Sequence[str]
) -> PageTable:
    """Our numbers beside the paper's, with what they cost; empty columns are left out."""
    parts = [
        [(Column("Method", numeric=False), [PageCell(g.method, g.method) for g in groups])],
        [size_column(groups)],
        our_columns(groups, metric, anchors),
        [gain_column(groups)],
        paper_columns(groups),
        [
            (
                Column("Splits", hint="Splits that have a number"),
                [PageCell(decimal(g.value.count, 0), g.value.count) for g in groups],
            )
        ],
        [
            mean_column(groups, "Nonzeros", "Mean number of atoms per code", lambda r: r.nonzeros),
            *certificate_columns(groups),
            mean_column(groups, "Seconds", "Mean over splits", lambda r: r.seconds),
        ],
    ]
    present = [
        (c, cells) for part in parts for c, cells in part if any(x.text != NONE for x in cells)
    ]
    rows = zip(*(cells for _, cells in present), strict=True)
    columns = tuple(column for column, _ in present)
    is_certified = {GAP, ERROR} & {column.title for column in columns}
    return PageTable(caption, columns, tuple(rows), CERTIFICATES if is_certified else "")


Filled = tuple[Column, list[PageCell]]


def size_column(groups: Sequence[ResultGroup]) -> Filled:
    """Numbers of atoms."""
    return Column("Atoms"), [PageCell(size(group.size), group.size) for group in groups]


def our_columns(groups: Sequence[ResultGroup], metric: str, anchors: Sequence[str]) -> list[Filled]:
    """Mean and spread, linked to the records they come from."""
    column = Column(percent(metric), hint="Mean ± standard deviation over splits")
    spreads = any(group.value.spread is not None for group in groups)
    cells = [
        mean_cell(group.value, spreads, f"#{anchor}")
        for group, anchor in zip(groups, anchors, strict=True)
    ]
    return [(column, cells)]


def mean_cell(summary: Summary, has_spreads: bool, link: str = "") -> PageCell:
    """A mean with its spread beside it, or with room for one where others of the column have."""
    note = f"± {decimal(summary.spread)}" if summary.spread is not None else NO_SPREAD
    note = note if has_spreads else ""
    return PageCell(decimal(summary.mean), summary.mean, link, "value", note=note)


def gain_column(groups: Sequence[ResultGroup]) -> Filled:
    """What rows are worth over their controls."""
    hint = "Mean difference to the control on the same splits ± its standard error"
    return Column("Gain", hint=hint), [gain_cell(gain) for gain in gains_of(groups)]


def gain_cell(gain: Gain | None) -> PageCell:
    """A mean difference with its standard error beside it."""
    if gain is None:
        return PageCell(NONE)
    note = NO_SPREAD if gain.error is None else f"± {decimal(gain.error, 2)}"
    return PageCell(signed(gain.mean, 2), gain.mean, note=note)


def percent(name: str) -> str:
    """A heading whose unit stays with it."""
    return f"{name},\u00a0%"


def paper_columns(groups: Sequence[ResultGroup]) -> list[Filled]:
    """The paper's numbers, the difference, and what it means."""
    verdicts = [group.verdict for group in groups]
    if not any(group.paper is not None for group in groups):
        return []
    differences = [
        None if g.value.mean is None or g.paper is None else finite(g.value.mean - g.paper)
        for g in groups
    ]
    low, high = table_range(groups)
    pictures = [
        PageCell(
            "" if group.value.count else NONE,
            picture=interval_chart(group.value, group.paper, low, high),
        )
        for group in groups
    ]
    return [
        (Column(percent("Paper")), [PageCell(decimal(g.paper), g.paper) for g in groups]),
        (Column("Difference"), [PageCell(signed(d), d) for d in differences]),
        (
            Column("Verdict", numeric=False),
            [
                PageCell(v.value, d, sign=v.sign, style=f"verdict {v.name.lower()}")
                if v
                else PageCell(NONE)
                for v, d in zip(verdicts, differences, strict=True)
            ],
        ),
        (
            Column(
                f"{decimal(low, 0)} to {decimal(high, 0)}",
                numeric=False,
                hint="Dot and bar: ours; diamond: the paper",
                sortable=False,
            ),
            pictures,
        ),
    ]


def table_range(groups: Sequence[ResultGroup]) -> tuple[float, float]:
    """The range all rows' small charts share."""
    values = [v for g in groups for v in (g.value.low, g.value.high, g.paper) if v is not None]
    low, high = padded(min(values), max(values), share=0.04)
    least = max(0.0, math.floor(low)) if min(values) >= 0 else math.floor(low)
    return float(least), float(math.ceil(high)) if high < 100 else max(100.0, max(values))


def mean_column(
    groups: Sequence[ResultGroup], title: str, hint: str, of: Callable[[ResultRecord], float | None]
) -> Filled:
    """The mean over splits of one number of the records."""
    means = [group.over_splits(of).mean for group in groups]
    digits = places(means)
    return Column(title, hint=hint), [PageCell(decimal(mean, digits), mean) for mean in means]


def certificate_columns(groups: Sequence[ResultGroup]) -> list[Filled]:
    """How far codes are from their optimum at most, and from the samples on average."""
    gaps = [group.largest(lambda result: result.artifacts.gap) for group in groups]
    gap = Column(GAP, hint="Distance to the optimum, the largest over test samples and splits")
    hint = "Mean squared error relative to the atoms' squared norm, mean over splits"
    return [
        (gap, [PageCell(scientific(value), value) for value in gaps]),
        mean_column(groups, ERROR, hint, error_percent),
    ]


def error_percent(result: ResultRecord) -> float | None:
    """The error of a record's codes, in percent."""
    error = result.artifacts.error
    return None if error is None else finite(100 * error)
