"""encode and predict: codes and labels of the samples of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .. import persistence
from ..own_data.answers import Answers, answers_of
from ..own_data.parts import coding_parts, features_of, table_columns
from ..own_data.pictures import any_pictures, is_picture_model
from ..tables import LabelledSamples, read_samples
from ..tables.labels import is_formula
from ..tables.samples import refuse_missing
from .console import console, friendly, note
from .options import (
    OUTPUT,
    Data,
    Encoding,
    Force,
    Header,
    Model,
    SafeCsv,
    Separator,
    Target,
    Verbose,
    request_for,
)
from .output_files import check_output, codes_writer, labels_writer
from .progress import heard


@friendly
def encode_command(
    model: Model,
    data: Data,
    out: Annotated[
        Path, typer.Option(help=".npz (sparse), .npy or .csv", rich_help_panel=OUTPUT)
    ] = Path("codes.npz"),
    target: Target = None,
    header: Header = None,
    sep: Separator = None,
    encoding: Encoding = None,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Code the samples of a file with a fitted model; columns are found by their names.

    [dim]kernelcoding encode model.kc data.npz --out codes.npz[/]
    """
    write = codes_writer(out)
    check_output(out, [model, *data], force)
    fitted = persistence.load(model)
    parts = coding_parts(fitted)
    if parts is None or not hasattr(parts.coder, "transform"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which has no codes.")
    request = request_for(features_of(fitted), target, header, sep, encoding)
    samples = read_samples(data, request)
    with heard(verbose):
        codes = parts.coder.transform(parts.prepared(model_input(samples, data, fitted)))
    write(codes)
    console.print(f"{codes.shape[0]} codes of {codes.shape[1]} atoms: {out}", markup=False)


@friendly
def predict_command(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            help=".csv (labels, probabilities), .npz (with scores) or .npy", rich_help_panel=OUTPUT
        ),
    ] = Path("labels.csv"),
    target: Annotated[
        str | None, typer.Option(help="Known labels, to compare with.", rich_help_panel="Data")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", help="Column that names the rows.", rich_help_panel="Data"),
    ] = None,
    header: Header = None,
    sep: Separator = None,
    encoding: Encoding = None,
    safe_csv: SafeCsv = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Predict labels for the samples of a file; columns are found by their names.

    A CSV file has a line per sample: its row or name, the label, a probability per class, and
    whether the model knows such samples.

    [dim]kernelcoding predict model.kc new.csv --out labels.csv[/]
    """
    write = labels_writer(out, safe_csv)
    check_output(out, [model, *data], force)
    fitted = persistence.load(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts no labels.")
    if is_picture_model(fitted):
        found_pictures = any_pictures(data)
        with heard(verbose):
            found = answers_of(fitted, found_pictures.images, persistence.about(model))
        write(found, ("picture", found_pictures.names))
        console.print(f"{len(found.labels)} labels: {out}", markup=False)
        return
    aside = () if id is None else (id,)
    request = request_for(features_of(fitted), target, header, sep, encoding, aside, safe_csv)
    samples = read_samples(data, request)
    X = model_input(samples, data, fitted)
    with heard(verbose):
        found = answers_of(fitted, X, persistence.about(model))
    if samples.y is not None and samples.y.shape != found.labels.shape:
        raise ValueError(
            f"{data[0]} must hold labels of shape {found.labels.shape}, got {samples.y.shape}."
        )
    write(found, _rows(samples, id, len(found.labels)))
    if out.suffix.lower() == ".csv" and not safe_csv:
        _note_formulas(found.labels, out)
    _tell(found, samples, out)


def model_input(samples: LabelledSamples, paths: list[Path], model: BaseEstimator) -> Any:
    """Samples as a model takes them, with what is to be said of them."""
    note(*samples.notes)
    if table_columns(model) is not None:
        return samples.X
    source = ", ".join(map(str, paths))
    X = samples.numbers(source)
    # A pipeline may begin with an imputer, and its tags do not tell.
    if not isinstance(model, Pipeline) and not get_tags(model).input_tags.allow_nan:
        refuse_missing(X, source)
    return X


def _rows(samples: LabelledSamples, name: str | None, count: int) -> tuple[str, list[str]]:
    """What rows are called, and by which heading."""
    if name is None:
        return "row", [str(row) for row in range(1, count + 1)]
    return name, [str(cell) for cell in samples.aside[name].tolist()]


def _tell(found: Answers, samples: LabelledSamples, out: Path) -> None:
    console.print(f"{len(found.labels)} labels: {out}", markup=False)
    if found.known is not None and not found.known.all():
        unknown = int((~found.known).sum())
        note(f"{unknown} of {len(found.known)} samples are unlike what the model knows.")
    if samples.y is not None:
        console.print(f"Accuracy: {100 * _share_equal(found.labels, samples.y):.1f} %")


def _note_formulas(labels: NDArray, out: Path) -> None:
    found = next((str(label) for label in np.unique(labels) if is_formula(str(label))), None)
    if found is not None and labels.dtype.kind in "UO":
        note(
            f"{out}: a spreadsheet would run labels such as {found!r} as formulas; --safe-csv "
            "writes them with a ' in front."
        )


def _share_equal(labels: NDArray, known: NDArray) -> float:
    """Compared as text, but not in arrays of text, in which all are as long as the longest."""
    pairs = zip(labels.ravel().tolist(), known.ravel().tolist(), strict=True)
    return float(np.mean([str(label) == str(other) for label, other in pairs]))
