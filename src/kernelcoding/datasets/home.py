"""Where data sets live: an argument, an environment variable, or the user's cache folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

VARIABLE = "KERNELCODING_DATA"
MARKER = ".kernelcoding-download"  # in every folder that a download made
WORKSHOP = ".kernelcoding-downloads"  # partial downloads, kept to resume


def resolve_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Path of the data folder, which need not exist."""
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or _user_cache() / "kernelcoding"
    return Path(data_home).expanduser().absolute()


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> str:
    """Return the path of the data folder, made if it does not exist.

    Parameters
    ----------
    data_home : str or path-like, default=None
        The folder. ``None`` is the environment variable ``KERNELCODING_DATA`` or, where that is
        not set, the folder ``kernelcoding`` in the user's cache.

    Returns
    -------
    data_home : str
        Absolute path, with ``~`` expanded.

    Examples
    --------
    >>> import os
    >>> from kernelcoding.datasets import get_data_home
    >>> os.path.isabs(get_data_home("."))
    True
    """
    home = resolve_home(data_home)
    home.mkdir(parents=True, exist_ok=True)
    return str(home)


def clear_data_home(data_home: str | os.PathLike[str] | None = None) -> None:
    """Delete what was downloaded into the data folder, finished or not.

    Sets that were put there by hand stay, unlike in scikit-learn: some can no longer be
    downloaded. The folder itself goes if nothing is left in it.

    Parameters
    ----------
    data_home : str or path-like, default=None
        As in :func:`get_data_home`.

    Examples
    --------
    >>> import tempfile
    >>> from kernelcoding.datasets import clear_data_home
    >>> clear_data_home(tempfile.mkdtemp())
    """
    home = resolve_home(data_home)
    if not home.is_dir():
        return
    shutil.rmtree(home / WORKSHOP, ignore_errors=True)
    for pattern in (f"*/{MARKER}", f"*/*/{MARKER}"):
        for marker in home.glob(pattern):
            shutil.rmtree(marker.parent)
    if not any(home.iterdir()):
        home.rmdir()


def _user_cache() -> Path:
    # By hand, because reading data sets needs no optional package and the place must not depend
    # on one being installed.
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local")
    if sys.platform == "darwin":
        return Path("~/Library/Caches")
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
