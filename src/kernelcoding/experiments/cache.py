"""A folder of arrays beside the records: a resumed run does not compute descriptors again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import __version__


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of arrays, each under a name made of all it depends on."""

    folder: Path

    def array(self, name: str, depends: Sequence[str], compute: Callable[[], NDArray]) -> NDArray:
        """The array, computed if it is not there.

        Parameters
        ----------
        name : str
            For people who look into the folder.
        depends : sequence of str
            Settings and names of files; another one is another array.
        compute : callable
            Makes the array.

        Returns
        -------
        array : array
        """
        digest = hashlib.sha256("\0".join(depends).encode()).hexdigest()[:16]
        path = self.folder / f"{name}-{digest}.npy"
        if path.exists():
            return np.load(path, allow_pickle=False)
        values = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        with partial.open("wb") as file:
            np.save(file, values, allow_pickle=False)
            os.fsync(file.fileno())
        partial.replace(path)  # half an array never has the name of a whole one
        return values


def depends_on(settings: object, paths: Sequence[str] | NDArray) -> list[str]:
    """What descriptors depend on: this package, the settings, the files or pixels.

    Parameters
    ----------
    settings : object
        Its ``repr`` must name everything that matters.
    paths : sequence of str, or array
        The files, or the pixels themselves.

    Returns
    -------
    list of str
    """
    return [__version__, repr(settings), *identities(paths)]


def identities(paths: Sequence[str] | NDArray) -> list[str]:
    """Names, sizes and times of files, or a digest of pixels: what descriptors depend on.

    Parameters
    ----------
    paths : sequence of str, or array
        The files, or the pixels themselves.

    Returns
    -------
    list of str
    """
    if isinstance(paths, np.ndarray):
        digest = hashlib.sha256(paths.tobytes()).hexdigest()
        return [f"{paths.dtype} {paths.shape} {digest}"]
    facts = [(Path(path).parent.name, Path(path).name, os.stat(path)) for path in paths]
    return [f"{parent}/{name} {s.st_size} {s.st_mtime_ns}" for parent, name, s in facts]
