"""Users' data files: samples are read from CSV, NPY, NPZ and Parquet, codes and labels written."""

from __future__ import annotations

import csv
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, dense

if TYPE_CHECKING:
    import pandas as pd

Written = ParamSpec("Written")
# How files that are not what their names say fail to be read.
UNREADABLE = (
    *(csv.Error, EOFError, UnicodeDecodeError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
LARGEST_EXACT = 2**53  # up to here a float says which integer it is


@dataclass(frozen=True, slots=True)
class LabelledSamples:
    """What a file holds: samples, and labels where there are any."""

    X: NDArray
    y: NDArray | None


def read_samples(path: Path, target: str | None = None) -> LabelledSamples:
    """Read samples from a file.

    Parameters
    ----------
    path : Path
        CSV (with or without a line of names), NPY, NPZ (arrays ``X`` and perhaps ``y``) or Parquet.
    target : str, default=None
        The column with labels, by name or number; in NPZ files the array with labels.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: expected a file ending in {', '.join(READERS)}.")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    try:
        return reader(path, target)
    except UNREADABLE as error:
        raise ValueError(f"{path} is no {path.suffix} file, or damaged: {error}.") from None


def _read_csv(path: Path, target: str | None) -> LabelledSamples:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    lengths = {len(line) for line in lines}
    if len(lengths) > 1:
        raise ValueError(f"{path}: lines have different numbers of cells, {sorted(lengths)}.")
    names = lines[0] if lines and _is_header(lines, target) else None
    rows = lines if names is None else lines[1:]
    if not rows:
        raise ValueError(f"{path} holds no samples.")
    return _split(path, names, np.array(rows, dtype=str), target)


def _is_header(lines: list[list[str]], target: str | None) -> bool:
    """Whether the first line holds names, not a sample that ends in a word.

    It does if it names the target or has no numbers at all; among numbers, which must then be
    those of their columns, if a word stands above nothing but numbers.
    """
    first, *rest = lines
    numbers = [_is_number(cell) for cell in first]
    if not any(numbers):
        return True
    if target in first and not _is_number(str(target)):
        return True
    if any(number and first[i] != str(i) for i, number in enumerate(numbers)):
        return False
    return any(
        not number and all(_is_number(line[i]) for line in rest) for i, number in enumerate(numbers)
    )


def _split(
    path: Path, names: list[str] | None, table: NDArray, target: str | None
) -> LabelledSamples:
    """Features as numbers, and the column of labels apart."""
    y = None
    if target is not None:
        column = _column_index(path, names, table.shape[1], target)
        y = _labels(path, table[:, column])
        table = np.delete(table, column, axis=1)
    return LabelledSamples(_features(path, table), y)


def _features(path: Path, table: NDArray | pd.DataFrame) -> NDArray:
    try:
        return np.asarray(table, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path}: features must be numbers ({error}). If a column holds labels, name it with "
            "--target."
        ) from None


def _labels(path: Path, cells: NDArray) -> NDArray:
    """Integers where all labels are, else numbers or words."""
    if cells.dtype.kind in "UO":
        cells = cells.astype(str)
        missing = sum(not cell.strip() for cell in cells)
        if missing:
            raise ValueError(f"{path}: {missing} of {len(cells)} samples have no label.")
        if not all(_is_number(cell) for cell in cells):
            return cells
        try:
            return cells.astype(np.int64)  # not by way of floats: identifiers are long
        except (ValueError, OverflowError):
            cells = cells.astype(np.float64)
    whole = np.all((cells == np.round(cells)) & (np.abs(cells) < LARGEST_EXACT))
    return cells.astype(np.int64) if whole else cells


def _column_index(path: Path, names: list[str] | None, count: int, target: str) -> int:
    if names is not None and target in names:
        return names.index(target)
    if re.fullmatch("-?[0-9]+", target) and -count <= int(target) < count:
        return int(target) % count
    known = f"{count} columns" if names is None else f"columns {', '.join(names)}"
    raise ValueError(f"{path} has no column {target!r}; it has {known}.")


def _read_numpy(path: Path, target: str | None) -> LabelledSamples:
    arrays = _arrays(path)
    if isinstance(arrays, np.ndarray):
        if target is None or arrays.ndim != 2:
            return LabelledSamples(arrays, None)
        return _split(path, None, arrays, target)
    if "X" not in arrays:
        raise ValueError(f"{path} must hold an array X (and y for labels), got {list(arrays)}.")
    if target is not None and target not in arrays:
        raise ValueError(f"{path} has no array {target!r}; it has {list(arrays)}.")
    return LabelledSamples(arrays["X"], arrays.get(target or "y"))


def _arrays(path: Path) -> NDArray | dict[str, NDArray]:
    with path.open("rb") as file:
        try:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return found
            return {name: found[name] for name in found.files}
        except ValueError:  # NumPy would advise to unpickle
            raise ValueError(f"{path} must hold arrays of numbers or words.") from None


def _read_parquet(path: Path, target: str | None) -> LabelledSamples:
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"Parquet files need pandas and pyarrow: {error}") from None
    y = None
    if target is not None:
        column = _column_index(path, list(map(str, frame.columns)), frame.shape[1], target)
        labels = frame.iloc[:, column]
        y = _labels(path, labels.where(labels.notna(), "").to_numpy())
        frame = frame.drop(columns=frame.columns[column])
    return LabelledSamples(_features(path, frame), y)


READERS: dict[str, Callable[[Path, str | None], LabelledSamples]] = {
    ".csv": _read_csv,
    ".npy": _read_numpy,
    ".npz": _read_numpy,
    ".parquet": _read_parquet,
}


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def codes_writer(path: Path) -> Callable[[Codes], None]:
    """Write codes: NPZ as ``scipy.sparse.load_npz`` reads it, NPY or CSV as plain numbers."""
    return _writer(path, CODES)


def labels_writer(path: Path) -> Callable[[NDArray, NDArray], None]:
    """Write labels: NPZ with scores, NPY or CSV with the labels alone."""
    return _writer(path, LABELS)


def _writer(
    path: Path, writers: dict[str, Callable[Concatenate[Path, Written], None]]
) -> Callable[Written, None]:
    """The writer for a file; a wrong ending is refused before anything is computed."""
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"--out must end in {', '.join(writers)}, got {path}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    return partial(writer, path)


def _sparse_codes(path: Path, codes: Codes) -> None:
    with path.open("wb") as file:
        sparse.save_npz(file, sparse.csr_array(codes))


def _dense_codes(path: Path, codes: Codes) -> None:
    with path.open("wb") as file:
        np.save(file, dense(codes))


def _written_codes(path: Path, codes: Codes) -> None:
    np.savetxt(path, dense(codes), delimiter=",", fmt="%.9g")


def _scored_labels(path: Path, labels: NDArray, scores: NDArray) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, labels=_typed(labels), scores=scores)


def _plain_labels(path: Path, labels: NDArray, scores: NDArray) -> None:
    with path.open("wb") as file:
        np.save(file, _typed(labels))


def _written_labels(path: Path, labels: NDArray, scores: NDArray) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(labels.reshape(len(labels), -1))


def _typed(labels: NDArray) -> NDArray:
    """Without Python objects, which NumPy would pickle."""
    return labels.astype(str) if labels.dtype == object else labels


CODES: dict[str, Callable[[Path, Codes], None]] = {
    ".npz": _sparse_codes,
    ".npy": _dense_codes,
    ".csv": _written_codes,
}
LABELS: dict[str, Callable[[Path, NDArray, NDArray], None]] = {
    ".npz": _scored_labels,
    ".npy": _plain_labels,
    ".csv": _written_labels,
}
