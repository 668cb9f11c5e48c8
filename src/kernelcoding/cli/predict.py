"""encode and predict: codes and labels of the samples of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .. import persistence
from ..codes import Codes
from ..model_search import Watch
from ..own_data.answers import Answers, answers_of, by_parts
from ..own_data.parts import CodingParts, coding_parts, features_of, table_columns
from ..own_data.pictures import any_pictures, is_picture_model
from ..own_data.unseen import unseen_categories
from ..tables import LabelledSamples, read_samples
from ..tables.labels import is_formula
from ..tables.samples import refuse_missing
from . import options
from .console import console, friendly, note
from .output_files import Rows, check_output, codes_writer, labels_writer
from .progress import followed


@friendly
def encode_command(
    model: options.Model,
    data: options.Data,
    out: Annotated[
        Path, typer.Option(help=".npz (sparse), .npy or .csv", rich_help_panel=options.OUTPUT)
    ] = Path("codes.npz"),
    target: options.Target = None,
    header: options.Header = None,
    sep: options.Separator = None,
    encoding: options.Encoding = None,
    verbose: options.Verbose = False,
    force: options.Force = False,
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
    if is_picture_model(fitted):
        X: Any = any_pictures(data).images
    else:
        request = options.request_for(features_of(fitted), target, header, sep, encoding)
        X = model_input(read_samples(data, request), data, fitted)
    with followed("Coding", verbose, bar=isinstance(X, list)) as watch:
        codes = _codes(parts, X, watch)
    write(codes)
    console.print(f"{codes.shape[0]} codes of {codes.shape[1]} atoms: {out}", markup=False)


def _codes(parts: CodingParts, X: Any, watch: Watch | None) -> Codes:
    found = by_parts(X, lambda some: parts.coder.transform(parts.prepared(some)), watch)
    if len(found) == 1:
        return found[0]
    return sparse.vstack(found, "csr") if sparse.issparse(found[0]) else np.concatenate(found)


@friendly
def predict_command(
    model: options.Model,
    data: options.Data,
    out: Annotated[
        Path,
        typer.Option(
            help=".csv (labels, probabilities), .npz (with scores) or .npy",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("labels.csv"),
    target: Annotated[
        str | None, typer.Option(help="Known labels, to compare with.", rich_help_panel="Data")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", help="Column that names the rows.", rich_help_panel="Data"),
    ] = None,
    header: options.Header = None,
    sep: options.Separator = None,
    encoding: options.Encoding = None,
    safe_csv: options.SafeCsv = False,
    verbose: options.Verbose = False,
    force: options.Force = False,
) -> None:
    """Predict labels for the samples of a file; columns are found by their names.

    A CSV file has a line per sample: its row or name, the label, a probability per class, and
    whether the model knows such samples.

    [dim]kernelcoding predict model.kc new.csv --out labels.csv[/]
    """
    write = labels_writer(out, safe_csv)
    check_output(out, [model, *data], force)
    fitted = classifier_of(model)
    truth, X = None, None
    if is_picture_model(fitted):
        options.refuse_given({"--target": target, "--id": id}, "Pictures have no columns")
        pictures = any_pictures(data)
        X, rows = pictures.images, ("picture", pictures.names)
    else:
        aside = () if id is None else (id,)
        features = features_of(fitted)
        request = options.request_for(features, target, header, sep, encoding, aside, safe_csv)
        samples = read_samples(data, request)
        X, truth, rows = model_input(samples, data, fitted), samples.y, _rows(samples, id)
    with followed("Predicting", verbose, bar=isinstance(X, list)) as watch:
        found = answers_of(fitted, X, persistence.about(model), watch)
    if truth is not None and truth.shape != found.labels.shape:
        raise ValueError(
            f"{data[0]} must hold labels of shape {found.labels.shape}, got {truth.shape}."
        )
    write(found, rows)
    if out.suffix.lower() == ".csv" and not safe_csv:
        _note_formulas(found.labels, out)
    _tell(found, truth, out)


def classifier_of(model: Path) -> BaseEstimator:
    """The model of a file, which must name samples."""
    fitted = persistence.load(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts no labels.")
    return fitted


def model_input(samples: LabelledSamples, paths: list[Path], model: BaseEstimator) -> Any:
    """Samples as a model takes them, with what is to be said of them."""
    note(*samples.notes)
    source = ", ".join(map(str, paths))
    if table_columns(model) is not None:
        note(*unseen_categories(model, samples.X, source))
        return samples.X
    X = samples.numbers(source)
    # A pipeline may begin with an imputer, and its tags do not tell.
    if not isinstance(model, Pipeline) and not get_tags(model).input_tags.allow_nan:
        refuse_missing(X, source)
    return X


def _rows(samples: LabelledSamples, name: str | None) -> Rows:
    """What rows are called, and by which heading."""
    if name is None:
        return "row", [str(row) for row in range(1, len(samples.X) + 1)]
    return name, [str(cell) for cell in samples.aside[name].tolist()]


def _tell(found: Answers, truth: NDArray | None, out: Path) -> None:
    console.print(f"{len(found.labels)} labels: {out}", markup=False)
    if found.known is not None and not found.known.all():
        unknown = int((~found.known).sum())
        note(f"{unknown} of {len(found.known)} samples are unlike what the model knows.")
    if truth is not None:
        console.print(f"Accuracy: {100 * _share_equal(found.labels, truth):.1f} %")


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
