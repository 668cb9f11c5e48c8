"""Virus textures: patches of electron micrographs, 15 kinds of virus."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .bunches import Fetched, Fields, choice_of, finish
from .files import inspect_png
from .obtain import DataSource, PathLike

_FORMS = {8: "8bit", 16: "16bit"}
_NAME = re.compile(r"class-(\d+)-sample-(\d+)-(?:8|16)bit\.png")


def fetch_virus(
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    *,
    bits: int = 8,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Load the virus texture set: 1500 patches of 41 x 41 pixels, 15 classes (classification).

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Without effect: no address of an archive is known, so the set is put there by hand.
    bits : {8, 16}, default=8
        Depth of the images.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    n_retries : int, default=3
        How often a download without progress is tried again.
    delay : float, default=1.0
        Seconds between tries.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, list of n paths; ``target`` (n,); ``target_names``; ``files`` (n,) names;
        ``groups`` (n,), equal for images that are exact copies of each other: split by them, or a
        test image may be a training image; ``train`` and ``test`` None; ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_virus
    >>> textures = fetch_virus()  # doctest: +SKIP
    >>> len(textures.data), textures.target.shape  # doctest: +SKIP
    (1500, (1500,))
    """
    form = choice_of(_FORMS, "bits", bits)
    source = DataSource(data_home, download_if_missing, n_retries, delay)
    return finish(_read_virus(source.folder("virus", form), form, bits), "virus", return_X_y)


def _read_virus(folder: Path, form: str, bits: int) -> Fields:
    paths = sorted(folder.glob(f"class-*-sample-*-{form}.png"))
    classes, digests = [], []
    for path in paths:
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise ValueError(f"Expected class-CCC-sample-SSS-{form}.png in {folder}, got {path}.")
        depth, digest = inspect_png(path)
        if depth != bits:
            raise ValueError(f"Expected {bits} bits in {path}, got {depth}.")
        classes.append(int(name[1]))
        digests.append(digest)
    names, target = np.unique(classes, return_inverse=True)
    return {
        "data": [str(path) for path in paths],
        "target": target,
        "target_names": [f"class-{number:03d}" for number in names],
        "files": np.array([path.name for path in paths]),
        "groups": _first_seen(digests),
    }


def _first_seen(digests: list[str]) -> np.ndarray:
    """Number of each digest in the order of first appearance."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(digest, len(number)) for digest in digests])
