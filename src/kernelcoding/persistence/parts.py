"""Files that are being written: their names say by whom, so that those of the dead can go.

A process that is killed while it saves leaves its ``.part`` file behind. The next save under the
same name removes it if its process is gone, or if nothing was written to it for a day: a process of
another machine, or a number that was given to another process, cannot be asked.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path

SECONDS_KEPT = 24 * 3600.0


def part_of(path: Path) -> Path:
    """A new name beside a file, under which it is written."""
    return path.with_name(f"{path.name}.{_machine()}-{os.getpid()}-{uuid.uuid4().hex[:16]}.part")


def remove_dead_parts(path: Path) -> None:
    """Remove what saves of this file left behind that will never end."""
    name = re.compile(
        re.escape(path.name) + r"\.(?:([0-9a-f]{8})-(\d+)-[0-9a-f]{16}|[0-9a-f]{32})\.part"
    )
    for part in path.parent.iterdir():
        found = name.fullmatch(part.name)
        if found is None:
            continue
        with suppress(OSError):  # another save removes it, too, or it is not ours to remove
            here = found[1] == _machine()
            if (here and _is_gone(int(found[2]))) or _is_old(part):
                part.unlink()


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _is_old(part: Path) -> bool:
    return time.time() - part.stat().st_mtime > SECONDS_KEPT


def _is_gone(process: int) -> bool:
    if os.name != "posix":  # pragma: no cover - on Windows the question would end the process
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
