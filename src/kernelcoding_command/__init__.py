"""The ``kernelcoding`` command until its modules are imported, which takes a second or two.

A package of its own: importing ``kernelcoding`` imports all of it, and Ctrl-C must be a sentence
before that, too.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]

INTERRUPTED = 130


def end_at_once(number: int, frame: FrameType | None) -> None:
    """Answer Ctrl-C while nothing has been done yet that would need an end."""
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


end_at_once.only_at_the_start = True  # type: ignore[attr-defined]


def main() -> None:
    """Entry point of the ``kernelcoding`` command."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
            signal.signal(signal.SIGINT, end_at_once)
    except KeyboardInterrupt:
        end_at_once(signal.SIGINT, None)
    try:
        from kernelcoding.cli import main as run
    except ImportError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(str(missing))
    run()
