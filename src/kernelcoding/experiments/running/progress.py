"""How far a run is, on standard error: a bar on a terminal, elsewhere one line per result."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from ...records import ResultRecord

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class RunProgress(Protocol):
    """Shows how far a run is."""

    def begin(self) -> None:
        """Data are read, results will come."""

    def done(self, record: ResultRecord) -> None:
        """A result is in the file."""

    def say(self, text: str) -> None:
        """Something else worth knowing."""


class NoProgress:
    """Shows nothing."""

    def begin(self) -> None:
        """Say nothing."""

    def done(self, record: ResultRecord) -> None:
        """Say nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


class ProgressLines:
    """One line per result, with the time that the rest will take at the pace so far."""

    def __init__(self, total: int):
        self.total, self.count = total, 0
        self.begin()

    def begin(self) -> None:
        """Start the clock: reading says nothing about the pace of results."""
        self.start = time.perf_counter()

    def done(self, record: ResultRecord) -> None:
        """Write a line."""
        self.count += 1
        spent = time.perf_counter() - self.start
        left = spent / self.count * (self.total - self.count)
        self.say(
            f"[{self.count}/{self.total}] {_result_text(record)} after "
            f"{rough_duration(spent)}, about {rough_duration(left)} left"
        )

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class ProgressBar:
    """A bar of rich."""

    def __init__(self, bar: Progress, task: TaskID):
        self.bar, self.task = bar, task

    def begin(self) -> None:
        """Start the clock of the bar."""
        self.bar.reset(self.task, description="computing")

    def done(self, record: ResultRecord) -> None:
        """Move the bar."""
        self.bar.update(self.task, advance=1, description=_result_text(record))

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self.bar.console.print(text, markup=False, highlight=False)


def _result_text(record: ResultRecord) -> str:
    return f"{record.key}: {record.value:.1f}"


def rough_duration(seconds: float) -> str:
    """Seconds as people say them: 40 s, 5 min, 2 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def watched(total: int, show: bool) -> Iterator[RunProgress]:
    """A progress for a run of ``total`` results.

    Parameters
    ----------
    total : int
        Results to come.
    show : bool
        Whether to show anything.
    """
    if not show:
        yield NoProgress()
    elif sys.stderr.isatty() and (bar := _rich_bar()) is not None:
        with bar:
            yield ProgressBar(bar, bar.add_task("reading data", total=total))
    else:
        yield ProgressLines(total)


def _rich_bar() -> Progress | None:
    try:
        from rich import progress as rich_progress
        from rich.console import Console
    except ModuleNotFoundError:
        return None
    # Cells differ in cost: the pace of ten minutes is a better guess than that of the last one.
    return rich_progress.Progress(
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=600,
    )
