"""The demo: every coder on data that needs no download."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..experiments import digits, read_records, run, summarize
from ..report.writing import required_jinja2, write_report
from .comparison import comparisons, plain_table
from .errors import friendly

COLUMNS = ("method", "accuracy", "atoms", "error", "gap", "seconds")
TITLE = "Digits: accuracy and error in percent, gap: distance to the optimum, at most"


@friendly
def demo(
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("report.html"),
    runs: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("runs/demo"),
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 is all cores.")] = 1,
) -> None:
    """Code handwritten digits with every coder, linear and kernel, and compare them.

    The quick version of [bold]kernelcoding reproduce digits[/], in about a minute. Results that are
    in the folder of records are not computed again.

    [dim]kernelcoding demo --out report.html[/]
    """
    required_jinja2()  # what the report needs is missed before the work, not after it
    console = Console(soft_wrap=True, highlight=False)
    if not runs.exists():
        console.print("Compiling, where this is the first run of an installation ...")
        digits.warm_up()
    records = run("digits", out=runs, quick=True, n_jobs=n_jobs)
    rows = [row for row in summarize(records) if row.table != digits.EVERY_SAMPLE]
    for table in (_coders(read_records(records)), *comparisons(rows)):
        console.print(table)
    console.print(f"Records: {records} (delete it to compute them anew)", markup=False)
    page = write_report(records, out, "Kernel coding of handwritten digits")
    console.print(f"Report: {page}", markup=False)


def _coders(records: list[dict[str, Any]]) -> Table:
    """The coders with their certificates."""
    table = plain_table(TITLE, COLUMNS)
    for record in records:
        if record.get("table") == digits.EVERY_SAMPLE:
            certificate = record["artifacts"].get("certificate", {})
            table.add_row(
                record["method"],
                f"{record['value']:.1f}",
                f"{record['nonzeros']:.1f}",
                f"{100 * certificate['error']:.1f}" if "error" in certificate else "",
                f"{certificate['gap']:.1e}" if "gap" in certificate else "",
                f"{record['seconds']:.2f}",
            )
    return table
