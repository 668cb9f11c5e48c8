"""Charts of lines with bands, of points, and the small interval in a table's row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Summary
from .formats import compact
from .line_styles import LineStyle
from .svg import AxisScale, Element, add_element, canvas, coordinate, padded, written

DIAMOND = "M0 -5l5 5l-5 5l-5 -5z"
MOST_MARKERS = 30  # beyond, they hide the line
MOST_LABEL_LETTERS = 23  # letters of a name beside its line


@dataclass(frozen=True, slots=True)
class Series:
    """One line: points, perhaps a band around it and numbers of the paper."""

    style: LineStyle  # the same in all charts of a table
    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    paper: Sequence[tuple[float, float]] = ()
    hollow: Sequence[bool] = ()  # markers that are drawn as outlines
    marks: bool = True
    scale: float = 1.0  # of the markers
    level: bool = False  # one value for all x: a thin line across


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes say, and how they are spaced."""

    label: str  # of the whole picture, for screen readers
    x: str
    y: str
    x_ticks: Sequence[float] = ()
    log_x: bool = False
    log_y: bool = False
    most_y: float = float("inf")  # there is nothing beyond, such as 100 percent: no tick either


@dataclass(frozen=True, slots=True)
class ChartBox:
    """Size of the picture and of its margins."""

    width: float
    height: float
    left: float = 50.0
    right: float = 12.0
    top: float = 22.0
    bottom: float = 40.0


WIDE = ChartBox(860, 420, right=176)
NARROW = ChartBox(340, 300, left=42)
SMALL_CHART = ChartBox(340, 230, left=48)


def line_chart(series: Sequence[Series], axes: Axes, box: ChartBox, css: str = "chart") -> str:
    """Lines with bands, markers and hollow diamonds for the paper's numbers."""
    x, y = scales(series, axes, box)
    root = canvas(box.width, box.height, axes.label, css)
    draw_axes(root, x, y, axes, box)
    for line in series:
        css = f"{line.style.css} level" if line.level else line.style.css
        group = add_element(root, "g", {"class": css, "data-series": line.style.name})
        draw_line(group, line, x, y)
    if box.right > 60:
        draw_line_names(root, series, y, box)
    return written(root)


def scales(series: Sequence[Series], axes: Axes, box: ChartBox) -> tuple[AxisScale, AxisScale]:
    """Scales that hold every point, band and number of the paper."""
    across = [value for line in series for value in (*line.x, *(p[0] for p in line.paper))]
    up = [
        value
        for line in series
        for value in (*line.y, *line.low, *line.high, *(p[1] for p in line.paper))
    ]
    low, high = padded(min(up), max(up), axes.log_y)
    return (
        AxisScale(
            *padded(min(across), max(across), axes.log_x, 0.04),
            box.left,
            box.width - box.right,
            axes.log_x,
        ),
        AxisScale(low, min(high, axes.most_y), box.height - box.bottom, box.top, axes.log_y),
    )


def draw_axes(root: Element, x: AxisScale, y: AxisScale, axes: Axes, box: ChartBox) -> None:
    """Horizontal grid, ticks and what the axes mean."""
    grid = add_element(root, "g", {"class": "grid"})
    words = add_element(root, "g", {"class": "ticks"})
    bottom = box.height - box.bottom
    for value in y.ticks():
        add_element(grid, "line", {"x1": box.left, "x2": x.end, "y1": y(value), "y2": y(value)})
        add_element(
            words, "text", {"x": box.left - 8, "y": y(value) + 4, "class": "y"}, compact(value)
        )
    last = -1e9
    for value in axes.x_ticks or x.ticks():
        label, place = compact(value), x(value)
        add_element(grid, "line", {"x1": place, "x2": place, "y1": bottom, "y2": bottom + 4})
        if place - last < 9 + 7 * len(label):  # no room: a mark without its number
            continue
        last = place
        add_element(words, "text", {"x": place, "y": bottom + 17, "class": "x"}, label)
    add_element(
        grid, "line", {"x1": box.left, "x2": x.end, "y1": bottom, "y2": bottom, "class": "base"}
    )
    middle = 0.5 * (box.left + x.end)
    add_element(words, "text", {"x": middle, "y": box.height - 6, "class": "x name"}, axes.x)
    add_element(words, "text", {"x": 2, "y": 12, "class": "name"}, axes.y)


