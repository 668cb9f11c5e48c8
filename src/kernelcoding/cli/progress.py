"""How far long work is, on the error stream, where somebody looks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..memory import memory_advice
from ..model_search import Watch
from .console import note

LOGGER = "kernelcoding"
ADVICE = (
    "Give fewer rows at a time, or fit a model that keeps fewer: kernelcoding fit --landmarks 2000."
)


@contextmanager
def watched(title: str) -> Iterator[Watch]:
    """A bar with the time left, while the block runs; nothing where the stream is no terminal.

    Parameters
    ----------
    title : str
    """
    stream = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stream, transient=True, disable=not stream.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def watch(what: str, n_done: int, n_all: int) -> None:
            bar.update(task, description=f"{title}: {what}", completed=n_done, total=n_all)

        yield watch


@contextmanager
def followed(title: str, verbose: bool, bar: bool = False) -> Iterator[Watch | None]:
    """What the library logs, and a bar where it is asked for: None if it is not.

    Parameters
    ----------
    title : str
        Of the bar.
    verbose : bool
        Whether to show all there is.
    bar : bool, default=False
        Whether to show a bar in any case.
    """
    with heard(verbose), memory_advice(ADVICE, instead=True):
        if not verbose and not bar:
            yield None
            return
        with watched(title) as watch:
            yield watch


class _Notes(logging.Handler):
    """Log records as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def heard(verbose: bool = False) -> Iterator[None]:
    """Show what the library logs: compilations that take long; with ``verbose`` more.

    Parameters
    ----------
    verbose : bool
    """
    logger = logging.getLogger(LOGGER)
    handler, before = _Notes(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
