"""Worker processes that do not outlive whoever started them."""

from __future__ import annotations

import os
import threading
import time
from functools import cache

LOOK = 1.0  # seconds between two looks


@cache
def end_with_parent() -> None:
    """Let this process end soon after its parent, even one that was killed without a word.

    Called often, it watches once. A process whose parent is gone belongs to another one; Windows
    does not say so, and there a worker only ends when it next wants something of its parent.
    """
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
