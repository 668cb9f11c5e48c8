"""Compiled code on every host of a cluster, before the first block needs it."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlsplit

__all__ = ["warm_up"]

COMMAND = "kernelcoding.warming"  # run as a module: no command line needs to be installed


def warm_up(client: Any = None) -> dict[str, float]:
    """Compile everything once per host, so that no worker seems dead while it compiles.

    Compiled code is kept in a cache on disk that all processes of a host share. Compiling takes
    about a minute where the cache is empty, and a few seconds where it is not; it runs in a process
    of its own, so that workers answer the scheduler meanwhile.

    Parameters
    ----------
    client : distributed.Client, default=None
        Whose workers' hosts are warmed up. None: this host alone.

    Returns
    -------
    seconds : dict
        Address of each host and the seconds it took.

    Examples
    --------
    >>> from kernelcoding.distributed import warm_up
    >>> warm_up()  # doctest: +SKIP
    {'localhost': 4.1}
    """
    if client is None:
        return {"localhost": _compile_here()}
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise ValueError("The client's cluster has no workers yet: client.wait_for_workers(1).")
    one_per_host: dict[str, str] = {}
    for address, facts in workers.items():
        host = facts.get("host") or urlsplit(address).hostname or address
        one_per_host.setdefault(host, address)
    running = {
        host: client.submit(_compile_here, workers=[address], pure=False, key=f"warm-up-{host}")
        for host, address in one_per_host.items()
    }
    return {host: float(seconds.result()) for host, seconds in running.items()}


def _compile_here() -> float:
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", COMMAND], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"kernelcoding could not be compiled on this host. {sys.executable} -m {COMMAND} said: "
            f"{done.stderr.strip()[-2000:]}"
        )
    return time.monotonic() - start
