"""Text files of samples: how they are laid out is found out and said, and pandas reads them."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .columns import ModelFeatures, Request, choose_columns, is_position, listed
from .labels import is_number, labels_of, plain_spelling
from .packages import required_pandas
from .samples import LabelledSamples
from .text_sources import TextSource, encoding_of, source_of

if TYPE_CHECKING:
    import pandas as pd

LOOKED_AT = 100  # lines that are compared with the first one
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "|"}
DECIMAL_COMMA = re.compile("[+-]?[0-9]+,[0-9]+")
# How a cell says that it has no value; words of a column may say so, too.
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "?"),
    *("#NA", "-NaN"),
)
Cells = list[str]


@dataclass(frozen=True, slots=True)
class FirstLine:
    """What the first line of a file was taken for."""

    is_header: bool
    guess: str = ""  # a sentence, where it was not certain


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text is to be read."""

    source: TextSource
    encoding: str
    separator: str
    decimal: str
    names: Cells | None  # of the columns
    n_columns: int
    n_rows: int
    notes: tuple[str, ...]


def read_text(path: Path, request: Request) -> LabelledSamples:
    """Read samples from a text file with separated cells.

    Parameters
    ----------
    path : Path
        With or without a line of names.
    request : Request
    """
    layout = layout_of(source_of(path), request)
    name = layout.source.name
    columns = choose_columns(name, layout.names, layout.n_columns, request)
    plain = {i for i in (columns.target, *columns.aside.values()) if i is not None}
    wanted = sorted({*columns.features, *plain})
    frame = _parsed(layout, wanted, columns.words | plain, plain, request.engine)
    y = None
    if columns.target is not None:
        cells = frame[columns.target].tolist()
        if request.safe_labels:
            cells = [plain_spelling(cell) for cell in cells]
        called = str(columns.target) if layout.names is None else layout.names[columns.target]
        y = labels_of(name, cells, called)
    aside = {key: frame[place].to_numpy() for key, place in columns.aside.items()}
    X = frame[columns.features]
    X.columns = columns.called(layout.names)
    notes = (*layout.notes, *columns.notes)
    return LabelledSamples(X, y, columns.names, notes, aside, columns.target)


def layout_of(source: TextSource, request: Request) -> Layout:
    """Encoding, separator, names and size of a text; every line has as many cells as the first."""
    encoding, note = encoding_of(source, request.encoding)
    separator, beginning = _separator(source, encoding, request)
    if not beginning:
        raise ValueError(f"{source.name} holds no samples.")
    first, *others = beginning
    found = first_line(first, others, request)
    decimal = _decimal(separator, others)
    usual = "\t" if source.name.removesuffix(".gz").lower().endswith(".tsv") else ","
    notes = [note] if note else []
    if request.separator is None and separator != usual:
        said = SEPARATORS[separator]
        notes.append(f"{source.name}: cells were taken to be separated by {said}; else say --sep.")
    if decimal == ",":
        notes.append(f"{source.name}: numbers were read with a decimal comma.")
    if found.guess:
        notes.append(f"{source.name}: {found.guess}")
    n_rows = _count(source, encoding, separator, len(first)) - found.is_header
    if not n_rows:
        raise ValueError(f"{source.name} holds no samples.")
    names = first if found.is_header else None
    size = len(first), n_rows
    return Layout(source, encoding, separator, decimal, names, *size, tuple(notes))


def _separator(source: TextSource, encoding: str, request: Request) -> tuple[str, list[Cells]]:
    """What is between cells: told, or what cuts the first lines into the same number of them."""
    told = request.separator
    if told is not None:
        told = "\t" if told in ("\\t", "tab") else told
        if len(told) != 1:
            raise ValueError(f"--sep must be one character, or tab, got {told!r}.")
        return told, list(islice(_lines(source, encoding, told), 1 + LOOKED_AT))
    tries = {s: list(islice(_lines(source, encoding, s), 1 + LOOKED_AT)) for s in SEPARATORS}

    def merit(separator: str) -> tuple[bool, float, int]:
        counts = Counter(len(cells) for cells in tries[separator])
        width, times = max(counts.items(), key=lambda item: item[1], default=(0, 0))
        return width > 1, times / max(len(tries[separator]), 1), width

    best = max(SEPARATORS, key=merit)  # the first of equals: the comma
    return best, tries[best]


def _lines(source: TextSource, encoding: str, separator: str) -> Iterator[Cells]:
    with source.text(encoding) as file:
        yield from (cells for cells in csv.reader(file, delimiter=separator) if cells)


