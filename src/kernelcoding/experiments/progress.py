"""How far a run is, on standard error: a bar where somebody watches, else a line a result."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Progress(Protocol):
    """Told about the run."""

    def begin(self) -> None:
        """Data are read, results will come."""

    def done(self, record: dict[str, Any]) -> None:
        """A result is in the file."""

    def say(self, text: str) -> None:
        """Something else worth knowing."""


class Silent:
    """Says nothing."""

    def begin(self) -> None:
        """Say nothing."""

    def done(self, record: dict[str, Any]) -> None:
        """Say nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


class Lines:
    """One line a result, with the time that the rest will take at the pace so far."""

    def __init__(self, total: int):
        self.total, self.count = total, 0
        self.begin()

    def begin(self) -> None:
        """Start the clock: reading says nothing about the pace of results."""
        self.start = time.perf_counter()

    def done(self, record: dict[str, Any]) -> None:
        """Write a line."""
        self.count += 1
        spent = time.perf_counter() - self.start
        left = spent / self.count * (self.total - self.count)
        self.say(
            f"[{self.count}/{self.total}] {record['key']}: {record['value']:.1f} after "
            f"{duration(spent)}, about {duration(left)} left"
        )

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class Bar:
    """A bar of rich."""

    def __init__(self, bar: Any, task: Any):
        self.bar, self.task = bar, task

    def begin(self) -> None:
        """Start the clock of the bar."""
        self.bar.reset(self.task, description="computing")

    def done(self, record: dict[str, Any]) -> None:
        """Move the bar."""
        text = f"{record['key']}: {record['value']:.1f}"
        self.bar.update(self.task, advance=1, description=text)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self.bar.console.print(text, markup=False, highlight=False)


def duration(seconds: float) -> str:
    """Seconds as people say them: 40 s, 5 min, 2 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def watched(total: int, show: bool) -> Iterator[Progress]:
    """A progress for a run of ``total`` results.

    Parameters
    ----------
    total : int
        Results to come.
    show : bool
        Whether to show anything.
    """
    if not show:
        yield Silent()
    elif sys.stderr.isatty() and (bar := _rich_bar()) is not None:
        with bar:
            yield Bar(bar, bar.add_task("reading data", total=total))
    else:
        yield Lines(total)


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress
    except ModuleNotFoundError:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # Cells differ in cost: the pace of a whole minute is a better guess than that of the last one.
    return RichProgress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), speed_estimate_period=600
    )
