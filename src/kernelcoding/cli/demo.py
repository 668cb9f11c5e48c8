"""The demo: every coder on data that needs no download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..experiments import run
from ..experiments.paper import digits
from ..records import ResultRecord, read_runs, tables_of
from ..report import write_report
from ..report.html_file import required_jinja2
from .comparison import comparisons, plain_table
from .console import check_jobs, friendly
from .output_files import check_output

COLUMNS = ("method", "accuracy", "atoms", "error", "gap", "seconds")
TABLE_TITLE = "Digits: accuracy and error in percent, gap: distance to the optimum, at most"


@friendly
def demo_command(
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("report.html"),
    runs: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("runs/demo"),
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 is all cores.")] = 1,
) -> None:
    """Code handwritten digits with every coder, linear and kernel, and compare them.

    The quick version of [bold]kernelcoding reproduce digits[/], in about a minute. Results that are
    in the folder of records are not computed again.

    [dim]kernelcoding demo --out report.html[/]
    """
    check_jobs(n_jobs)
    check_output(out, runs.glob("*.jsonl"), force=True)
    required_jinja2()  # a missing package is reported before the work, not after it
    console = Console(soft_wrap=True, highlight=False)
    if not runs.exists():
        console.print("Compiling, where this is the first run of an installation ...")
        digits.warm_up()
    records = run("digits", out=runs, quick=True, n_jobs=n_jobs)
    results = [result for found in read_runs(records).experiments for result in found.results]
    coders = [result for result in results if result.table == digits.EVERY_SAMPLE]
    others = [result for result in results if result.table != digits.EVERY_SAMPLE]
    for table in (_coders(coders), *comparisons(tables_of(others))):
        console.print(table)
    console.print(digits.LEGEND, markup=False)
    console.print(f"Records: {records} (delete it to compute them anew)", markup=False)
    page = write_report(records, out, "Kernel coding of handwritten digits")
    console.print(f"Report: {page}", markup=False)


def _coders(results: Sequence[ResultRecord]) -> Table:
    """The coders with their certificates."""
    table = plain_table(TABLE_TITLE, COLUMNS)
    for result in results:
        error, gap = result.artifacts.error, result.artifacts.gap
        table.add_row(
            result.method,
            _spelled(result.value, ".1f"),
            _spelled(result.nonzeros, ".1f"),
            _spelled(None if error is None else 100 * error, ".1f"),
            _spelled(gap, ".1e"),
            _spelled(result.seconds, ".2f"),
        )
    return table


def _spelled(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
