"""Scene categories in the layout of MIT Indoor: one folder per category and two lists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .bunches import Fetched, Fields, choice_of, finish
from .files import check_files, read_list
from .obtain import DataSource, PathLike

_LISTS = {"train": "TrainImages.txt", "test": "TestImages.txt"}
_SUBSETS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}
_ENTRY = re.compile(r"(?!\.{1,2}/)([^/\\]+)/[^/\\]+")  # category/file, and nowhere else


def fetch_mit_indoor(
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    *,
    subset: str = "all",
    lists_only: bool = False,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Load MIT Indoor: 67 indoor scenes, 5360 training and 1340 test images (classification).

    ``data_home`` may also be any folder of this layout: ``Images/<category>/<file>``,
    ``TrainImages.txt``, ``TestImages.txt``.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Whether the set may be downloaded (2.4 GiB).
    subset : {"train", "test", "all"}, default="all"
        Which of the official lists to load; ``"all"`` is training images, then test images.
    lists_only : bool, default=False
        Whether to read the lists only: the images need not exist, and nothing is downloaded.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    n_retries : int, default=3
        How often a download without progress is tried again.
    delay : float, default=1.0
        Seconds between tries.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, list of n paths; ``target`` (n,); ``target_names``, categories of both lists;
        ``files`` (n,) names ``category/file``; ``train`` and ``test``, index arrays into the n
        images (empty if not asked for); ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_mit_indoor
    >>> scenes = fetch_mit_indoor()  # doctest: +SKIP
    >>> len(scenes.target_names)  # doctest: +SKIP
    67
    """
    source = DataSource(data_home, download_if_missing, n_retries, delay)
    return _fetch("mit_indoor", source, subset, lists_only, return_X_y)


def fetch_scene15(
    data_home: PathLike | None = None,
    *,
    subset: str = "all",
    lists_only: bool = False,
    return_X_y: bool = False,
) -> Fetched:
    """Load the fifteen scene categories from a folder in the layout of MIT Indoor.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`. The set is put there
        by hand.
    subset : {"train", "test", "all"}, default="all"
        Which of the lists to load; ``"all"`` is training images, then test images.
    lists_only : bool, default=False
        Whether to read the lists only: the images need not exist.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        As of :func:`fetch_mit_indoor`.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_scene15
    >>> scenes = fetch_scene15()  # doctest: +SKIP
    >>> len(scenes.target_names)  # doctest: +SKIP
    15
    """
    source = DataSource(data_home, download_if_missing=False)
    return _fetch("scene15", source, subset, lists_only, return_X_y)


def _fetch(
    name: str, source: DataSource, subset: str, lists_only: bool, return_X_y: bool
) -> Fetched:
    parts = choice_of(_SUBSETS, "subset", subset)
    folder = source.folder(name, "lists" if lists_only else "images")
    return finish(_read_scenes(folder, parts, must_exist=not lists_only), name, return_X_y)


def _read_scenes(folder: Path, parts: tuple[str, ...], must_exist: bool) -> Fields:
    entries = {part: _read_entries(folder / file) for part, file in _LISTS.items()}
    common = set(entries["train"]) & set(entries["test"])
    if common:
        raise ValueError(
            f"{len(common)} images are named in both lists of {folder}, first {min(common)}. "
            "Expected training and test images to be different."
        )
    names = sorted({_category(entry) for part in entries.values() for entry in part})
    files = [entry for part in parts for entry in entries[part]]
    paths = [folder / "Images" / entry for entry in files]
    if must_exist:
        check_files(paths, f"{' and '.join(_LISTS[part] for part in parts)} in {folder}")
    number = {name: label for label, name in enumerate(names)}
    counts = [len(entries[part]) if part in parts else 0 for part in _LISTS]
    return {
        "data": [str(path) for path in paths],
        "target": [number[_category(entry)] for entry in files],
        "target_names": names,
        "files": np.array(files),
        "train": np.arange(counts[0]),
        "test": np.arange(counts[0], sum(counts)),
    }


def _read_entries(path: Path) -> list[str]:
    entries = read_list(path)
    for line, entry in enumerate(entries, start=1):
        if _ENTRY.fullmatch(entry) is None:
            raise ValueError(f"Expected <category>/<file> in {path}, got {entry!r} (entry {line}).")
    return entries


def _category(entry: str) -> str:
    return entry.split("/")[0]
