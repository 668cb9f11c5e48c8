"""Numbers and settings as the page writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from ..records import Summary
from ..records.schema import JSON

NONE = "—"
MOST_WRITTEN_OUT = 1e15  # beyond, digits are no more than a row of digits
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# (up to, unit, divisor): the first that holds is taken.
DURATIONS = ((100.0, "s", 1.0), (6000.0, "min", 60.0), (float("inf"), "h", 3600.0))


def finite(value: float | None) -> float | None:
    """A number that was computed from numbers; none where it left the range of floats."""
    return value if value is not None and math.isfinite(value) else None


def decimal(value: float | None, places: int = 1) -> str:
    """A number with a true minus and thin spaces between thousands."""
    if value is None:
        return NONE
    if abs(value) >= MOST_WRITTEN_OUT:
        return scientific(value)
    words = f"{value:,.{places}f}".replace(",", "\u202f")
    if not any(digit in words for digit in "123456789"):
        words = words.lstrip("-")
    return words.replace("-", "\u2212")


def signed(value: float | None, places: int = 1) -> str:
    """A difference of percent, with its sign."""
    words = decimal(value, places)
    if value is None or words == decimal(0.0, places) or value < 0:
        return words
    return f"+{words}"


def interval(summary: Summary) -> str:
    """Mean ± spread, in percent."""
    mean = decimal(summary.mean)
    return mean if summary.spread is None else f"{mean}\u202f±\u202f{decimal(summary.spread)}"


def places(values: Iterable[float | None]) -> int:
    """Decimals that suit a whole column."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return 2 if largest < 10 else 1 if largest < 1000 else 0


def compact(value: float | None) -> str:
    """Three digits, for axes and weights."""
    if value is None:
        return NONE
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.2g}".replace("-", "\u2212")
    digits = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return digits.replace("-", "\u2212")


def scientific(value: float | None) -> str:
    """Two digits and a power of ten, for numbers that may be tiny."""
    if value is None or value == 0:
        return NONE if value is None else "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(RAISED)}".replace("-", "\u2212")


def size(value: float | None) -> str:
    """A number of atoms."""
    if value is None:
        return NONE
    return decimal(value, 0 if value == int(value) else 1)


def duration(seconds: float | None) -> str:
    """Time in a unit people read."""
    seconds = finite(seconds)
    if seconds is None:
        return NONE
    _, unit, divisor = next(row for row in DURATIONS if seconds < row[0])
    return f"{decimal(seconds / divisor)} {unit}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{decimal(count, 0)} {one if count == 1 else many or one + 's'}"


def setting_text(value: JSON) -> str:
    """A setting as text: words as they are, anything else as JSON."""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words.encode("utf-8", "replace").decode("utf-8")
