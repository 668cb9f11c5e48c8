"""Files that commands write: never over an input, and over another file only when told to."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, dense
from ..own_data.answers import Answers
from ..tables.labels import safe_spelling

Written = ParamSpec("Written")
LARGEST_TEXT = 2**28  # characters that an array of labels may have room for: 1 GiB


def check_output(path: Path, inputs: Iterable[Path], force: bool, option: str = "--out") -> None:
    """Refuse, before any work, an output that would destroy something; make its folder.

    Parameters
    ----------
    path : Path
        The file to write.
    inputs : iterable of Path
        What the command reads; these are never overwritten.
    force : bool
        Whether another file may be.
    option : str, default="--out"
        By which the file was named, for messages.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{option} must be a file, {path} is a folder.")
    for given in inputs:
        if is_same_file(path, given):
            raise ValueError(
                f"{option} {path} is the input {given}, which would be lost. Choose another "
                f"{option}."
            )
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists already. Choose another {option}, or overwrite it with --force."
        )
    path.parent.mkdir(parents=True, exist_ok=True)


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by whatever names and links."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def codes_writer(path: Path) -> Callable[[Codes], None]:
    """Write codes: NPZ as ``scipy.sparse.load_npz`` reads it, NPY or CSV as plain numbers."""
    return _writer(path, CODES)


Rows = tuple[str, list[str]]  # what names rows, and their names


def labels_writer(path: Path, safe: bool = False) -> Callable[[Answers, Rows], None]:
    """Write answers: CSV and NPZ with all of them, NPY with the labels alone.

    Parameters
    ----------
    path : Path
    safe : bool, default=False
        Whether labels in CSV files are spelled for spreadsheets.
    """
    return _writer(path, LABELS | {".csv": partial(_written_labels, safe=safe)})


def _writer(
    path: Path, writers: dict[str, Callable[Concatenate[Path, Written], None]]
) -> Callable[Written, None]:
    """The writer for a file; a wrong ending is refused before anything is computed."""
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"--out must end in {', '.join(writers)}, got {path}.")

    def write(*args: Written.args, **kwargs: Written.kwargs) -> None:
        # Beside it, then renamed: what was there is lost only when the new file is whole.
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            writer(part, *args, **kwargs)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    return write


def _sparse_codes(path: Path, codes: Codes) -> None:
    with path.open("wb") as file:
        sparse.save_npz(file, sparse.csr_array(codes))


def _dense_codes(path: Path, codes: Codes) -> None:
    with path.open("wb") as file:
        np.save(file, dense(codes))


def _written_codes(path: Path, codes: Codes) -> None:
    np.savetxt(path, dense(codes), delimiter=",", fmt="%.9g")


def _scored_labels(path: Path, found: Answers, rows: Rows) -> None:
    optional = {
        "scores": found.scores,
        "probabilities": found.probabilities,
        "known": found.known,
        "classes": None if found.classes is None else _typed(np.asarray(found.classes)),
    }
    arrays = {name: array for name, array in optional.items() if array is not None}
    if rows[0] != "row":
        arrays["id"] = _typed(np.array(rows[1], dtype=object))
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, labels=_typed(found.labels), **arrays)


def _plain_labels(path: Path, found: Answers, rows: Rows) -> None:
    with path.open("wb") as file:
        np.save(file, _typed(found.labels))


def _written_labels(path: Path, found: Answers, rows: Rows, safe: bool = False) -> None:
    """A line of names, then one line per sample."""
    is_words = found.labels.dtype.kind in "UO"
    spelled = safe_spelling if safe and is_words else str
    columns = [rows[1], *([spelled(str(x)) for x in part] for part in _label_columns(found.labels))]
    n_labels = len(columns) - 1
    names = [rows[0], *(["label"] if n_labels == 1 else map("label {}".format, range(n_labels)))]
    if found.probabilities is not None and found.classes is not None:
        names += [f"probability {spelled(str(name))}" for name in found.classes]
        columns += [[f"{p:.6g}" for p in column] for column in found.probabilities.T.tolist()]
    if found.known is not None:
        names.append("known")
        columns.append(["yes" if known else "no" for known in found.known])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))


def _label_columns(labels: NDArray) -> list[list]:
    return labels.reshape(len(labels), -1).T.tolist()


def _typed(labels: NDArray) -> NDArray:
    """Without Python objects, which NumPy would pickle."""
    if labels.dtype != object:
        return labels
    longest = max(len(str(label)) for label in labels.ravel())
    if longest * labels.size > LARGEST_TEXT:
        raise ValueError(
            f"NumPy gives every label the room of the longest, {longest} characters. Write these "
            "labels as CSV: --out labels.csv."
        )
    return labels.astype(str)


CODES: dict[str, Callable[[Path, Codes], None]] = {
    ".npz": _sparse_codes,
    ".npy": _dense_codes,
    ".csv": _written_codes,
}
LABELS: dict[str, Callable[[Path, Answers, Rows], None]] = {
    ".npz": _scored_labels,
    ".npy": _plain_labels,
    ".csv": _written_labels,
}
