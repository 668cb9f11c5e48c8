"""A text on the disk: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(text: str, path: Path) -> Path:
    """Write a file in UTF-8 in the place of an older one, making folders as needed.

    Parameters
    ----------
    text : str
    path : Path
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(text.encode("utf-8", "replace"))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
