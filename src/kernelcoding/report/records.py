"""What a record holds, read from JSON without trust: what has not the promised form is absent."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

SCHEMA = 1
# Nothing else may become the source of an image: no network, no SVG, no scripts.
IMAGE = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}")


@dataclass(frozen=True, slots=True)
class Header:
    """What an experiment is, from the first line of its file."""

    title: str
    protocol: str
    paper: str
    metric: str
    quick: bool


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom that a code uses."""

    weight: float
    label: str
    image: str | None


@dataclass(frozen=True, slots=True)
class Example:
    """A query, its strongest atoms, and how far it is from each class."""

    label: str
    predicted: str
    image: str | None
    atoms: tuple[Atom, ...]
    residuals: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What a run left beside its number; each part may be empty."""

    objective_history: tuple[float, ...]
    objective_steps: tuple[str, ...]
    kernel_history: tuple[float, ...]
    classes: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]  # counts, rows are the truth
    per_class: tuple[tuple[str, float], ...]
    examples: tuple[Example, ...]
    atom_images: tuple[str, ...]
    gap: float | None  # to the optimum, of no test sample's code larger; absent if not finite
    error: float | None  # mean squared, as a share of the atoms' squared norm


@dataclass(frozen=True, slots=True)
class Result:
    """One method on one split, at one number of atoms."""

    key: str
    table: str
    method: str
    size: float | None
    split: str
    seed: str
    value: float | None  # percent
    paper: float | None  # percent
    seconds: float | None
    memory: float | None  # megabytes
    nonzeros: float | None
    finished: str
    configuration: tuple[tuple[str, Any], ...]
    versions: tuple[tuple[str, Any], ...]
    artifacts: Artifacts
    source: str  # file and line


def header_of(line: Mapping[str, Any]) -> Header:
    """The experiment a line describes; a result's line gives its name alone."""
    is_header = line.get("kind") == "experiment"
    return Header(
        title=(text(line.get("title")) if is_header else "") or text(line.get("experiment")),
        protocol=text(line.get("protocol")) if is_header else "",
        paper=text(line.get("paper")) if is_header else "",
        metric=text(line.get("metric")) or "accuracy",
        quick=line.get("quick") is True,
    )


def result_of(line: Mapping[str, Any], source: str) -> Result:
    """The result a line describes."""
    table, method = text(line.get("table")), text(line.get("method"))
    if not method:
        raise ValueError("a result needs the name of its method")
    size, split = number(line.get("size")), text(line.get("split"))
    return Result(
        key=text(line.get("key")) or f"{table}/{method}/{size}/{split}",
        table=table or "Results",
        method=method,
        size=size,
        split=split,
        seed=text(line.get("seed")),
        value=number(line.get("value")),
        paper=number(line.get("paper")),
        seconds=number(line.get("seconds")),
        memory=number(line.get("peak_memory_mb")),
        nonzeros=number(line.get("nonzeros")),
        finished=text(line.get("finished")),
        configuration=tuple(mapping(line.get("configuration")).items()),
        versions=tuple(mapping(line.get("versions")).items()),
        artifacts=artifacts_of(mapping(line.get("artifacts"))),
        source=source,
    )


def artifacts_of(given: Mapping[str, Any]) -> Artifacts:
    """The parts that have the promised form."""
    history = numbers(given.get("objective_history"))
    steps = tuple(text(step) for step in sequence(given.get("objective_steps")))
    classes = tuple(text(name) for name in sequence(given.get("classes")))
    certificate = mapping(given.get("certificate"))
    confusion = tuple(numbers(row) for row in sequence(given.get("confusion")))
    is_square = len(confusion) == len(classes) and all(len(r) == len(classes) for r in confusion)
    return Artifacts(
        objective_history=history,
        objective_steps=steps if len(steps) == len(history) else (),
        kernel_history=numbers(given.get("kernel_history")),
        classes=classes,
        confusion=confusion if is_square and min(map(min, confusion), default=0) >= 0 else (),
        per_class=named_numbers(given.get("per_class")),
        examples=all_of(given.get("examples"), example_of),
        atom_images=all_of(given.get("atom_images"), image),
        gap=number(certificate.get("gap")),
        error=number(certificate.get("error")),
    )


def example_of(given: Any) -> Example | None:
    """A query with its atoms; None where neither is there."""
    query = mapping(mapping(given).get("query"))
    atoms = all_of(mapping(given).get("atoms"), atom_of)
    if not query and not atoms:
        return None
    return Example(
        label=text(query.get("label")),
        predicted=text(query.get("predicted")),
        image=image(query.get("image")),
        atoms=tuple(sorted(atoms, key=lambda atom: -abs(atom.weight))),
        residuals=named_numbers(mapping(given).get("residuals")),
    )


def atom_of(given: Any) -> Atom | None:
    """An atom with a weight."""
    weight = number(mapping(given).get("weight"))
    if weight is None:
        return None
    return Atom(weight, text(given.get("label")), image(given.get("image")))


# Forms -----------------------------------------------------------------------------------------


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def text(value: Any) -> str:
    """Words; numbers are spelled, anything else is no text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    # JSON may name halves of characters, which no file can hold.
    return str(value).encode("utf-8", "replace").decode("utf-8")


def image(value: Any) -> str | None:
    """The image if it is a PNG or JPEG within the text itself, else None."""
    return value if isinstance(value, str) and IMAGE.fullmatch(value) else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def numbers(value: Any) -> tuple[float, ...]:
    """A list of finite numbers; empty where one of them is not."""
    found = [number(item) for item in sequence(value)]
    return tuple(item for item in found if item is not None) if None not in found else ()


def named_numbers(value: Any) -> tuple[tuple[str, float], ...]:
    """Names and their finite numbers, in the order given."""
    found = [(text(name), number(item)) for name, item in mapping(value).items()]
    return tuple((name, item) for name, item in found if item is not None)


def all_of(value: Any, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """What could be read of a list."""
    found = [read(item) for item in sequence(value)]
    return tuple(item for item in found if item is not None)
