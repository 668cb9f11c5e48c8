"""CSV files of samples: one line at a time, so that a file costs little more than its numbers."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .columns import (
    Columns,
    ModelFeatures,
    Request,
    choose_columns,
    is_position,
    listed,
    shortened,
)
from .labels import is_number, labels_of, plain_spelling
from .samples import LabelledSamples

LOOKED_AT = 100  # lines that are compared with the first one
Line = tuple[int, list[str]]  # its number in the file, its cells


@dataclass(frozen=True, slots=True)
class FirstLine:
    """What the first line of a file was taken for."""

    is_header: bool
    guess: str = ""  # a sentence, where it was not certain


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of a file are to be read."""

    path: Path
    names: list[str] | None
    columns: Columns
    guess: str
    safe_labels: bool

    def name(self, column: int) -> str:
        """What a column is called in messages: its name or its number."""
        return str(column) if self.names is None else self.names[column]


def read_csv(path: Path, request: Request) -> LabelledSamples:
    """Read samples from a CSV file.

    Parameters
    ----------
    path : Path
        UTF-8, with or without a line of names.
    request : Request
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        lines = ((reader.line_num, cells) for cells in reader if cells)
        beginning = list(islice(lines, 1 + LOOKED_AT))
        if not beginning:
            raise ValueError(f"{path} holds no samples.")
        (_, first), *others = beginning
        found = first_line(first, [cells for _, cells in others], request)
        names = first if found.is_header else None
        columns = choose_columns(path, names, len(first), request)
        layout = Layout(path, names, columns, found.guess, request.safe_labels)
        rows = chain(others if found.is_header else beginning, lines)
        X, y = _parse(_same_length(path, len(first), rows), layout)
    guess = (f"{path}: {found.guess}",) if found.guess else ()
    return LabelledSamples(X, y, columns.names, (*guess, *columns.notes))


def first_line(first: list[str], others: list[list[str]], request: Request) -> FirstLine:
    """Whether the first line holds names, not a sample: as is said, as must be, or as it seems.

    It must if it names features of the model, or the target, or has no numbers at all; it cannot
    if a name would occur twice. Numbers that are not those of their columns look like a sample;
    else a word above nothing but numbers is a name.

    Parameters
    ----------
    first : list of str
        Cells of the first line.
    others : list of list of str
        Some lines below it.
    request : Request
    """
    if request.header is not None:
        return FirstLine(request.header)
    numbers = [is_number(cell) for cell in first]
    target = request.target
    names_target = target in first and not is_position(str(target), len(first))
    if names_target or not any(numbers) or _names_features(first, numbers, request.model):
        return FirstLine(True)
    if len(set(first)) < len(first):
        return FirstLine(False)
    if any(number and first[i] != str(i) for i, number in enumerate(numbers)):
        return FirstLine(False, _guess(first, "a sample", "it holds names", "--header"))
    if any(not number and _all_numbers(others, i) for i, number in enumerate(numbers)):
        return FirstLine(True, _guess(first, "names", "it is a sample", "--no-header"))
    return FirstLine(False, _guess(first, "a sample", "it holds names", "--header"))


def _names_features(first: list[str], numbers: list[bool], model: ModelFeatures | None) -> bool:
    """One word of the model is enough; numbers may be equal by chance, but not most of them."""
    if model is None or model.names is None:
        return False
    known = set(model.names)
    if any(cell in known and not number for cell, number in zip(first, numbers, strict=True)):
        return True
    return len(set(first)) == len(first) and 2 * len(known & set(first)) > len(known)


def _all_numbers(lines: list[list[str]], column: int) -> bool:
    return all(is_number(cells[column]) for cells in lines if column < len(cells))


def _guess(first: list[str], taken_for: str, otherwise: str, option: str) -> str:
    return (
        f"The first line ({listed(first)}) was taken for {taken_for}; if {otherwise}, say {option}."
    )


def _same_length(path: Path, count: int, lines: Iterable[Line]) -> Iterator[Line]:
    for number, cells in lines:
        if len(cells) != count:
            raise ValueError(
                f"{path}: lines have different numbers of cells, {sorted({count, len(cells)})}: "
                f"the first has {count}, line {number} has {len(cells)}."
            )
        yield number, cells


def _parse(lines: Iterable[Line], layout: Layout) -> tuple[NDArray, NDArray | None]:
    """Features as numbers, which grow in place, and labels apart."""
    features, target = layout.columns.features, layout.columns.target
    values, labels = array("d"), list[str]()
    known: dict[str, str] = {}  # one object per label, not per sample
    row = 0
    for row, (number, cells) in enumerate(lines, start=1):
        try:
            values.extend([float(cells[i]) for i in features])
        except ValueError:
            raise _no_number(row, number, cells, layout) from None
        if target is not None:
            labels.append(known.setdefault(cells[target], cells[target]))
    if not row:
        raise ValueError(f"{layout.path} holds no samples.")
    X = np.frombuffer(values, dtype=np.float64).reshape(row, len(features))
    if target is None:
        return X, None
    if layout.safe_labels:
        labels = [plain_spelling(label) for label in labels]
    return X, labels_of(layout.path, labels, layout.name(target))


def _no_number(row: int, number: int, cells: list[str], layout: Layout) -> ValueError:
    column = next(i for i in layout.columns.features if not is_number(cells[i]))
    hint = f" {layout.guess}" if layout.guess else ""
    return ValueError(
        f"{layout.path}: features must be numbers (row {row}, line {number}, column "
        f"{layout.name(column)!r}: got {shortened(cells[column])!r}). If the column holds labels, "
        f"name it with --target; else write a number, or leave the row out.{hint}"
    )
