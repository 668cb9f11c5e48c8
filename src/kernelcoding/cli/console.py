"""Where commands write: lines are not folded, errors go to the error stream."""

from __future__ import annotations

import functools
import signal
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from ..parallel import count_threads

FAILED = 1
INTERRUPTED = 130
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

console = Console(soft_wrap=True)


def note(*sentences: str) -> None:
    """Say on the error stream what was decided without being told.

    Parameters
    ----------
    *sentences : str
    """
    for sentence in sentences:
        Console(stderr=True, soft_wrap=True, markup=False, highlight=False).print(
            f"Note: {sentence}"
        )


def check_jobs(n_jobs: int) -> None:
    """Refuse a number of jobs that means nothing, before any work.

    Parameters
    ----------
    n_jobs : int
        The value of ``--n-jobs``.
    """
    try:
        count_threads(n_jobs)
    except ValueError:
        raise ValueError(
            f"--n-jobs must be a number of at least 1, or -1 for all cores, got {n_jobs}."
        ) from None


def hear_interrupts() -> None:
    """From here on Ctrl-C is an exception: at the start of the program it ended it at once."""
    if getattr(signal.getsignal(signal.SIGINT), "only_at_the_start", False):
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Noted:
    """Warnings as notes, each once: which line of the program has them does not help a user."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in self.said:
            self.said.add(sentence)
            note(sentence)


def _sentence(error: Exception) -> str:
    """What an error says, without the number that the system gives it."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename} does not exist."
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error) or type(error).__name__


def friendly(command: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Turn errors that users can correct into one sentence and an exit code, without a traceback.

    Errors of the program itself still show their traceback.

    Parameters
    ----------
    command : callable
        A command.
    """

    @functools.wraps(command)
    def run_command(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        hear_interrupts()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _Noted()
                return command(*args, **kwargs)
        except KeyboardInterrupt:
            Console(stderr=True).print("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            Console(stderr=True, soft_wrap=True, markup=False, highlight=False).print(
                f"Error: {_sentence(error)}"
            )
            raise typer.Exit(FAILED) from None

    return run_command
