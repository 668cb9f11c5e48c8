"""The command line: parse and delegate."""

from __future__ import annotations

import sys

try:
    import typer
except ModuleNotFoundError as missing:  # pragma: no cover - depends on the installation
    sys.exit(f"The command line needs {missing.name}: pip install 'kernelcoding[cli]'")

from . import demo as _demo
from . import experiments as _experiments
from . import models as _models
from .demo import COLUMNS

__all__ = ["COLUMNS", "app", "main"]

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")


@app.callback()
def root() -> None:
    """Sparse, local and supervised coding in kernel space.

    [bold]Try it[/]        kernelcoding demo

    [bold]Your data[/]     kernelcoding fit data.csv --target label --out model.kc
                  kernelcoding predict model.kc new.csv --out labels.csv

    [bold]The paper[/]     kernelcoding reproduce yaleb --data-home DIR --out runs/
                  kernelcoding report runs/ --out report.html
    """


for command in (
    _demo.demo,
    _models.fit,
    _models.encode,
    _models.predict,
    _experiments.reproduce,
    _experiments.report,
    _experiments.datasets,
):
    app.command()(command)


def main() -> None:
    """Entry point of the ``kernelcoding`` command."""
    app()
