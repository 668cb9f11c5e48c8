"""What a campaign is, and how its cases are written down."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Value = None | bool | int | float | str | bytes | NDArray | list["Value"] | dict[str, "Value"]
Case = dict[str, Value]


class Failure(AssertionError):
    """A promise that was not kept; the message says which."""


class Campaign(Protocol):
    """Cases from a seed, a check of a case, and smaller cases of a case."""

    name: str
    counts: str  # what one check looks at: "problems" or "faults"
    share: float  # of the time, relative to the others

    def draw(self, rng: Generator) -> Case:
        """A case that says all that its check needs."""

    def label(self, case: Case) -> str:
        """The family of a case, for tables and for the list of what is known."""

    def check(self, case: Case) -> int:
        """How many problems or faults were looked at; raises what went wrong."""

    def smaller(self, case: Case) -> Iterator[Case]:
        """Cases that might fail in the same way and say less."""

    def close(self) -> None:
        """End helpers that were started."""


def write_case(path: Path, campaign: str, case: Case, message: str) -> None:
    """A failure as a file that replays."""
    content = {"campaign": campaign, "message": message, "case": _encoded(case)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_case(path: Path) -> tuple[str, Case]:
    """The campaign of a file and its case."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["campaign"], _decoded(content["case"])


def _encoded(value: Value) -> object:
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {name: _encoded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _decoded(value: object) -> object:
    if isinstance(value, list):
        return [_decoded(part) for part in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"array", "dtype"}:
        return np.array(value["array"], dtype=value["dtype"])
    if set(value) == {"base64"}:
        return base64.b64decode(value["base64"])
    return {name: _decoded(part) for name, part in value.items()}
