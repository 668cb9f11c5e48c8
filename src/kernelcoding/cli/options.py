"""Options that several commands have, and the names that options take."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..tables import ModelFeatures, Request

DATA, MODEL, SEARCH, OUTPUT = "Data", "Model", "Search", "Output"


class CoderName(StrEnum):
    """Ways to code."""

    sparse = "sparse"
    llc = "llc"
    lcc = "lcc"
    words = "words"
    pursuit = "pursuit"


class ClassifierName(StrEnum):
    """How labels are made of codes."""

    auto = "auto"
    none = "none"
    residual = "residual"
    linear = "linear"
    bilinear = "bilinear"
    margin = "max-margin"
    logistic = "logistic"
    landmarks = "landmarks"


class Effort(StrEnum):
    """How long models are compared."""

    none = "none"
    quick = "quick"
    full = "full"


class Engine(StrEnum):
    """Parsers of pandas."""

    c = "c"
    pyarrow = "pyarrow"


class ClassWeight(StrEnum):
    """Weights of classes."""

    balanced = "balanced"


Data = Annotated[
    list[Path],
    typer.Argument(
        help="CSV, TSV (also .gz), Parquet, NPY or NPZ (X, y) files; - is stdin. Or a folder of "
        "pictures."
    ),
]
Model = Annotated[Path, typer.Argument(help="File written by fit.")]
Target = Annotated[
    str | None, typer.Option(help="Column with labels, name or number.", rich_help_panel=DATA)
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file is names.",
        rich_help_panel=DATA,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option("--sep", help="Between cells: a character, or tab.", rich_help_panel=DATA),
]
Encoding = Annotated[
    str | None, typer.Option(help="Of text: utf-8, cp1252, ...", rich_help_panel=DATA)
]
EngineOption = Annotated[
    Engine, typer.Option("--engine", help="Parser of text files.", rich_help_panel=DATA)
]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="Labels in CSV files have a ' before = + - @, for Excel.",
        rich_help_panel=DATA,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite --out where it exists.", rich_help_panel=OUTPUT),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show what long calls do.", rich_help_panel=OUTPUT),
]
Report = Annotated[
    Path | None, typer.Option(help="A page to write, .html.", rich_help_panel=OUTPUT)
]
Masks = Annotated[
    Path | None, typer.Option(help="Folder of masks of pictures.", rich_help_panel=DATA)
]


def one_folder(data: list[Path]) -> Path:
    """The folder of pictures that was given; several are refused."""
    if len(data) > 1:
        raise ValueError("Give one folder of pictures, whose sub-folders are the classes.")
    return data[0]


def refuse_given(given: Mapping[str, object], why: str) -> None:
    """Refuse options that were given where they mean nothing.

    Parameters
    ----------
    given : mapping of str to object
        Options and what they were given; None, False and nothing at all are not given.
    why : str
        A sentence.
    """
    named = [option for option, value in given.items() if value is not None and value != []]
    if named:
        raise ValueError(f"{why}: leave {', '.join(named)} out.")


def request_for(
    model: ModelFeatures | None,
    target: str | None,
    header: bool | None,
    separator: str | None,
    encoding: str | None,
    aside: tuple[str, ...] = (),
    safe_labels: bool = False,
) -> Request:
    """What is wanted of a file: the features of a model, or every column where there is none."""
    return Request(
        target=target,
        header=header,
        model=model,
        separator=separator,
        encoding=encoding,
        aside=aside,
        safe_labels=safe_labels,
    )