def _count(source: TextSource, encoding: str, separator: str, width: int) -> int:
    """Number of lines with cells; a line with another number of cells is refused."""
    count = 0
    with source.text(encoding) as file:
        reader = csv.reader(file, delimiter=separator)
        for cells in reader:
            if cells and len(cells) != width:
                raise ValueError(
                    f"{source.name}: lines have different numbers of cells, "
                    f"{sorted({width, len(cells)})}: the first has {width}, line "
                    f"{reader.line_num} has {len(cells)}. Mend the line, or say --sep if cells are "
                    "separated by something else."
                )
            count += bool(cells)
    return count


def _decimal(separator: str, lines: list[Cells]) -> str:
    if separator == ",":
        return "."
    commas = any(DECIMAL_COMMA.fullmatch(cell.strip()) for cells in lines for cell in cells)
    points = any("." in cell and is_number(cell) for cells in lines for cell in cells)
    return "," if commas and not points else "."


def first_line(first: Cells, others: list[Cells], request: Request) -> FirstLine:
    """Whether the first line holds names, not a sample: as is said, as must be, or as it seems.

    It must if it names features of the model, or the target, or has no numbers at all; it cannot
    if a name would occur twice, or if all of it occurs among the words below. Numbers that are not
    those of their columns look like a sample; else a word above nothing but numbers is a name.

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
    if names_target or _names_features(first, numbers, request.model):
        return FirstLine(True)
    if not any(numbers):
        seen = [cell in {cells[i] for cells in others if i < len(cells)}
                for i, cell in enumerate(first)]  # fmt: skip
        if others and all(seen):
            return FirstLine(False, _guess(first, "a sample", "it holds names", "--header"))
        return FirstLine(True)
    if len(set(first)) < len(first):
        return FirstLine(False)
    if any(number and first[i] != str(i) for i, number in enumerate(numbers)):
        return FirstLine(False, _guess(first, "a sample", "it holds names", "--header"))
    if any(not number and _all_numbers(others, i) for i, number in enumerate(numbers)):
        return FirstLine(True, _guess(first, "names", "it is a sample", "--no-header"))
    return FirstLine(False, _guess(first, "a sample", "it holds names", "--header"))


def _names_features(first: Cells, numbers: list[bool], model: ModelFeatures | None) -> bool:
    """One word of the model is enough; numbers may be equal by chance, but not most of them."""
    if model is None or model.names is None:
        return False
    known = set(model.names)
    if any(cell in known and not number for cell, number in zip(first, numbers, strict=True)):
        return True
    return len(set(first)) == len(first) and 2 * len(known & set(first)) > len(known)


def _all_numbers(lines: list[Cells], column: int) -> bool:
    return all(is_number(cells[column]) for cells in lines if column < len(cells))


def _guess(first: Cells, taken_for: str, otherwise: str, option: str) -> str:
    return (
        f"The first line ({listed(first)}) was taken for {taken_for}; if {otherwise}, say {option}."
    )


def _parsed(
    layout: Layout,
    wanted: list[int],
    words: set[int] | frozenset[int],
    exact: set[int],
    engine: str,
) -> pd.DataFrame:
    """Columns by position: numbers where all cells are, else words; exact ones miss nothing."""
    frame = _read(layout, wanted, {i: str for i in words}, exact, engine)
    # Blocks of a file may differ: the words of a column are then read again, all as words.
    mixed = [i for i in wanted if frame[i].dtype.kind not in "biuf" and i not in words]
    if mixed:
        again = _read(layout, mixed, {i: str for i in mixed}, set(), engine)
        frame = frame.copy(deep=False)
        for i in mixed:
            frame[i] = again[i]
    return frame


def _read(
    layout: Layout, wanted: list[int], dtype: dict[int, type], exact: set[int], engine: str
) -> pd.DataFrame:
    pandas = required_pandas()
    missing = {i: [] if i in exact else list(MISSING) for i in wanted}
    options: dict[str, Any] = {"na_values": list(MISSING)}  # all that the parser of pyarrow knows
    if engine == "c":
        options = {"skipinitialspace": True, "index_col": False, "usecols": wanted}
        options["na_values"] = missing
        if int(pandas.__version__.split(".")[0]) < 3:  # later ones read every digit
            options["float_precision"] = "round_trip"
    with layout.source.open() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
        frame = pandas.read_csv(
            file,
            sep=layout.separator,
            decimal=layout.decimal,
            encoding=layout.encoding,
            header=None if layout.names is None else 0,
            names=range(layout.n_columns),
            dtype=dtype,
            keep_default_na=False,
            engine=engine,
            **options,
        )
    if len(frame) != layout.n_rows:
        raise ValueError(
            f"{layout.source.name}: {layout.n_rows} lines have cells and {len(frame)} were read. "
            "Look for quotes that are not closed, and for lines of spaces."
        )
    return frame[wanted]
