"""The paper's experiments, their report, and the data they need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import check_jobs, console, friendly
from .output_files import check_output


@friendly
def reproduce_command(
    experiment: Annotated[str, typer.Argument(help="yaleb, virus, fmd, mit-indoor, voc2007, ...")],
    data_home: Annotated[Path | None, typer.Option(help="Where the data sets are.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("runs"),
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in minutes.")] = False,
    table: Annotated[
        list[str] | None, typer.Option(help="Only this table; give it again for more.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only this row; give it again for more.")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(help="Only this number of atoms; give it again for more.")
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes over splits; -1 is all cores.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler, tcp://host:8786, to compute there."),
    ] = None,
) -> None:
    """Run one of the paper's experiments; a killed run goes on where it stopped.

    [dim]kernelcoding reproduce yaleb --data-home DIR --out runs/[/]
    """
    from ..experiments import run
    from ..records import read_runs, tables_of
    from .comparison import comparisons

    check_jobs(n_jobs)
    written = run(
        experiment,
        data_home=data_home,
        out=out,
        quick=quick,
        n_jobs=n_jobs,
        tables=table or None,
        methods=method or None,
        sizes=size or None,
        scheduler=scheduler,
    )
    for recorded in read_runs(written).experiments:
        for shown in comparisons(tables_of(recorded.results)):
            console.print(shown)
    console.print(f"Records: {written}", markup=False)


@friendly
def report_command(
    runs: Annotated[Path, typer.Argument(help="Folder or file of records.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    slim: Annotated[
        Path | None,
        typer.Option(help="A folder for the records without histories and pictures, to keep."),
    ] = None,
    fill: Annotated[
        Path | None, typer.Option(help="A text in Markdown whose tables are filled from records.")
    ] = None,
) -> None:
    """Write records as one page, without outside files.

    [dim]kernelcoding report runs/ --out report.html[/]
    """
    from ..records import write_slim
    from ..report import fill_tables, write_report

    # A page is made anew whenever asked for, but not in the place of records or of a text.
    inputs = [runs, *runs.glob("*.jsonl"), *([fill] if fill is not None else [])]
    check_output(out, inputs, force=True)
    kept = write_slim(runs, slim) if slim is not None else []
    if fill is not None:
        changed = fill_tables(fill, runs)
        console.print(f"Tables: {fill}{'' if changed else ' (nothing changed)'}", markup=False)
    console.print(f"Report: {write_report(runs, out)}", markup=False)
    if kept:
        console.print(f"Records: {len(kept)} files in {slim}", markup=False)


@friendly
def datasets_command(
    data_home: Annotated[Path | None, typer.Option(help="Where to look.")] = None,
    how: Annotated[str | None, typer.Option(help="How to get this set.")] = None,
) -> None:
    """Say which data sets are there, which are missing, and how to get them.

    [dim]kernelcoding datasets --how fmd[/]
    """
    from ..datasets import describe

    sets = describe(data_home)
    if how is not None:
        chosen = [found for found in sets if found.name == how.replace("-", "_")]
        if not chosen:
            names = ", ".join(dict.fromkeys(found.name for found in sets))
            raise ValueError(f"No data set {how!r}; there are {names}.")
        for found in chosen:
            console.print(f"{found.name}, {found.form}: {found.how_to_get}\n", markup=False)
        return
    lines = [("set", "form", "there", "where, or how to get it")]
    for found in sets:
        missing = "downloads itself" if found.can_download else f"datasets --how {found.name}"
        where = str(found.path) if found.present else found.problem or missing
        lines.append((found.name, found.form, "yes" if found.present else "no", where))
    # Plain lines: a table would cut paths to the width of the terminal.
    widths = [2 + max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    for *cells, where in lines:
        padded = map(str.ljust, cells, widths)
        console.print("".join(padded) + where, markup=False, highlight=False)
