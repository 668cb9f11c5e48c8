"""Users' files of samples: CSV, NPY, NPZ and Parquet are read alike."""

from __future__ import annotations

import csv
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..validation import has_only_characters
from .columns import ModelFeatures, Request, check_count, choose_columns, shortened
from .csv_files import read_csv
from .labels import labels_of
from .samples import LabelledSamples

if TYPE_CHECKING:
    import pandas as pd

# How files that are not what their names say fail to be read.
UNREADABLE = (
    *(csv.Error, EOFError, UnicodeDecodeError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def read_samples(
    path: Path,
    target: str | None = None,
    *,
    header: bool | None = None,
    model: ModelFeatures | None = None,
    safe_labels: bool = False,
) -> LabelledSamples:
    """Read samples from a file.

    Parameters
    ----------
    path : Path
        CSV (with or without a line of names), NPY, NPZ (arrays ``X`` and perhaps ``y``) or Parquet.
    target : str, default=None
        The column with labels, by name or number; in NPZ files the array with labels.
    header : bool, default=None
        Whether the first line of a CSV file holds names; None looks at the file.
    model : ModelFeatures, default=None
        Features to look for, by name where model and file have names, else by position. None takes
        every column.
    safe_labels : bool, default=False
        Whether labels of a CSV file are spelled for spreadsheets, see
        :func:`kernelcoding.cli.labels.safe_spelling`.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: expected a file ending in {', '.join(READERS)}.")
    if header is not None and reader is not read_csv:
        raise ValueError(f"{path}: --header and --no-header are for CSV files. Leave them out.")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    try:
        return reader(path, Request(target, header, model, safe_labels))
    except UNREADABLE as error:
        raise ValueError(f"{path} is no {path.suffix} file, or damaged: {error}.") from None


def _read_numpy(path: Path, request: Request) -> LabelledSamples:
    arrays, target = _arrays(path), request.target
    if isinstance(arrays, np.ndarray):
        if target is None or arrays.ndim != 2:
            return _by_position(path, arrays, None, request)
        columns = choose_columns(path, None, arrays.shape[1], request)
        y = labels_of(path, arrays[:, columns.target], target)
        return LabelledSamples(_features(path, arrays[:, columns.features]), y, columns.names)
    if "X" not in arrays:
        raise ValueError(f"{path} must hold an array X (and y for labels), got {list(arrays)}.")
    if target is not None and target not in arrays:
        raise ValueError(f"{path} has no array {target!r}; it has {list(arrays)}.")
    return _by_position(path, arrays["X"], arrays.get(target or "y"), request)


def _by_position(path: Path, X: NDArray, y: NDArray | None, request: Request) -> LabelledSamples:
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
        import pandas as pd

        frame = pd.read_parquet(path)
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
    X = np.empty((len(frame), len(columns.features)))
    for position, column in enumerate(columns.features):
        X[:, position] = _numbers(path, names[column], frame.iloc[:, column])
    return LabelledSamples(X, y, columns.names, columns.notes)


def _numbers(path: Path, name: str, column: pd.Series) -> NDArray:
    """One column as numbers; dates have numbers, too, but nobody means them."""
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError(f"they are {column.dtype}")
        return column.to_numpy(dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path}: features must be numbers (column {name!r}: {shortened(str(error), 120)}). If "
            "the column holds labels, name it with --target."
        ) from None


READERS: dict[str, Callable[[Path, Request], LabelledSamples]] = {
    ".csv": read_csv,
    ".npy": _read_numpy,
    ".npz": _read_numpy,
    ".parquet": _read_parquet,
}
