"""JSON that anybody may have written: what is odd is refused in words."""

from __future__ import annotations

import json
from collections import Counter
from typing import NoReturn

MOST_LEVELS = 32  # of lists and objects in each other; records have six
MOST_DIGITS = 400  # of a whole number; the largest float has 309
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{")


def refusal_of(content: bytes) -> str:
    """Why a whole file cannot be read; nothing if it can."""
    if content.startswith(_UTF16_STARTS):
        return (
            "the file is a copy in UTF-16, as some editors and shells write it. Expected UTF-8: "
            "use the original, or convert it (iconv -f UTF-16 -t UTF-8)"
        )
    return ""


def json_value(raw: bytes) -> object:
    """What one line says.

    Raises
    ------
    json.JSONDecodeError, UnicodeDecodeError
        If it is no JSON at all: damaged, or cut short.
    ValueError
        If it is JSON, nearly, of a kind that no record has.
    """
    try:
        value = json.loads(
            raw.removeprefix(_UTF8_MARK).decode("utf-8"),
            object_pairs_hook=_without_repetition,
            parse_constant=_refuse_constant,
            parse_int=_integer,
        )
    except RecursionError:
        value = _too_deep()
    if _levels(value) > MOST_LEVELS:
        _too_deep()
    return value


def printable(words: object, most: int = 40) -> str:
    """The first letters of something, for messages that a terminal will show."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(words)[:most])


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key '{printable(twice)}' is there twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _too_deep() -> NoReturn:
    raise ValueError(f"lists and objects are nested in more than {MOST_LEVELS} levels")


def _levels(value: object) -> int:
    """How deeply a value is nested, found level by level: no recursion, whatever it is."""
    level, parts = 0, [value]
    while parts and level <= MOST_LEVELS:
        parts = [
            item
            for part in parts
            if isinstance(part, list | dict)
            for item in (part.values() if isinstance(part, dict) else part)
            if isinstance(item, list | dict)
        ]
        level += 1
    return level
