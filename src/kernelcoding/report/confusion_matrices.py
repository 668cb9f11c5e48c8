"""Confusion matrices as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from .charts import shortened
from .formats import decimal
from .svg import Element, add_element, canvas, written

NAMED = 24  # up to so many classes, cells hold their counts and columns are named
CELL, SMALL_CELL = 30.0, 11.0
MOST_LETTERS = 16  # of a class name
AXIS_NAMES = (58.0, 80.0)  # room for what rows and columns are


def confusion_chart(classes: Sequence[str], counts: Sequence[Sequence[float]], label: str) -> str:
    """Counts as tints, each row relative to its own sum; rows are the truth."""
    is_named = len(classes) <= NAMED
    cell = CELL if is_named else SMALL_CELL
    letters = max(len(shortened(name, MOST_LETTERS)) for name in classes)
    left = max(26.0 + 7.0 * letters, AXIS_NAMES[0])
    top = 34.0 + 6.0 * letters if is_named else 22.0
    side = cell * len(classes)
    slant = 12.0 + 5.0 * letters if is_named else 8.0  # room for the last column's name
    width = left + max(side + slant, AXIS_NAMES[1])
    root = canvas(width, top + side + 8, label, "matrix")
    # One above the names of the rows, one above those of the columns.
    add_element(root, "text", {"class": "row name", "x": left - 6, "y": top - 8}, "truth ↓")
    add_element(root, "text", {"class": "name", "x": left, "y": 14}, "predicted →")
    add_element(
        root, "rect", {"class": "ground", "x": left, "y": top, "width": side, "height": side}
    )
    for row, numbers in enumerate(counts):
        draw_class_names(
            root, shortened(classes[row], MOST_LETTERS), row, (left, top, cell), is_named
        )
        total = sum(numbers) or 1.0
        for column, count in enumerate(numbers):
            if count > 0:
                words = f"{classes[row]} taken for {classes[column]}: {decimal(count, 0)}"
                place = (left + cell * column, top + cell * row, cell)
                square = draw_cell(root, place, count / total, row == column)
                add_element(square, "title", {}, f"{words} ({decimal(100 * count / total)} %)")
            if count > 0 and is_named:
                draw_count(root, place, count, count / total)
    return written(root)


def draw_class_names(
    root: Element, name: str, index: int, place: tuple[float, float, float], is_named: bool
) -> None:
    """A class beside its row, and above its column where there is room."""
    left, top, cell = place
    middle = cell * (index + 0.5)
    style, drop = ("row", 4) if is_named else ("row tiny", 3)
    add_element(root, "text", {"class": style, "x": left - 6, "y": top + middle + drop}, name)
    if is_named:
        slanted = f"translate({left + middle - 2:.1f} {top - 6:.1f}) rotate(-50)"
        add_element(root, "text", {"class": "column", "transform": slanted}, name)


def draw_cell(
    root: Element, place: tuple[float, float, float], share: float, is_right: bool
) -> Element:
    """A square whose tint is its share of the row."""
    left, top, cell = place
    return add_element(
        root,
        "rect",
        {
            "class": "cell right" if is_right else "cell wrong",
            "x": left + 0.5,
            "y": top + 0.5,
            "width": cell - 1,
            "height": cell - 1,
            "fill-opacity": f"{0.22 + 0.78 * share:.2f}",
        },
    )


def draw_count(
    root: Element, place: tuple[float, float, float], count: float, share: float
) -> None:
    """The number in a square, light on dark tints."""
    left, top, cell = place
    style = "count strong" if share > 0.5 else "count"
    centre = {"x": left + cell / 2, "y": top + cell / 2 + 4}
    add_element(root, "text", {"class": style, **centre}, decimal(count, 0))
