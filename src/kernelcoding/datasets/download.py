"""From the web to a finished folder: transfer, check, unpack beside, then rename.

A set appears under its name in one step or not at all, whenever the work is interrupted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .archives import ArchiveError, unpack
from .home import MARKER, WORKSHOP
from .layout import DOWNLOADED, DatasetInfo, Remote, instructions, locate
from .transfer import ResumingDownloader

_ATTEMPTS = 1000  # to lock a file that others remove when they are done


def download(
    info: DatasetInfo, form: str, home: Path, n_retries: int = 3, delay: float = 1.0
) -> None:
    """Download the files of one form of a set and put the finished folder into ``home``."""
    workshop = home / WORKSHOP / info.name
    with _locked(workshop / "lock"):
        if locate(info, form, home) is not None:  # another process was faster
            return
        for stale in workshop.glob("unpacked-*"):
            shutil.rmtree(stale)
        try:
            _build(info, form, home, workshop, n_retries, delay)
        except (ArchiveError, ConnectionError) as error:
            raise type(error)(f"{error}\n{instructions(info, form, home)}") from error


def _build(
    info: DatasetInfo, form: str, home: Path, workshop: Path, n_retries: int, delay: float
) -> None:
    # Beside, not in the system's temporary folder: a rename is atomic on one file system only.
    staging = Path(tempfile.mkdtemp(prefix="unpacked-", dir=workshop))
    finished = staging / info.name
    finished.mkdir()
    try:
        for remote in info.forms[form].remotes:
            file = _transfer(remote, workshop, n_retries, delay)
            _place(remote, file, finished)
        try:
            _check_layout(info, form, finished)
        except ArchiveError:
            for remote in info.forms[form].remotes:
                if remote.checksum is None:  # or the next call would try it again
                    (workshop / remote.file).unlink(missing_ok=True)
            raise
        _install(finished, home / info.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    for remote in info.forms[form].remotes:
        (workshop / remote.file).unlink(missing_ok=True)


def _transfer(remote: Remote, workshop: Path, n_retries: int, delay: float) -> Path:
    try:
        import pooch  # type: ignore[import-untyped]
        import requests
        import tqdm  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"Downloading needs {missing.name}: pip install 'kernelcoding[datasets]'"
        ) from missing

    part = workshop / f"{remote.file}.part"
    downloader = ResumingDownloader(part, n_retries, delay, remote.limit)
    try:
        path = pooch.retrieve(
            remote.url, remote.checksum, fname=remote.file, path=workshop, downloader=downloader
        )
    except requests.exceptions.RequestException as error:
        raise ConnectionError(
            f"Could not download {remote.url} ({error}). What has come is kept: try again to "
            "continue."
        ) from error
    except ValueError as error:  # what pooch raises for a wrong checksum, having deleted the file
        raise ArchiveError(
            f"{remote.url} is not the known file: {error} Nothing was installed."
        ) from error
    return Path(path)


def _place(remote: Remote, file: Path, folder: Path) -> None:
    if not remote.unpack:
        shutil.copyfile(file, folder / remote.file)
        return
    try:
        unpack(file, folder)
    except ArchiveError:
        file.unlink()  # or the next call would try it again
        raise


def _check_layout(info: DatasetInfo, form: str, finished: Path) -> None:
    try:
        found = locate(info, form, finished)
    except FileNotFoundError:
        found = None
    if found is None:
        raise ArchiveError(
            f"What was downloaded of {info.title} does not have the official layout: expected "
            f"{' and '.join(info.forms[form].expected)}. Nothing was installed, and "
            "files without a known checksum are downloaded anew the next time."
        )


def _install(finished: Path, target: Path) -> None:
    (finished / MARKER).touch()
    if target.exists():  # lists, or another form of the set: leave them as they are
        target = target / DOWNLOADED
    if target.exists():
        raise ArchiveError(f"{target} is in the way: move it away and try again.")
    os.rename(finished, target)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases when the process dies; nothing is left of it."""
    with _open_locked(path):
        try:
            yield
        finally:
            _tidy(path)


def _open_locked(path: Path) -> BinaryIO:
    """The file of a lock, held; whoever held it before may have taken it away meanwhile."""
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError), ExitStack() as opened:
            _make_folder(path.parent)
            file = opened.enter_context(open(path, "a+b"))
            _lock(file)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                opened.pop_all()
                return file
    raise OSError(f"{path} cannot be locked: other processes keep removing it. Try again later.")


def _make_folder(path: Path) -> None:
    """Make a folder, or FileNotFoundError where others remove it meanwhile."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        if path.is_file():
            raise
        # It was there, and no more a moment later; by now others may have made it again, so
        # that nothing but a file says that no folder can be made here.
        raise FileNotFoundError(str(path)) from error


def _lock(file: BinaryIO) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # pragma: no cover - Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def _tidy(lock: Path) -> None:
    """Take the lock away, and its folders where no part of a transfer is kept in them."""
    with suppress(OSError):  # Windows deletes no open file
        lock.unlink()
        lock.parent.rmdir()
        lock.parent.parent.rmdir()
