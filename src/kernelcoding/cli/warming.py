"""Compile everything once, with a bar that shows how far it is."""

from __future__ import annotations

import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .console import console, friendly


@friendly
def warm_up_command() -> None:
    """Compile everything now, once per machine, so that no later call has to.

    Less than a minute where nothing has been compiled yet, seconds where it has.

    [dim]kernelcoding warm-up[/]
    """
    from ..warming import steps

    todo = list(steps())
    start = time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(todo))
        for title, compile_it in todo:
            progress.update(task, description=title)
            compile_it()
            progress.advance(task)
    console.print(f"Compiled: {len(todo)} parts in {time.monotonic() - start:.0f} s", markup=False)
