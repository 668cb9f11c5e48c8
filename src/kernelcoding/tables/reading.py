"""Users' files of samples: text, NPY, NPZ and Parquet are read alike."""

from __future__ import annotations

import csv
import gzip
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..validation import has_only_characters
from .columns import Request, check_count, choose_columns
from .labels import labels_of
from .samples import LabelledSamples, joined
from .text_files import read_text
from .text_sources import STANDARD_INPUT

# How files that are not what their names say fail to be read.
UNREADABLE = (
    *(csv.Error, EOFError, UnicodeError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
    gzip.BadGzipFile,
)
TEXTS = (".csv", ".tsv", ".txt", ".data")


def read_samples(paths: Path | Sequence[Path], request: Request | None = None) -> LabelledSamples:
    """Read samples from one file or several.

    Parameters
    ----------
    paths : Path or sequence of Path
        Text with separated cells (``.csv``, ``.tsv``, ``.txt``, ``.data``, also with ``.gz``; ``-``
        is standard input), NPY, NPZ (arrays ``X`` and perhaps ``y``) or Parquet.
    request : Request, default=None
        What is wanted; None takes every column as a feature.
    """
    listed = [paths] if isinstance(paths, Path) else list(paths)
    request = Request() if request is None else request
    parts = [_read_one(path, request) for path in listed]
    return parts[0] if len(parts) == 1 else joined(parts, [str(path) for path in listed])


def kind_of(path: Path) -> str:
    """The ending that says how a file is read: that of the text within a ``.gz``."""
    if str(path) == STANDARD_INPUT:
        return TEXTS[0]
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()


def _read_one(path: Path, request: Request) -> LabelledSamples:
    ending = kind_of(path)
    reader = READERS.get(ending)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, which is not what this model takes: give it a file.")
    if reader is None or (path.suffix.lower() == ".gz" and ending not in TEXTS):
        raise ValueError(f"{path}: expected a file ending in {', '.join(READERS)}, or .csv.gz.")
    if ending not in TEXTS:
        _refuse_text_options(path, request)
    if str(path) != STANDARD_INPUT and not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    try:
        return reader(path, request)
    except UNREADABLE as error:
        raise ValueError(f"{path} is no {ending} file, or damaged: {error}.") from None


def _refuse_text_options(path: Path, request: Request) -> None:
    if request.header is not None:
        raise ValueError(f"{path}: --header and --no-header are for CSV files. Leave them out.")
    for value, option in ((request.separator, "--sep"), (request.encoding, "--encoding")):
        if value is not None:
            raise ValueError(f"{path}: {option} is for CSV files. Leave it out.")


def _read_numpy(path: Path, request: Request) -> LabelledSamples:
    arrays, target = _arrays(path), request.target
    if request.aside:
        raise ValueError(f"{path} has no columns with names, and so no {request.aside[0]!r}.")
    if isinstance(arrays, np.ndarray):
        if target is None or arrays.ndim != 2:
            return _by_position(path, arrays, None, request)
        columns = choose_columns(path, None, arrays.shape[1], request)
        y = labels_of(path, arrays[:, columns.target], target)
        X = _features(path, arrays[:, columns.features])
        return LabelledSamples(X, y, columns.names, columns.notes, target=columns.target)
    if "X" not in arrays:
        raise ValueError(f"{path} must hold an array X (and y for labels), got {list(arrays)}.")
    if target is not None and target not in arrays:
        raise ValueError(f"{path} has no array {target!r}; it has {list(arrays)}.")
    return _by_position(path, arrays["X"], arrays.get(target or "y"), request)


def _by_position(path: Path, X: NDArray, y: NDArray | None, request: Request) -> LabelledSamples:
    if y is not None and X.ndim and len(X) != (len(y) if y.ndim else 1):
        raise ValueError(
            f"{path}: X holds {len(X)} samples and {request.target or 'y'} labels of "
            f"{len(y) if y.ndim else 'one'}. Give every sample one label."
        )
    if X.ndim != 2 or request.model is None:
        return LabelledSamples(X, y)
    check_count(path, X.shape[1], request.model)
    return LabelledSamples(X, y, request.model.names)


def _arrays(path: Path) -> NDArray | dict[str, NDArray]:
    with path.open("rb") as file:
        try:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return _words_or_numbers(found)
            return {name: _words_or_numbers(found[name]) for name in found.files}
        except ValueError:  # NumPy would advise to unpickle
            raise ValueError(f"{path} must hold arrays of numbers or words.") from None


def _words_or_numbers(array: NDArray) -> NDArray:
    if not has_only_characters(array):
        raise ValueError("words that are no text")
    return array


def _features(path: Path, table: NDArray) -> NDArray:
    try:
        return np.asarray(table, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path}: features must be numbers ({error}). If a column holds labels, name it with "
            "--target."
        ) from None


def _read_parquet(path: Path, request: Request) -> LabelledSamples:
    try:
        import pandas

        frame = pandas.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"Parquet files need pandas and pyarrow: {error}") from None
    names = list(map(str, frame.columns))
    columns = choose_columns(path, names, len(names), request)
    y = None
    if columns.target is not None:
        labels = frame.iloc[:, columns.target]
        missing = labels.isna()
        cells = labels.astype(object).where(~missing, "") if missing.any() else labels
        y = labels_of(path, cells.to_numpy(), names[columns.target])
    aside = {
        key: frame.iloc[:, place].astype(str).to_numpy(object)
        for key, place in columns.aside.items()
    }
    X = frame.iloc[:, columns.features].reset_index(drop=True)
    X.columns = columns.called(names)
    return LabelledSamples(X, y, columns.names, columns.notes, aside, columns.target)


READERS: dict[str, Callable[[Path, Request], LabelledSamples]] = {
    **dict.fromkeys(TEXTS, read_text),
    ".npy": _read_numpy,
    ".npz": _read_numpy,
    ".parquet": _read_parquet,
}
