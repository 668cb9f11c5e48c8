"""What is there, what is missing, how to get it: the facts behind ``kernelcoding datasets``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .home import resolve_home
from .layout import DatasetInfo, Form, instructions, locate
from .obtain import PathLike
from .registry import REGISTRY


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """State of one form of one data set.

    Attributes
    ----------
    name, form, title, page : str
        Which set (``fetch_<name>``), which form of it, and its home page.
    present : bool
        Whether it can be read.
    path : pathlib.Path or None
        Folder in which it was found.
    size : int or None
        Bytes on disk.
    problem : str or None
        Why a copy that is there cannot be used.
    can_download : bool
        Whether the fetcher can download it.
    download_size : int or None
        Bytes to download, where known.
    how_to_get : str
        Instructions for getting it by hand.

    Examples
    --------
    >>> from kernelcoding.datasets import describe
    >>> sorted({status.name for status in describe()})[:3]
    ['fashion_mnist', 'fmd', 'mit_indoor']
    """

    name: str
    form: str
    title: str
    page: str
    present: bool
    path: Path | None
    size: int | None
    problem: str | None
    can_download: bool
    download_size: int | None
    how_to_get: str


def describe(data_home: PathLike | None = None) -> list[DatasetStatus]:
    """List every form of every data set with its state in a data folder.

    Parameters
    ----------
    data_home : str or path-like, default=None
        As in :func:`get_data_home`; the folder is not made.

    Returns
    -------
    states : list of DatasetStatus
        The default form of a set comes first.

    Examples
    --------
    >>> from kernelcoding.datasets import describe
    >>> [state.name for state in describe("no such folder") if state.can_download]
    ['yaleb', 'fmd', 'mit_indoor', 'voc2007']
    """
    home = resolve_home(data_home)
    return [_state(info, form, home) for info in REGISTRY.values() for form in info.forms]


def _state(info: DatasetInfo, form: str, home: Path) -> DatasetStatus:
    problem = None
    try:
        path = locate(info, form, home)
    except FileNotFoundError as error:
        path, problem = None, str(error).splitlines()[0]
    remotes = info.forms[form].remotes
    sizes = [remote.size for remote in remotes if remote.size]
    return DatasetStatus(
        name=info.name,
        form=form,
        title=info.title,
        page=info.page,
        present=path is not None,
        path=path,
        size=None if path is None else _size(info.forms[form], path),
        problem=problem,
        can_download=bool(remotes),
        download_size=sum(sizes) if sizes else None,
        how_to_get=instructions(info, form, home),
    )


def _size(form: Form, folder: Path) -> int:
    """Bytes of what the layout asks for; other files in the folder are not the set."""
    layout = next(layout for layout in form.layouts if not layout.lacks(folder))
    found = [path for pattern in layout.needs for path in folder.glob(pattern)]
    files = [file for path in found for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file())
