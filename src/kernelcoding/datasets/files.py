"""Small readers of the files that data sets come in; each says what it expected and what came."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PHOTOGRAPHS = (".jpg", ".jpeg", ".png")
_PGM_HEADER = re.compile(rb"P5(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)\s+(\d+)\s")
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_list(path: Path) -> list[str]:
    """Lines of a list, without empty ones; names may contain spaces."""
    if not path.is_file():
        raise FileNotFoundError(f"Expected the list {path}, which does not exist.")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    entries = [line.strip() for line in lines if line.strip()]
    if not entries:
        raise ValueError(f"Expected names in {path}, got an empty list.")
    return entries


def check_files(paths: Iterable[Path], asked_by: str) -> None:
    """Refuse names of files that do not exist, and say which and how many."""
    paths = list(paths)
    absent = [str(path) for path in paths if not path.is_file()]
    if absent:
        raise FileNotFoundError(
            f"{len(absent)} of the {len(paths)} files named by {asked_by} do not exist, first "
            f"{', '.join(absent[:3])}. Complete the folder, or correct the list."
        )


def list_images(folder: Path) -> list[Path]:
    """Photographs in a folder, sorted by name; other files are not data."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in _PHOTOGRAPHS and not path.name.startswith(".")
    )


def list_classes(folder: Path) -> list[str]:
    """Folders in a folder, sorted: the classes of a set that is laid out so."""
    names = sorted(
        path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
    )
    if not names:
        raise ValueError(
            f"Expected one folder per class in {folder}, got none. Is it the right folder?"
        )
    return names


def read_pgm(path: Path) -> NDArray[np.uint8]:
    """Pixels (height, width) of a binary PGM file of 8 bits."""
    content = path.read_bytes()
    header = _PGM_HEADER.match(content)
    if header is None or int(header[3]) > 255:
        raise ValueError(f"Expected a binary PGM file (P5) of 8 bits, {path} is none.")
    width, height = int(header[1]), int(header[2])
    held = len(content) - header.end()
    if held < width * height:
        raise ValueError(f"{path} is cut off: {held} of {width * height} pixels.")
    pixels = np.frombuffer(content, np.uint8, width * height, header.end())
    return pixels.reshape(height, width)


def inspect_png(path: Path) -> tuple[int, str]:
    """Bits per channel of a PNG file, and a digest of its pixels.

    The digest covers the header and the packed pixels but no time stamps or comments. Equal digests
    are equal images; equal images may differ in it if they were packed differently.
    """
    digest, bits = hashlib.sha256(), 0
    for kind, content in _png_chunks(path):
        if kind == b"IHDR":
            bits = content[8]
        if kind in (b"IHDR", b"PLTE", b"IDAT"):
            digest.update(content)
    return bits, digest.hexdigest()


def _png_chunks(path: Path) -> Iterator[tuple[bytes, bytes]]:
    content, kind = path.read_bytes(), b""
    if not content.startswith(_PNG_SIGNATURE):
        raise ValueError(f"Expected a PNG file, {path} is none.")
    at = len(_PNG_SIGNATURE)
    while kind != b"IEND":
        if at + 12 > len(content):
            raise ValueError(f"{path} is cut off after {len(content)} bytes.")
        length, kind = struct.unpack_from(">I4s", content, at)
        yield kind, content[at + 8 : at + 8 + length]
        at += 12 + length


def read_mat(path: Path, names: Sequence[str]) -> dict[str, NDArray]:
    """Arrays of a MATLAB file by name."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path, variable_names=names)
    except (MatReadError, ValueError, TypeError, EOFError, NotImplementedError) as error:
        raise ValueError(
            f"{path} cannot be read as a MATLAB file ({error}). Expected version 7 or older with "
            f"{', '.join(names)}."
        ) from error
    return _require(content, names, path)


def read_npz(path: Path, names: Sequence[str]) -> dict[str, NDArray]:
    """Arrays of an NPZ file by name; objects, which could run code, are refused."""
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in names if name in file}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as an NPZ file ({error}).") from error
    return _require(content, names, path)


def _require(content: dict[str, NDArray], names: Sequence[str], path: Path) -> dict[str, NDArray]:
    lacking = [name for name in names if name not in content]
    if lacking:
        raise ValueError(f"Expected the arrays {', '.join(names)} in {path}; it lacks {lacking}.")
    return {name: content[name] for name in names}