def draw_line(group: Element, line: Series, x: AxisScale, y: AxisScale) -> None:
    """The band below, then the line, its markers, and the paper's numbers on top."""
    across = [x(value) for value in line.x]
    if line.low and len(across) > 1:
        upper = [*zip(across, map(y, line.high), strict=True)]
        lower = [*zip(across, map(y, line.low), strict=True)]
        add_element(group, "path", {"class": "band", "d": f"{path(upper + lower[::-1])}z"})
    points = [*zip(across, map(y, line.y), strict=True)]
    if len(points) > 1:
        add_element(group, "path", {"class": "line", "d": path(points)})
    if line.marks and len(points) <= MOST_MARKERS:
        hollow = line.hollow or [line.style.is_control] * len(points)
        for position, is_hollow in zip(range(len(points)), hollow, strict=True):
            words = f"{line.label}: {compact(line.x[position])}, {compact(line.y[position])}"
            css = "mark hollow" if is_hollow else "mark"
            draw_marker(group, css, line, points[position], words)
    for value, number in line.paper:
        at = f"translate({coordinate(x(value))} {coordinate(y(number))})"
        diamond = add_element(
            group, "path", {"class": "mark hollow", "d": DIAMOND, "transform": at}
        )
        add_element(
            diamond, "title", {}, f"{line.label}, paper: {compact(value)}, {compact(number)}"
        )


def draw_marker(
    group: Element, css: str, line: Series, place: tuple[float, float], words: str
) -> None:
    """One marker with a title, shown where a pointer rests on it."""
    at = f"translate({coordinate(place[0])} {coordinate(place[1])})"
    at += "" if line.scale == 1 else f" scale({line.scale:g})"
    marker = add_element(group, "path", {"class": css, "d": line.style.marker, "transform": at})
    add_element(marker, "title", {}, words)


def draw_line_names(
    root: Element, series: Sequence[Series], y: AxisScale, box: ChartBox, gap: float = 14
) -> None:
    """Names at the right end of their lines, moved apart where they would collide."""
    ends = sorted(((y(line.y[-1]), line) for line in series), key=lambda end: end[0])
    heights: list[float] = []
    for place, _ in ends:
        heights.append(max(place, heights[-1] + gap) if heights else place)
    limit = box.height - box.bottom
    for position in reversed(range(len(heights))):
        heights[position] = min(heights[position], limit)
        limit = heights[position] - gap
    for height, (_, line) in zip(heights, ends, strict=True):
        group = add_element(root, "g", {"class": line.style.css, "data-series": line.style.name})
        left = box.width - box.right + 8
        at = f"translate({coordinate(left)} {coordinate(height)})"
        add_element(
            group, "path", {"class": line.style.mark, "d": line.style.marker, "transform": at}
        )
        words = shortened(line.label, MOST_LABEL_LETTERS)
        add_element(group, "text", {"x": left + 9, "y": height + 4, "class": "label"}, words)


def shortened(words: str, most: int) -> str:
    """The first letters of a long name."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def path(points: Sequence[tuple[float, float]]) -> str:
    """Straight lines through points."""
    return "M" + "L".join(f"{coordinate(left)} {coordinate(top)}" for left, top in points)


def legend_mark(style: LineStyle) -> str:
    """The piece of line that stands in a legend."""
    root = canvas(28, 12, "", "key-mark")
    root.attrib |= {"aria-hidden": "true"}
    del root.attrib["role"], root.attrib["aria-label"]
    group = add_element(root, "g", {"class": style.css})
    add_element(group, "path", {"class": "line", "d": "M1 6L27 6"})
    at = "translate(14 6)"
    add_element(group, "path", {"class": style.mark, "d": style.marker, "transform": at})
    return written(root)


def interval_chart(ours: Summary, paper: float | None, low: float, high: float) -> str:
    """A dot with its spread and the paper's diamond, on the scale of the whole table."""
    x = AxisScale(low, high, 6, 78)
    root = canvas(84, 16, "", "interval")
    root.attrib |= {"aria-hidden": "true"}  # the numbers stand beside it
    del root.attrib["role"], root.attrib["aria-label"]
    add_element(root, "line", {"class": "track", "x1": 2, "x2": 82, "y1": 8, "y2": 8})
    if ours.mean is not None and ours.low is not None and ours.high is not None:
        if ours.spread:
            add_element(
                root,
                "line",
                {"class": "spread", "x1": x(ours.low), "x2": x(ours.high), "y1": 8, "y2": 8},
            )
        add_element(root, "circle", {"class": "ours", "cx": x(ours.mean), "cy": 8, "r": 3.6})
    if paper is not None:
        at = f"translate({coordinate(x(paper))} 8)"
        add_element(root, "path", {"class": "paper", "d": DIAMOND, "transform": at})
    return written(root)
