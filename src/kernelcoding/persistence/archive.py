"""The zip archive of a model file, of which nothing is expanded before it is known what it holds.

The directory of the archive says how large its members are. They are added up before anything is
read, each array must be as large as its own header says, and no member is read beyond its size.

How much is too much was measured. Deflate, all that :func:`~.save` compresses with, gives at
most 1032 bytes per byte, and honest models come close: dense numbers have a ratio of 1.04, arrays
with one percent of nonzeros 70, one-hot codes 750, zeros 1026. So a ratio alone tells no bomb from
a model, and a file of any ratio may have :data:`FREE_BYTES`; beyond, :data:`MAX_RATIO` holds.
"""

from __future__ import annotations

import math
import zipfile
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..validation import has_only_characters
from .errors import ModelFileError

MAX_RATIO = 100  # expanded bytes per byte of the file
FREE_BYTES = 1 << 30  # a small file may have any ratio
MAX_DESCRIPTION = 1 << 26  # bytes: sixteen million letters
_DESCRIPTION = "description"
_ENDING = ".npy"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CUT_OFF = (
    "the file begins like a model file and has no end: perhaps it was cut off by a copy or a "
    "download that did not finish. Copy it again, or save the model again."
)
_APART = "the file does not have the arrays that its description names: it is damaged."


class ModelArchive:
    """The arrays of a model file, read one by one as they are asked for.

    Parameters
    ----------
    file : binary file
        Open, at its start.
    max_bytes : int or None
        What may be expanded. None is the default of :func:`~.load`.

    Raises
    ------
    ModelFileError
        If the members add up to more, or cannot be what they say.
    """

    def __init__(self, file: IO[bytes], max_bytes: int | None = None) -> None:
        if file.read(4) != b"PK\x03\x04":  # zipfile would skip whatever comes before
            raise zipfile.BadZipFile
        if not zipfile.is_zipfile(file):
            raise ModelFileError(_CUT_OFF)
        size = file.seek(0, 2)
        self._max_description = max_bytes or MAX_DESCRIPTION
        self._zip = zipfile.ZipFile(file)
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._limit, self._why = _limit(size, max_bytes)
        self._spent = 0
        for info in self._zip.infolist():
            name = info.filename.removesuffix(_ENDING)
            if name in self._members or name == info.filename or info.compress_type not in _METHODS:
                raise ModelFileError("the archive has members that no model has: it is damaged.")
            self._members[name] = info
        if sum(info.compress_size for info in self._members.values()) > size:
            raise ModelFileError("the members of the archive overlap: it is damaged.")
        self.spend(sum(info.file_size for info in self._members.values()))

    def spend(self, n_bytes: int) -> None:
        """Count bytes that are about to be made of the file, and refuse too many."""
        self._spent += n_bytes
        if self._spent > self._limit:
            raise ModelFileError(
                f"its arrays take {_megabytes(self._spent)} or more, and {self._why}. If you trust "
                "the file, load it with a larger max_bytes."
            )

    def description(self) -> str:
        """The text that says what the arrays are."""
        info = self._members[_DESCRIPTION]
        if info.file_size > self._max_description:
            raise ModelFileError(
                f"its description takes {_megabytes(info.file_size)}, more than the "
                f"{_megabytes(self._max_description)} that are read. If you trust the file, load "
                "it with a larger max_bytes."
            )
        array = self.take(_DESCRIPTION)
        if array.shape != () or array.dtype.kind != "U":
            raise ModelFileError("its description is no text: the file is damaged.")
        return str(array)

    def expect(self, names: list[str]) -> None:
        """Refuse a file that has other arrays than these, or one that is to be in two places."""
        if sorted(names) != sorted(self._members):
            raise ModelFileError(_APART)

    def take(self, name: str) -> np.ndarray:
        """Read an array, which belongs in one place."""
        info = self._members.pop(name)
        with self._zip.open(info) as stream:
            size = _announced_size(stream)
            if size != info.file_size:
                raise ModelFileError(
                    f"the array {name!r} is announced with {size} bytes and has {info.file_size}: "
                    "the file is damaged."
                )
            stream.seek(0)
            array = npy.read_array(stream, allow_pickle=False)
        if not has_only_characters(array):
            raise ModelFileError(f"words of the array {name!r} are no text: the file is damaged.")
        return array


def _announced_size(stream: IO[bytes]) -> int:
    """Bytes that an array takes with its header, by what the header says."""
    version = npy.read_magic(stream)
    # Version 3.0 differs from 2.0 by the letters of field names alone.
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    count = math.prod(shape)
    if min(shape, default=0) < 0 or dtype.hasobject or (count and not dtype.itemsize):
        raise ModelFileError("an array has a type or a shape that no model has.")
    return stream.tell() + count * dtype.itemsize


def _limit(size: int, max_bytes: int | None) -> tuple[int, str]:
    """What a file of this size may expand to, and what a refusal says."""
    if max_bytes is not None:
        return max_bytes, f"max_bytes is {_megabytes(max_bytes)}"
    from ..memory import available_memory

    usual, free = max(FREE_BYTES, MAX_RATIO * size), available_memory()
    if free is not None and free // 2 < usual:
        return free // 2, f"half of the free memory is {_megabytes(free // 2)}"
    return usual, f"a file of {_megabytes(size)} may have {_megabytes(usual)}"


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
