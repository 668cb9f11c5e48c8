"""What clusters say, in words that tell what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WorkersLost", "translated"]


class WorkersLost(RuntimeError):
    """One block ended every worker that tried it."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn ``KilledWorker`` into advice about memory per worker and the size of blocks."""
    try:
        yield
    except Exception as error:
        # By name: without a cluster, distributed need not be installed.
        if type(error).__name__ != "KilledWorker":
            raise
        task = getattr(error, "task", "a block")
        raise WorkersLost(
            f"The task {task} ended {getattr(error, 'allowed_failures', 3) + 1} workers, one after "
            "the other, most likely because a block and what is computed of it do not fit in the "
            "memory of a worker. Use smaller blocks (X.rechunk({0: rows}), "
            "X.repartition(npartitions=...)), sparse_output=True for codes, or workers with more "
            "memory each (fewer workers per host, LocalCluster(memory_limit=...)); the workers' "
            "logs tell whether something else ended them."
        ) from error
