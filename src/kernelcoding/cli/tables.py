"""Users' data files: CSV, NPY, NPZ and Parquet, in and out."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, slots=True)
class Samples:
    """What a file holds: samples, and labels where there are any."""

    X: NDArray
    y: NDArray | None


def read(path: Path, target: str | None = None) -> Samples:
    """Read samples from a file.

    Parameters
    ----------
    path : Path
        CSV (with or without a line of names), NPY, NPZ (arrays ``X`` and perhaps ``y``) or Parquet.
    target : str, default=None
        The column with labels, by name or number, in CSV and Parquet files.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: expected a file ending in {', '.join(READERS)}.")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    return reader(path, target)


def _read_csv(path: Path, target: str | None) -> Samples:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        raise ValueError(f"{path} is empty.")
    names = None if all(_is_number(cell) for cell in lines[0]) else lines[0]
    rows = lines if names is None else lines[1:]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        raise ValueError(f"{path}: lines have different numbers of cells, {sorted(lengths)}.")
    table = np.array(rows, dtype=str)
    return _split(path, names, table, target)


def _split(path: Path, names: list[str] | None, table: NDArray, target: str | None) -> Samples:
    """Features as numbers, and the column of labels apart."""
    y = None
    if target is not None:
        column = _column(path, names, table.shape[1], target)
        y = table[:, column]
        table = np.delete(table, column, axis=1)
        if all(_is_number(cell) for cell in y):
            numbers = y.astype(float)
            y = numbers.astype(int) if np.array_equal(numbers, np.round(numbers)) else numbers
    try:
        return Samples(table.astype(np.float64), y)
    except ValueError as error:
        raise ValueError(
            f"{path}: features must be numbers ({error}). If a column holds labels, name it with "
            "--target."
        ) from None


def _column(path: Path, names: list[str] | None, count: int, target: str) -> int:
    if names is not None and target in names:
        return names.index(target)
    if target.lstrip("-").isdigit() and -count <= int(target) < count:
        return int(target) % count
    known = f"{count} columns" if names is None else f"columns {', '.join(names)}"
    raise ValueError(f"{path} has no column {target!r}; it has {known}.")


def _read_npy(path: Path, target: str | None) -> Samples:
    return Samples(np.load(path, allow_pickle=False), None)


def _read_npz(path: Path, target: str | None) -> Samples:
    with np.load(path, allow_pickle=False) as file:
        if "X" not in file.files:
            raise ValueError(f"{path} must hold an array X (and y for labels), got {file.files}.")
        y = target or "y"
        if target is not None and target not in file.files:
            raise ValueError(f"{path} has no array {target!r}; it has {file.files}.")
        return Samples(file["X"], file[y] if y in file.files else None)


def _read_parquet(path: Path, target: str | None) -> Samples:
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"Parquet files need pandas and pyarrow: {error}") from None
    return _split(path, list(map(str, frame.columns)), frame.to_numpy().astype(str), target)


READERS: dict[str, Callable[[Path, str | None], Samples]] = {
    ".csv": _read_csv,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
}


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write_codes(path: Path, codes: Any) -> None:
    """Write codes: NPZ as ``scipy.sparse.load_npz`` reads it, NPY or CSV as plain numbers."""
    dense = codes.toarray if sparse.issparse(codes) else lambda: np.asarray(codes)
    writers: dict[str, Callable[[], None]] = {
        ".npz": lambda: sparse.save_npz(path, sparse.csr_array(codes)),
        ".npy": lambda: np.save(path, dense()),
        ".csv": lambda: np.savetxt(path, dense(), delimiter=",", fmt="%.9g"),
    }
    _write(path, writers)


def write_labels(path: Path, labels: NDArray, scores: NDArray) -> None:
    """Write labels: NPZ with scores, NPY or CSV with the labels alone."""
    cells = np.atleast_2d(np.asarray(labels).T).T.astype(str)
    writers: dict[str, Callable[[], None]] = {
        ".npz": lambda: np.savez_compressed(path, labels=np.asarray(labels), scores=scores),
        ".npy": lambda: np.save(path, np.asarray(labels)),
        ".csv": lambda: np.savetxt(path, cells, delimiter=",", fmt="%s", encoding="utf-8"),
    }
    _write(path, writers)


def _write(path: Path, writers: dict[str, Callable[[], None]]) -> None:
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"--out must end in {', '.join(writers)}, got {path}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer()
