"""Values of JSON in the form a record promises; what does not have the form is absent."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from .schema import JSON

# Nothing else may become the source of an image: no network, no SVG, no scripts.
IMAGE = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}")
Item = TypeVar("Item")


def number(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def text(value: object) -> str:
    """Words; numbers are spelled, anything else is no text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    # JSON may name halves of characters, which no file can hold.
    return str(value).encode("utf-8", "replace").decode("utf-8")


def count_or_text(value: object) -> int | str:
    """A whole number as it is, anything else as text."""
    return value if isinstance(value, int) and not isinstance(value, bool) else text(value)


def image(value: object) -> str | None:
    """The image if it is a PNG or JPEG within the text itself, else None."""
    return value if isinstance(value, str) and IMAGE.fullmatch(value) else None


def mapping(value: object) -> Mapping[str, JSON]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[JSON]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def numbers(value: object) -> tuple[float, ...]:
    """A list of finite numbers; empty where one of them is not finite."""
    found = [number(item) for item in sequence(value)]
    return tuple(item for item in found if item is not None) if None not in found else ()


def texts(value: object) -> tuple[str, ...]:
    """A list of words."""
    return tuple(text(item) for item in sequence(value))


def named_numbers(value: object) -> tuple[tuple[str, float], ...]:
    """Names and their finite numbers, in the order given."""
    found = [(text(name), number(item)) for name, item in mapping(value).items()]
    return tuple((name, item) for name, item in found if item is not None)


def all_of(value: object, read: Callable[[JSON], Item | None]) -> tuple[Item, ...]:
    """Those items of a list that can be read."""
    found = [read(item) for item in sequence(value)]
    return tuple(item for item in found if item is not None)
