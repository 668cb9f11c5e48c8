"""Figures of an experiment: curves against atoms, time and sparsity, histories of learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..records import Artifacts, ResultGroup, ResultRecord
from .charts import (
    MOST_MARKERS,
    NARROW,
    SMALL_CHART,
    WIDE,
    Axes,
    Series,
    legend_mark,
    line_chart,
)
from .formats import counted, size
from .groups import by_method
from .line_styles import LineStyle

LineStyles = Mapping[str, LineStyle]  # by method
LOGARITHMIC = 16.0  # a range with a larger ratio is spaced by logarithms


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend."""

    series: str  # the lines it hides and shows
    label: str
    mark: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart in one or two sizes, and a sentence below it."""

    title: str
    caption: str
    wide: str
    narrow: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Charts that share a legend."""

    keys: tuple[Key, ...]
    main: Figure | None
    small: tuple[Figure, ...]


def table_figures(
    title: str, groups: Sequence[ResultGroup], metric: str, styles: LineStyles
) -> Figures | None:
    """Value, time and sparsity: against atoms where there are several numbers of them."""
    sizes = sorted({group.size for group in groups if group.size is not None})
    is_curve = len(sizes) > 1
    main = curve_figure(title, groups, metric, styles, sizes) if is_curve else None
    costs = [
        ("Time", "seconds", lambda r: r.seconds),
        ("Sparsity", "nonzeros per code", lambda r: r.nonzeros),
    ]
    draw = cost_against_atoms if is_curve else value_against_cost
    charts = [draw(title, groups, metric, styles, *cost) for cost in costs]
    small = tuple(chart for chart in charts if chart)
    if main is None and not small:
        return None
    return Figures(legend(groups, styles), main, small)


def legend(groups: Sequence[ResultGroup], styles: LineStyles) -> tuple[Key, ...]:
    """Methods, best first."""
    best: dict[str, float] = {}
    for group in groups:
        if group.value.mean is not None:
            best[group.method] = group.value.mean  # of the largest dictionary: groups are in order
    order = sorted(best, key=lambda method: -best[method])
    return tuple(Key(styles[m].name, m, legend_mark(styles[m])) for m in order)


def curve_figure(
    title: str,
    groups: Sequence[ResultGroup],
    metric: str,
    styles: LineStyles,
    sizes: Sequence[float],
) -> Figure | None:
    """Value against atoms with bands of one spread, as the paper's figures."""
    series = [
        *(curve(method, rows, styles) for method, rows in by_method(groups).items()),
        *(level(group, styles, sizes) for group in groups if group.size is None),
    ]
    series = [line for line in series if line.x]
    if not series:
        return None
    axes = Axes(
        label=f"{title}: {metric} in percent against the number of atoms, one line per method",
        x="atoms",
        y=f"{metric}, %",
        x_ticks=sizes,
        log_x=sizes[-1] / sizes[0] > LOGARITHMIC if sizes[0] > 0 else False,
    )
    caption = f"{metric} against the number of atoms."
    if any(group.value.spread is not None for group in groups):
        caption += " Bands: one standard deviation over splits."
    if any(line.paper for line in series):
        caption += " Hollow diamonds: the paper."
    if any(line.style.is_control for line in series):
        caption += " Dashed: controls."
    if any(line.level for line in series):
        caption += " Thin lines across: methods without a number of atoms."
    charts = [
        line_chart(series, axes, box, s)
        for box, s in ((WIDE, "chart wide"), (NARROW, "chart narrow"))
    ]
    return Figure(title, caption, *charts)


def curve(method: str, rows: Sequence[ResultGroup], styles: LineStyles) -> Series:
    """A method at every number of atoms it has a value for; without a point, if there is none."""
    points = [(r.size, r.value, r.paper) for r in rows if r.size is not None and r.value.count]
    return Series(
        styles[method],
        method,
        x=[point[0] for point in points],
        y=[point[1].mean or 0.0 for point in points],
        low=[point[1].low or 0.0 for point in points],
        high=[point[1].high or 0.0 for point in points],
        paper=[(point[0], point[2]) for point in points if point[2] is not None],
    )


def level(group: ResultGroup, styles: LineStyles, sizes: Sequence[float]) -> Series:
    """A method without a number of atoms, the same across; without a point, if it has no value."""
    ends = [sizes[0], sizes[-1]] if group.value.mean is not None else []
    values = [group.value.mean or 0.0] * len(ends)
    return Series(styles[group.method], group.method, ends, values, marks=False, level=True)


