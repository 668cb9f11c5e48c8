"""The parser: the bytes of a file into lines with their records, read without trust."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .forms import (
    all_of,
    count_or_text,
    image,
    mapping,
    named_numbers,
    number,
    numbers,
    sequence,
    text,
    texts,
)
from .json_text import json_value, printable
from .schema import (
    JSON,
    SCHEMA,
    Artifacts,
    Example,
    ExampleAtom,
    ExperimentRecord,
    Record,
    ResultRecord,
)

# How the name of a control ended before records had the field "control_of".
CONTROL_ENDING = ", control"
NOT_JSON = "not JSON"
MOST_COUNTS = 2**53  # beyond, a float does not count


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """One line of a file: its record, or the reason why it has none."""

    number: int  # from 1
    start: int  # bytes of the file before it
    record: Record | None
    problem: str = ""
    ended: bool = True  # with a newline

    @property
    def is_json(self) -> bool:
        """Whether the line is whole; the last line of a process that died may not be."""
        return self.problem != NOT_JSON


def parse_lines(content: bytes, name: str) -> Iterator[ParsedLine]:
    """Every line of a file that is not blank.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        What the records say about the file they come from.
    """
    start = 0
    for index, raw in enumerate(content.split(b"\n"), start=1):
        end = start + len(raw)
        if raw.strip():
            record, problem = _parsed(raw, f"{name}, line {index}")
            yield ParsedLine(index, start, record, problem, ended=end < len(content))
        start = end + 1


def _parsed(raw: bytes, source: str) -> tuple[Record | None, str]:
    try:
        return record_of(json_value(raw), source), ""
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None, NOT_JSON
    except ValueError as problem:
        return None, str(problem)


def record_of(line: object, source: str) -> Record:
    """The record of an object.

    Parameters
    ----------
    line : object
        As JSON gives it.
    source : str
        Where it comes from.

    Raises
    ------
    ValueError
        If it is not an object of a kind and schema that are known.
    """
    if not isinstance(line, dict):
        raise ValueError("expected a JSON object")
    if line.get("schema") != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA}, got {printable(line.get('schema'), 20)}")
    if line.get("kind") == "experiment":
        return experiment_of(line)
    if line.get("kind") == "result":
        return result_of(line, source)
    raise ValueError(f"unknown kind {printable(line.get('kind'), 20)}")


def experiment_of(line: Mapping[str, JSON]) -> ExperimentRecord:
    """The description of an experiment."""
    return ExperimentRecord(
        experiment=text(line.get("experiment")),
        title=text(line.get("title")),
        protocol=text(line.get("protocol")),
        paper=text(line.get("paper")),
        metric=text(line.get("metric")) or "accuracy",
        quick=line.get("quick") is True,
    )


def result_of(line: Mapping[str, JSON], source: str) -> ResultRecord:
    """The result that an object describes."""
    table, method = text(line.get("table")), text(line.get("method"))
    if not method:
        raise ValueError("a result needs the name of its method")
    size, split = number(line.get("size")), count_or_text(line.get("split"))
    return ResultRecord(
        experiment=text(line.get("experiment")),
        key=text(line.get("key")) or f"{table}/{method}/{size}/{split}",
        table=table or "Results",
        method=method,
        control_of=_control_of(line, method),
        size=size,
        split=split,
        seed=count_or_text(line.get("seed")),
        value=number(line.get("value")),
        paper=number(line.get("paper")),
        seconds=number(line.get("seconds")),
        memory=number(line.get("peak_memory_mb")),
        nonzeros=number(line.get("nonzeros")),
        configuration=_settings(line.get("configuration")),
        versions=_settings(line.get("versions")),
        finished=text(line.get("finished")),
        artifacts=artifacts_of(mapping(line.get("artifacts"))),
        source=source,
    )


def _settings(given: JSON) -> tuple[tuple[str, JSON], ...]:
    return tuple((text(name), value) for name, value in mapping(given).items())


def _control_of(line: Mapping[str, JSON], method: str) -> str | None:
    if "control_of" in line:
        return text(line["control_of"]) or None
    owner = method.removesuffix(CONTROL_ENDING)
    return owner if owner not in ("", method) else None


def artifacts_of(given: Mapping[str, JSON]) -> Artifacts:
    """The parts that have the promised form."""
    history = numbers(given.get("objective_history"))
    steps = texts(given.get("objective_steps"))
    classes = texts(given.get("classes"))
    certificate = mapping(given.get("certificate"))
    confusion = tuple(numbers(row) for row in sequence(given.get("confusion")))
    is_square = len(confusion) == len(classes) and all(len(r) == len(classes) for r in confusion)
    are_counts = all(0 <= count <= MOST_COUNTS for row in confusion for count in row)
    return Artifacts(
        objective_history=history,
        objective_steps=steps if len(steps) == len(history) else (),
        kernel_history=numbers(given.get("kernel_history")),
        classes=classes,
        confusion=confusion if is_square and are_counts else (),
        per_class=named_numbers(given.get("per_class")),
        examples=all_of(given.get("examples"), example_of),
        atom_images=all_of(given.get("atom_images"), image),
        gap=number(certificate.get("gap")),
        error=number(certificate.get("error")),
        warnings=texts(given.get("warnings")),
    )


def example_of(given: JSON) -> Example | None:
    """A query with its atoms; None where neither is there."""
    query = mapping(mapping(given).get("query"))
    atoms = all_of(mapping(given).get("atoms"), example_atom_of)
    if not query and not atoms:
        return None
    return Example(
        label=text(query.get("label")),
        predicted=text(query.get("predicted")),
        image=image(query.get("image")),
        atoms=tuple(sorted(atoms, key=lambda atom: -abs(atom.weight))),
        residuals=named_numbers(mapping(given).get("residuals")),
    )


def example_atom_of(given: JSON) -> ExampleAtom | None:
    """An atom with a weight."""
    atom = mapping(given)
    weight = number(atom.get("weight"))
    if weight is None:
        return None
    return ExampleAtom(weight, text(atom.get("label")), image(atom.get("image")))
