"""Seconds and peak memory of a piece of work."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc/self")


@dataclass(slots=True)
class Usage:
    """What was used, known when the work is done."""

    seconds: float = 0.0
    peak_memory_mb: float | None = None  # of the process, resident; None: the system does not say


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure the work of a ``with`` block.

    Linux forgets the earlier peak on demand; elsewhere the peak is that of the process so far.
    """
    with suppress(OSError):
        (_PROC / "clear_refs").write_text("5")
    usage, start = Usage(), time.perf_counter()
    yield usage
    usage.seconds = time.perf_counter() - start
    usage.peak_memory_mb = peak_memory_mb()


def peak_memory_mb() -> float | None:
    """Largest resident memory in megabytes since it was last forgotten."""
    with suppress(OSError):
        for line in (_PROC / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    try:
        import resource
    except ModuleNotFoundError:  # pragma: no cover - Windows
        return None
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
