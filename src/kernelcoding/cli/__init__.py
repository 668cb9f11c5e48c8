"""The command line: parse, hand over, print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ModuleNotFoundError as missing:
    raise ImportError(
        f"The command line needs {missing.name}: pip install 'kernelcoding[cli]'", name=missing.name
    ) from missing

from .._version import __version__
from .console import console
from .demo import demo_command
from .evaluate import evaluate_command
from .experiments import datasets_command, report_command, reproduce_command
from .fit import fit_command
from .info import info_command
from .predict import encode_command, predict_command
from .warming import warm_up_command

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


def _version(asked: bool) -> None:
    if asked:
        console.print(f"kernelcoding {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Sparse, local and supervised coding in kernel space.

    [bold]Try it[/]        kernelcoding demo

    [bold]Your data[/]     kernelcoding fit data.csv --target label --out model.kc
                  kernelcoding predict model.kc new.csv --out labels.csv
                  kernelcoding evaluate model.kc test.csv --report page.html

    [bold]The paper[/]     kernelcoding reproduce yaleb --data-home DIR --out runs/
                  kernelcoding report runs/ --out report.html
    """


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo_command,
    "fit": fit_command,
    "encode": encode_command,
    "predict": predict_command,
    "evaluate": evaluate_command,
    "info": info_command,
    "reproduce": reproduce_command,
    "report": report_command,
    "datasets": datasets_command,
    "warm-up": warm_up_command,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


def main() -> None:
    """Entry point of the ``kernelcoding`` command."""
    app()
