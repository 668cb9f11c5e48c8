"""Errors that are the user's to mend: a sentence and an exit code, no traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console

FAILED = 1


def friendly(command: Callable) -> Callable:
    """Show what was wrong with the input; bugs still show where they are."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            Console(stderr=True).print("Interrupted.")
            raise typer.Exit(130) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            Console(stderr=True, soft_wrap=True, markup=False, highlight=False).print(
                f"Error: {str(error) or type(error).__name__}"
            )
            raise typer.Exit(FAILED) from None

    return run