def cost_against_atoms(
    title: str,
    groups: Sequence[ResultGroup],
    metric: str,
    styles: LineStyles,
    name: str,
    unit: str,
    of: Callable[[ResultRecord], float | None],
) -> Figure | None:
    """What methods cost as dictionaries grow."""
    series = []
    for method, rows in by_method(groups).items():
        means = [(r.size, r.over_splits(of).mean) for r in rows if r.size is not None]
        points = [(x, y) for x, y in means if y is not None]
        if points:
            x, y = zip(*points, strict=True)
            series.append(Series(styles[method], method, x, y))
    if not series:
        return None
    heights = [value for line in series for value in line.y]
    axes = Axes(
        f"{title}: {unit} against the number of atoms",
        "atoms",
        unit,
        x_ticks=sorted({x for line in series for x in line.x}),
        log_x=spread_out([x for line in series for x in line.x]),
        log_y=spread_out(heights),
    )
    return Figure(
        name,
        f"{unit.capitalize()} against atoms, mean over splits.",
        line_chart(series, axes, SMALL_CHART),
    )


def value_against_cost(
    title: str,
    groups: Sequence[ResultGroup],
    metric: str,
    styles: LineStyles,
    name: str,
    unit: str,
    of: Callable[[ResultRecord], float | None],
) -> Figure | None:
    """One point per method: what it reaches and what it costs."""
    points = [(g.method, g.over_splits(of).mean, g.value.mean) for g in groups]
    series = [
        Series(styles[method], method, (cost,), (value,), scale=1.4)
        for method, cost, value in points
        if cost is not None and value is not None
    ]
    if len(series) < 2:
        return None
    log = spread_out([line.x[0] for line in series])
    axes = Axes(f"{title}: {metric} against {unit}", unit, f"{metric}, %", log_x=log)
    return Figure(
        name, f"{metric} against {unit}, means over splits.", line_chart(series, axes, SMALL_CHART)
    )


def spread_out(values: Sequence[float]) -> bool:
    """Whether only logarithms show all of the values."""
    return min(values) > 0 and max(values) / min(values) > LOGARITHMIC


# Histories -------------------------------------------------------------------------------------

HISTORY_KINDS: tuple[tuple[str, str, Callable[[Artifacts], tuple[float, ...]]], ...] = (
    ("objective", "half-step", lambda artifacts: artifacts.objective_history),
    ("kernel ratio", "accepted step", lambda artifacts: artifacts.kernel_history),
)


def history_figures(
    title: str, groups: Sequence[ResultGroup], styles: LineStyles
) -> tuple[Figure, ...]:
    """Objective and kernel learning of each method, at the largest dictionary that has them."""
    figures = []
    for method, rows in by_method(groups).items():
        for name, step, of in HISTORY_KINDS:
            having = [row for row in rows if any(of(r.artifacts) for r in row.results)]
            if having:
                figures.append(history_figure(title, having[-1], styles[method], name, step, of))
    return tuple(figures)


def history_figure(
    title: str,
    group: ResultGroup,
    style: LineStyle,
    name: str,
    step: str,
    of: Callable[[Artifacts], tuple[float, ...]],
) -> Figure:
    """One line per split."""
    runs = [result for result in group.results if of(result.artifacts)]
    is_objective = name == "objective"
    series = [
        Series(
            style,
            f"{group.method}, split {run.split}",
            range(len(of(run.artifacts))),
            of(run.artifacts),
            hollow=[s != "codes" for s in run.artifacts.objective_steps] if is_objective else (),
            marks=position == 0,  # those of all splits would cover each other
            scale=0.75,
        )
        for position, run in enumerate(runs)
    ]
    heights = [value for line in series for value in line.y]
    axes = Axes(f"{title}, {group.method}: {name} by {step}", step, name, log_y=spread_out(heights))
    caption = f"{name.capitalize()} after every {step}, {counted(len(runs), 'split')}"
    if group.size is not None:
        caption += f", {size(group.size)} atoms"
    if any(series[0].hollow) and len(series[0].y) <= MOST_MARKERS:
        caption += ". Filled: codes; hollow: atoms"
    return Figure(f"{group.method}: {name}", f"{caption}.", line_chart(series, axes, SMALL_CHART))
