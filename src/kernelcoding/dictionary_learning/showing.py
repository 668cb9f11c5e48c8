"""How far learning is, on standard error: nothing, a bar, or lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Protocol

ROUND_ENDS = ("codes", "trial codes", "trial", "epoch")  # one half-step in each round


@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback is told after every half-step."""

    iteration: int  # 0 before the first full round
    max_iter: int
    step: str
    objective: float
    seconds: float  # since the loop began


class Shows(Protocol):
    """Shows how far a loop is."""

    def show(self, progress: Progress) -> None:
        """Tell of a half-step."""

    def close(self, complete: bool) -> None:
        """The loop has ended, by itself or by an interrupt."""


class Silence:
    """Shows nothing."""

    def show(self, progress: Progress) -> None:
        """Tell of nothing."""

    def close(self, complete: bool) -> None:
        """Nothing is to be done."""


class Lines(Silence):
    """A line per half-step of some kinds, or of every kind."""

    def __init__(self, steps: tuple[str, ...] | None):
        self.steps = steps

    def show(self, progress: Progress) -> None:
        """Write a line."""
        if self.steps is not None and progress.step not in self.steps:
            return
        left = ""
        if progress.iteration > 0:
            rounds = progress.max_iter - progress.iteration
            left = f", at most {progress.seconds / progress.iteration * rounds:.0f} s left"
        sys.stderr.write(
            f"round {progress.iteration}/{progress.max_iter} {progress.step}: objective "
            f"{progress.objective:.6g} after {progress.seconds:.1f} s{left}\n"
        )


class Bar:
    """A bar of rounds in a terminal or a notebook; `bar` is one of tqdm."""

    def __init__(self, bar: Any):
        self.bar = bar

    def show(self, progress: Progress) -> None:
        """Move on, with the objective beside."""
        self.bar.set_postfix_str(f"{progress.step}: objective {progress.objective:.6g}", False)
        self.bar.update(progress.iteration - self.bar.n)

    def close(self, complete: bool) -> None:
        """Learning that ended early is complete, not a failure, which notebooks show in red."""
        if complete:
            self.bar.total = self.bar.n
        self.bar.refresh()
        self.bar.close()


def shows(verbose: int, max_iter: int) -> Shows:
    """What shows progress: 1 is a bar (lines of rounds without tqdm), 2 a line per half-step."""
    if verbose <= 0:
        return Silence()
    if verbose > 1:
        return Lines(None)
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        return Lines(ROUND_ENDS)
    return Bar(tqdm(total=max_iter, desc="learning", unit="round", file=sys.stderr))
