"""Memory: what there is, what is about to be taken, and advice where it does not suffice."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 4  # more than this part of the free memory, a quarter, is announced


class AdvisedMemoryError(MemoryError):
    """A MemoryError that says what to do."""


def available_memory() -> int | None:
    """Bytes that can be had without swapping; None where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def gigabytes(size: float) -> str:
    """A number of bytes as people read it."""
    return f"{size / 2**30:.3g} GB"


def announce(needed: float, what: str, advice: str, stacklevel: int = 3) -> None:
    """Warn before a quarter of the free memory is taken.

    Parameters
    ----------
    needed : float
        Bytes that are about to be allocated.
    what : str
        What needs them, the beginning of a sentence.
    advice : str
        A sentence: what to do to need less.
    stacklevel : int, default=3
        Of the warning: 3 is whoever called the caller of this function.
    """
    free = available_memory()
    if free is None or SHARE * needed <= free:
        return
    warnings.warn(
        f"{what} needs about {gigabytes(needed)} of the {gigabytes(free)} that are free. {advice}",
        UserWarning,
        stacklevel=stacklevel,
    )


@contextmanager
def memory_advice(advice: str) -> Iterator[None]:
    """Add what to do to a MemoryError that does not say so yet."""
    try:
        yield
    except AdvisedMemoryError:
        raise
    except MemoryError as error:
        cause = str(error).rstrip(".") or "Out of memory"
        raise AdvisedMemoryError(f"{cause}. {advice}") from error
