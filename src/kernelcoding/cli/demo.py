"""The demo: every coder on data that needs no download."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..experiments import digits
from ..experiments.records import Record
from ..report.page import write_page
from .errors import friendly

COLUMNS = ("method", "kernel", "accuracy", "atoms", "error", "gap", "seconds")


@friendly
def demo(
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("report.html"),
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores.")] = -1,
) -> None:
    """Code handwritten digits with every coder, linear and kernel, and compare them."""
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    total = len(digits.METHODS) * len(digits.KERNELS)
    records = []
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("compiling and coding", total=total)
        for record in digits.run(n_jobs):
            records.append(record)
            progress.update(task, advance=1, description=f"{record.method} ({record.kernel})")
    console.print(_table(records))
    text = (
        "Handwritten digits of scikit-learn, half for training: every training sample is an atom, "
        "the class with the smallest residual wins. Accuracy and error are in percent; error is "
        "the squared distance in the kernel's space relative to the samples' norm; atoms are those "
        "a code uses, on average; the gap is the largest distance to the optimum that the "
        "certificates leave open."
    )
    title = "Kernel coding of handwritten digits"
    page = write_page(out, title, text, COLUMNS, [_cells(record) for record in records])
    console.print(f"Report: {page}")


def _cells(record: Record) -> tuple[str, ...]:
    return (
        record.method,
        record.kernel,
        f"{100 * record.accuracy:.1f}",
        f"{record.nonzero:.1f}",
        f"{100 * record.error:.1f}",
        f"{record.gap:.1e}",
        f"{record.seconds:.2f}",
    )


def _table(records: list[Record]) -> Table:
    title = "Digits, every sample an atom, residual rule (accuracy, error in %)"
    table = Table(title=title, box=None, padding=(0, 2, 0, 0))  # within 80 columns
    for position, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if position < 2 else "right", no_wrap=True)
    for record in records:
        table.add_row(*_cells(record))
    return table
