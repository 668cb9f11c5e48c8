"""PASCAL VOC2007: photographs with any of twenty kinds of object in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bunches import Fetched, Fields, choice_of, finish
from .files import check_files, read_list, read_mat
from .obtain import DataSource, PathLike

VOC_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa"),
    *("train", "tvmonitor"),
)
_SUBSETS = {
    "train": ("train",),
    "val": ("val",),
    "test": ("test",),
    "trainval": ("train", "val"),
    "all": ("train", "val", "test"),
}
_ALL_PARTS = _SUBSETS["all"]


def fetch_voc2007(
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    *,
    subset: str = "all",
    lists_only: bool = False,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Load PASCAL VOC2007: 9963 photographs, 20 classes (multi-label classification).

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Whether the set may be downloaded (0.9 GB).
    subset : {"train", "val", "trainval", "test", "all"}, default="all"
        Which of the official lists to load, in the order train, val, test.
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
        ``data``, list of n paths; ``target`` (n, 20), 1 where a class is in the image;
        ``difficult`` (n, 20), True where it is there but hard to see (0 in the lists, 0 in
        ``target``): the official evaluation leaves such an image out for that class;
        ``target_names``; ``files`` (n,) names; ``train``, ``val`` and ``test``, index arrays into
        the n images (empty if not asked for); ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_voc2007
    >>> objects = fetch_voc2007(subset="trainval")  # doctest: +SKIP
    >>> objects.target.shape  # doctest: +SKIP
    (5011, 20)
    """
    parts = choice_of(_SUBSETS, "subset", subset)
    source = DataSource(data_home, download_if_missing, n_retries, delay)
    folder = source.folder("voc2007", "lists" if lists_only else "images")
    return finish(_read_voc2007(folder, parts, must_exist=not lists_only), "voc2007", return_X_y)


def fetch_voc2007_words(data_home: PathLike | None = None, *, return_X_y: bool = False) -> Fetched:
    """Load word counts of 1530 VOC2007 images with one of six classes each (classification).

    Not the task of the challenge: a small set for trials. Read from ``six_class_bow.mat``.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of VOC2007; see :func:`get_data_home`. The file is put there by
        hand.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` (1530, 240), counts; ``target`` (1530,); ``target_names``, numbers, because the
        file does not name its classes; ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_voc2007_words
    >>> words = fetch_voc2007_words()  # doctest: +SKIP
    >>> words.data.shape, words.target.shape  # doctest: +SKIP
    ((1530, 240), (1530,))
    """
    folder = DataSource(data_home, download_if_missing=False).folder("voc2007", "six_class_bow")
    arrays = read_mat(folder / "six_class_bow.mat", ("fea", "gnd"))
    names, target = np.unique(arrays["gnd"].ravel(), return_inverse=True)
    fields = {
        "data": arrays["fea"],
        "target": target,
        "target_names": [f"class {number}" for number in names],
    }
    return finish(fields, "voc2007", return_X_y)


def _read_voc2007(folder: Path, parts: tuple[str, ...], must_exist: bool) -> Fields:
    lists = folder / "ImageSets" / "Main"
    per_part = {part: _read_names(lists / f"{part}.txt") for part in parts}
    files = [name for part in parts for name in per_part[part]]
    values = np.vstack([_read_values(lists, part, per_part[part]) for part in parts])
    paths = [folder / "JPEGImages" / f"{name}.jpg" for name in files]
    if must_exist:
        check_files(paths, f"the lists {', '.join(parts)} in {lists}")
    ends = np.cumsum([len(per_part.get(part, ())) for part in _ALL_PARTS])
    starts = np.concatenate([[0], ends[:-1]])
    indices = {
        part: np.arange(start, end)
        for part, start, end in zip(_ALL_PARTS, starts, ends, strict=True)
    }
    return {
        "data": [str(path) for path in paths],
        "target": values == 1,
        "difficult": values == 0,
        "target_names": VOC_CLASSES,
        "files": np.array(files),
        **indices,
    }


def _read_names(path: Path) -> list[str]:
    names = read_list(path)
    for name in names:
        if not name.isdecimal():
            raise ValueError(f"Expected numbers of images in {path}, got {name!r}.")
    return names


def _read_values(lists: Path, part: str, names: list[str]) -> NDArray[np.int64]:
    """Labels (n, 20) as in the lists: 1 there, -1 not there, 0 there but difficult."""
    columns = []
    for label in VOC_CLASSES:
        path = lists / f"{label}_{part}.txt"
        words = [word for line in read_list(path) for word in line.split()]
        if words[::2] != names or len(words) % 2 or set(words[1::2]) - {"-1", "0", "1"}:
            raise ValueError(
                f"Expected a line '<image> <label>' in {path} for each image of {part}.txt, in its "
                "order, with labels -1, 0 or 1. Restore the official list."
            )
        columns.append(np.array(words[1::2], dtype=np.int64))
    return np.column_stack(columns)
