"""Fashion-MNIST: small pictures of clothes, in the files of MNIST."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bunches import Fetched, finish
from .obtain import DataSource, PathLike

_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_PARTS = ("train", "t10k")
_UNSIGNED_BYTES = 0x08  # type of entries in the head of a file


def fetch_fashion_mnist(data_home: PathLike | None = None, *, return_X_y: bool = False) -> Fetched:
    """Load Fashion-MNIST: 60,000 and 10,000 pictures of 28 x 28 pixels, ten classes.

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

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_fashion_mnist
    >>> clothes = fetch_fashion_mnist()  # doctest: +SKIP
    >>> len(clothes.target_names)  # doctest: +SKIP
    10
    """
    folder = DataSource(data_home, download_if_missing=False).folder("fashion_mnist", "files")
    images = [_read(folder, f"{part}-images-idx3-ubyte", 3) for part in _PARTS]
    labels = [_read(folder, f"{part}-labels-idx1-ubyte", 1) for part in _PARTS]
    whole = np.concatenate(images)
    n_train = len(images[0])
    fields = {
        "data": whole.reshape(len(whole), -1),
        "images": whole,
        "target": np.concatenate(labels),
        "target_names": _NAMES,
        "train": np.arange(n_train),
        "test": np.arange(n_train, len(whole)),
    }
    return finish(fields, "fashion_mnist", return_X_y)


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
