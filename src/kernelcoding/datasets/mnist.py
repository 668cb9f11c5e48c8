"""MNIST and Fashion-MNIST: small pictures of digits and of clothes, in files of one format."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bunches import Fetched, finish
from .obtain import DataSource, PathLike

_CLOTHES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_PARTS = ("train", "t10k")
_UNSIGNED_BYTES = 0x08  # type of entries in the head of a file
# The files of both sets have the same names and sizes. Of clothes each class has 1,000 test
# pictures, of digits none has.
_N_TEST, _N_OF_EACH = 10_000, 1_000


def fetch_mnist(data_home: PathLike | None = None, *, return_X_y: bool = False) -> Fetched:
    """Load MNIST: 60,000 and 10,000 pictures of 28 x 28 pixels, the ten digits.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`. The four files, packed
        by gzip or not, are put there by hand.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` (70000, 784) uint8, training samples first; ``images`` (70000, 28, 28), the same;
        ``target`` (70000,); ``target_names``; ``train`` and ``test``, index arrays; ``DESCR``.

    Raises
    ------
    ValueError
        If a file is incomplete, or the files are those of Fashion-MNIST, which have the same names.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_mnist
    >>> digits = fetch_mnist()  # doctest: +SKIP
    >>> len(digits.target_names)  # doctest: +SKIP
    10
    """
    return _fetch("mnist", tuple("0123456789"), data_home, return_X_y)


def fetch_fashion_mnist(data_home: PathLike | None = None, *, return_X_y: bool = False) -> Fetched:
    """Load Fashion-MNIST: 60,000 and 10,000 pictures of 28 x 28 pixels, ten classes.

    Parameters
    ----------
    data_home, return_X_y
        As in :func:`fetch_mnist`.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        As of :func:`fetch_mnist`.

    Raises
    ------
    ValueError
        If a file is incomplete, or the files are those of MNIST, which have the same names.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_fashion_mnist
    >>> clothes = fetch_fashion_mnist()  # doctest: +SKIP
    >>> len(clothes.target_names)  # doctest: +SKIP
    10
    """
    return _fetch("fashion_mnist", _CLOTHES, data_home, return_X_y)


def _fetch(
    name: str, classes: tuple[str, ...], data_home: PathLike | None, return_X_y: bool
) -> Fetched:
    folder = DataSource(data_home, download_if_missing=False).folder(name, "files")
    images = [_read(folder, f"{part}-images-idx3-ubyte", 3) for part in _PARTS]
    labels = [_read(folder, f"{part}-labels-idx1-ubyte", 1) for part in _PARTS]
    _check_that_it_is(name, labels[1], folder)
    whole = np.concatenate(images)
    n_train = len(images[0])
    fields = {
        "data": whole.reshape(len(whole), -1),
        "images": whole,
        "target": np.concatenate(labels),
        "target_names": classes,
        "train": np.arange(n_train),
        "test": np.arange(n_train, len(whole)),
    }
    return finish(fields, name, return_X_y)


def _check_that_it_is(name: str, test_labels: NDArray, folder: Path) -> None:
    """Refuse the files of the other set."""
    if len(test_labels) != _N_TEST:
        return  # neither: a set of somebody's own in this format
    found = "fashion_mnist" if np.all(np.bincount(test_labels) == _N_OF_EACH) else "mnist"
    if found != name:
        raise ValueError(
            f"{folder} has the files of {found}, not of {name}: they have the same names. Put each "
            f"set into a folder of its own, or call fetch_{found}."
        )


def _read(folder: Path, name: str, n_axes: int) -> NDArray:
    """The array of an IDX file, packed or not."""
    path = min(folder.glob(f"{name}*"))
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    head = 4 + 4 * n_axes
    shape = tuple(int(n) for n in np.frombuffer(content[4:head], ">u4"))
    kind = (0, 0, _UNSIGNED_BYTES, n_axes)
    if tuple(content[:4]) != kind or len(content) != head + math.prod(shape):
        raise ValueError(
            f"Expected an IDX file of unsigned bytes with {n_axes} axes, got another or part of "
            f"one: {path}. Copy it again."
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)
