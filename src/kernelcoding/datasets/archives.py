"""Unpacking of archives that are not trusted: nothing is written outside the given folder.

Only folders and plain files are made. Names that lead elsewhere, links, devices, encrypted members
and archives that unpack to many times their size are refused.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

MAX_RATIO = 50  # unpacked bytes per packed byte; photographs have 1, dark PGM faces below 5
FREE_BYTES = 1 << 20  # small archives may have any ratio
MAX_MEMBERS = 500_000
# A file where a folder is, a name no file system takes: the archive's fault, not the disk's.
_IMPOSSIBLE_NAMES = (errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EILSEQ)
_CHUNK = 1 << 20
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError),
)


class ArchiveError(OSError):
    """An archive that is damaged, or that must not be unpacked."""


def unpack(
    archive: Path, folder: Path, *, free_bytes: int = FREE_BYTES, max_members: int = MAX_MEMBERS
) -> None:
    """Unpack a zip or tar archive into an existing folder.

    Parameters
    ----------
    archive, folder : Path
    free_bytes : int
        Unpacked bytes that any archive may have, however small it is.
    max_members : int
        Files that it may have.

    Raises
    ------
    ArchiveError
        If the archive is damaged or contains what is refused. What was written until then is left
        for the caller, who unpacks into a temporary folder, to remove.
    """
    budget = _Budget(archive, free_bytes, max_members)
    try:
        with _opened(archive) as members:
            for name, stream in members:
                with _named(name, archive):
                    _write(name, stream, folder, budget)
    except _BROKEN as error:
        raise _damaged(archive, error) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the beginning of the file
            raise
        raise _damaged(archive, error) from error


def _damaged(archive: Path, error: Exception) -> ArchiveError:
    reason = str(error).partition("\n")[0].rstrip(":")
    return ArchiveError(
        f"{archive.name} is damaged ({reason}). Expected a whole zip or tar archive; "
        "download it again."
    )


def _write(name: str, stream: IO[bytes] | None, folder: Path, budget: _Budget) -> None:
    target = folder / _safe_name(name, budget.archive)
    if stream is None:
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with stream, open(target, "wb") as file:
        budget.copy(stream, file)


@contextmanager
def _named(name: str, archive: Path) -> Iterator[None]:
    """Say of a member whose name cannot be written that it is the archive's."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise _member_refusal(archive, name, "has a name that is no text") from error
    except OSError as error:
        if error.errno not in _IMPOSSIBLE_NAMES:
            raise
        reason = "has a name that no file can have here"
        raise _member_refusal(archive, name, reason) from error


class _Budget:
    """Counts the bytes that are really unpacked, whatever sizes the archive declares."""

    def __init__(self, archive: Path, free_bytes: int, max_members: int) -> None:
        self.archive = archive
        self.bytes = free_bytes + MAX_RATIO * archive.stat().st_size
        self.members = self.max_members = max_members

    def copy(self, source: IO[bytes], target: IO[bytes]) -> None:
        self.members -= 1
        while chunk := source.read(_CHUNK):
            self.take(len(chunk))
            target.write(chunk)
        self._check()

    def take(self, count: int) -> None:
        self.bytes -= count
        self._check()

    def _check(self) -> None:
        if self.bytes < 0 or self.members < 0:
            raise ArchiveError(
                f"{self.archive.name} unpacks to more than {MAX_RATIO} times its size or to more "
                f"than {self.max_members} files: refused. Unpack it by hand if you trust it."
            )


_Member = tuple[str, IO[bytes] | None]  # the stream of a file, None for a folder


@contextmanager
def _opened(archive: Path) -> Iterator[Iterator[_Member]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            yield _zip_members(file, archive)
    else:
        with tarfile.open(archive) as file:
            yield _tar_members(file, archive)


def _zip_members(file: zipfile.ZipFile, archive: Path) -> Iterator[_Member]:
    for info in file.infolist():
        if not info.filename:
            raise _member_refusal(archive, info.filename, "has no name")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _member_refusal(archive, info.filename, "is a link or a device")
        if info.flag_bits & 1:
            raise _member_refusal(archive, info.filename, "is encrypted")
        yield info.filename, None if info.is_dir() else file.open(info)


def _tar_members(file: tarfile.TarFile, archive: Path) -> Iterator[_Member]:
    for info in file:
        if not (info.isfile() or info.isdir()):
            raise _member_refusal(archive, info.name, "is a link or a device")
        yield info.name, None if info.isdir() else file.extractfile(info)
    # The checksum of a compressed archive is at its end, behind what tar reads.
    rest = _Budget(archive, FREE_BYTES, 0)
    while chunk := file.fileobj.read(_CHUNK) if file.fileobj else b"":
        rest.take(len(chunk))


def _safe_name(name: str, archive: Path) -> PurePosixPath:
    path, elsewhere = PurePosixPath(name), PureWindowsPath(name)
    if path.is_absolute() or elsewhere.drive or elsewhere.root:
        raise _member_refusal(archive, name, "has an absolute path")
    if ".." in path.parts or ".." in elsewhere.parts:
        raise _member_refusal(archive, name, "leads out of the folder")
    if "\0" in name:
        raise _member_refusal(archive, name, "has a name that no file can have here")
    return path


def _member_refusal(archive: Path, name: str, why: str) -> ArchiveError:
    return ArchiveError(
        f"{archive.name} is not unpacked: its member {name!r} {why}. Expected folders and plain "
        "files with relative names; get the archive from the official page."
    )
