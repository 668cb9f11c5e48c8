"""Flickr Material Database: photographs of ten materials, with masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .bunches import Fetched, Fields, finish
from .files import check_files, list_classes, list_images
from .obtain import DataSource, PathLike


def fetch_fmd(
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    *,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Load the Flickr Material Database: 1000 photographs, ten materials (classification).

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Whether the set may be downloaded (59 MB).
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    n_retries : int, default=3
        How often a download without progress is tried again.
    delay : float, default=1.0
        Seconds between tries.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` and ``masks``, lists of n paths; ``target`` (n,); ``target_names``; ``files``
        (n,) names ``class/file``; ``train`` and ``test`` None; ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_fmd
    >>> materials = fetch_fmd()  # doctest: +SKIP
    >>> len(materials.data), len(materials.masks)  # doctest: +SKIP
    (1000, 1000)
    """
    source = DataSource(data_home, download_if_missing, n_retries, delay)
    return finish(_read_fmd(source.folder("fmd", "images")), "fmd", return_X_y)


def _read_fmd(folder: Path) -> Fields:
    names = list_classes(folder / "image")
    found = [
        (label, f"{name}/{path.name}")
        for label, name in enumerate(names)
        for path in list_images(folder / "image" / name)
    ]
    if not found:
        raise ValueError(f"Expected photographs in {folder / 'image'}/<class>, got none.")
    files = [file for _, file in found]
    masks = [folder / "mask" / file for file in files]
    check_files(masks, f"the photographs in {folder / 'image'} (masks)")
    return {
        "data": [str(folder / "image" / file) for file in files],
        "masks": [str(mask) for mask in masks],
        "target": [label for label, _ in found],
        "target_names": names,
        "files": np.array(files),
    }
