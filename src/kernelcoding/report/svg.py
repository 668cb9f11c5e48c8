"""A small writer of SVG: scales, ticks and elements. Colours are left to the page's style sheet."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

Element = ElementTree.Element
TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
LARGEST, LEAST = sys.float_info.max, math.ulp(0.0)  # of the positive floats


def canvas(width: float, height: float, label: str, css: str) -> Element:
    """An empty picture that grows with its box, and says what it shows."""
    root = Element("svg", {"class": css, "viewBox": f"0 0 {coordinate(width)} {height:g}"})
    root.attrib |= {"width": coordinate(width), "height": f"{height:g}"}
    root.attrib |= {"role": "img", "aria-label": label}
    return root


def add_element(
    parent: Element, tag: str, attributes: Mapping[str, str | float], text: str | None = None
) -> Element:
    """Append an element; numbers are coordinates."""
    child = ElementTree.SubElement(
        parent,
        tag,
        {
            name: value if isinstance(value, str) else coordinate(value)
            for name, value in attributes.items()
        },
    )
    child.text = text
    return child


def written(root: Element) -> str:
    """The picture as text; whatever it holds is escaped."""
    return ElementTree.tostring(root, encoding="unicode")


def coordinate(value: float) -> str:
    """A length with a tenth of a pixel at most."""
    words = f"{value:.1f}"
    return words[:-2] if words.endswith(".0") else words


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Numbers to pixels, evenly or by their logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a number."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        if high == low:
            return 0.5 * (self.start + self.end)
        if math.isinf(high - low):
            low, high, value = low / 2, high / 2, value / 2
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round numbers within the scale."""
        if self.logarithmic:
            found = decades(self.low, self.high)
            if len(found) >= 2:
                return found[:: math.ceil(len(found) / (count + 2))]
        return round_numbers(self.low, self.high, count)


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """About ``count`` multiples of 1, 2, 2.5 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    rough = high / count - low / count if math.isinf(rough) else rough
    power = math.floor(math.log10(rough)) if rough else -sys.maxsize
    unit = power_of_ten(power)
    if not unit:  # too close for any number in between
        return [low]
    step = unit * next(step for step in TICK_STEPS if step * unit >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    every = [round(step * index, max(12, 2 - power)) for index in range(first, last + 1)]
    return [value for value in every if math.isfinite(value)]


def power_of_ten(power: int) -> float:
    """Ten to a power; zero or infinity where there is no such float."""
    return float(f"1e{power}")


def decades(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 times them where the range is short."""
    digits = (1.0, 2.0, 5.0) if high / low < 200 else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [digit * power_of_ten(power) for power in powers for digit in digits]
    first, last = low * (1 - 1e-9), min(high * (1 + 1e-9), LARGEST)
    return [value for value in every if first <= value <= last]


def padded(
    low: float, high: float, logarithmic: bool = False, share: float = 0.06
) -> tuple[float, float]:
    """A range with some room on both sides, as far as there are floats."""
    if logarithmic:
        ratio = high / low
        if math.isinf(ratio):
            factor = math.exp(share * (math.log(high) - math.log(low)))
        else:
            factor = max(ratio, 1.5) ** share
        return max(low / factor, LEAST), min(high * factor, LARGEST)
    room = share * (high - low) or max(1e-3, 0.05 * abs(high))
    room = share * high - share * low if math.isinf(room) else room
    return max(low - room, -LARGEST), min(high + room, LARGEST)
