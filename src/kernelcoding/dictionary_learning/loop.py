"""The alternating loop: half-steps in turn until the objective stops falling."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .showing import Progress, Shows, shows

# One half-step: its name and a function that takes it and returns the objective afterwards.
HalfStep = tuple[str, Callable[[], float]]


@dataclass(slots=True)
class Outcome:
    """What the loop leaves behind."""

    history: list[float] = field(default_factory=list)  # objective after every half-step
    steps: list[str] = field(default_factory=list)  # their names
    n_iter: int = 0
    best: Any = None  # snapshot where the objective was lowest at the end of a round
    objective: float = float("inf")  # there
    status: str = "max_iter"  # or "converged", "callback", "interrupted"

    def interrupted(self, stacklevel: int, where: str | None = None) -> None:
        """Say that learning ends here, with what there is."""
        self.status = "interrupted"
        where = where or f"in round {self.n_iter + 1}"
        warnings.warn(
            f"Learning was interrupted {where}: the best dictionary so far is kept.",
            UserWarning,
            stacklevel=stacklevel,
        )


class Keeps(Protocol):
    """Writes down where the loop stands, and puts it back there."""

    def resumed(self) -> Outcome | None:
        """Where an earlier run has ended, and the state is put there; None: nowhere."""

    def check(self, outcome: Outcome, objective: float) -> None:
        """Refuse an objective that is not the one written down."""

    def write(self, outcome: Outcome) -> None:
        """Write down the end of a round."""

    def remove(self, outcome: Outcome) -> None:
        """The loop has ended."""


class Alternation:
    """Runs half-steps in turn, remembers the best state, and can be stopped at any time.

    Parameters
    ----------
    max_iter : int
        Largest number of rounds.
    tol : float
        The loop ends when a round lowers the objective by less than this fraction of it.
    callback : callable, default=None
        Called with a :class:`Progress` after every half-step; a true answer ends the loop.
    verbose : int, default=0
        1 shows a bar of rounds (lines, without tqdm), 2 a line per half-step.
    """

    def __init__(
        self,
        max_iter: int,
        tol: float,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ):
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    _shows: Shows
    _start: float

    def run(
        self,
        first: HalfStep,
        steps: Sequence[HalfStep],
        snapshot: Callable[[], Any],
        keeper: Keeps | None = None,
    ) -> Outcome:
        """Take the first half-step, then rounds of the others; interrupted, keep the best.

        Parameters
        ----------
        first : HalfStep
            Taken once, before the rounds.
        steps : sequence of HalfStep
            One round.
        snapshot : callable
            The state worth keeping, asked for at the end of a round; never changed in place.
        keeper : Keeps, default=None
            Writes down every round, and knows where an earlier run has ended.
        """
        self._start = time.perf_counter()
        self._shows = shows(self.verbose, self.max_iter)
        earlier = None if keeper is None else keeper.resumed()
        outcome = earlier or Outcome()
        try:
            if keeper is not None and earlier is not None:
                keeper.check(outcome, first[1]())
                outcome.best = outcome.best or snapshot()
                stopped = False
            else:
                stopped = self._take(first, 0, outcome)
                self._keep(outcome, snapshot)
            while not stopped and outcome.n_iter < self.max_iter:
                before = outcome.history[-1]
                iteration = outcome.n_iter + 1
                stopped = any([self._take(step, iteration, outcome) for step in steps])
                outcome.n_iter = iteration
                self._keep(outcome, snapshot)
                if keeper is not None:
                    keeper.write(outcome)
                if before - outcome.history[-1] <= self.tol * abs(before):
                    outcome.status = "converged"
                    break
            if stopped:
                outcome.status = "callback"
        except KeyboardInterrupt:
            if outcome.best is None:
                raise
            outcome.interrupted(stacklevel=5)
        finally:
            self._shows.close(complete=outcome.status != "interrupted")
        if keeper is not None:
            keeper.remove(outcome)
        return outcome

    def _take(self, step: HalfStep, iteration: int, outcome: Outcome) -> bool:
        name, function = step
        objective = function()
        outcome.history.append(objective)
        outcome.steps.append(name)
        progress = Progress(
            iteration, self.max_iter, name, objective, time.perf_counter() - self._start
        )
        self._shows.show(progress)
        return bool(self.callback is not None and self.callback(progress))

    def _keep(self, outcome: Outcome, snapshot: Callable[[], Any]) -> None:
        if outcome.best is None or outcome.history[-1] <= outcome.objective:
            outcome.best, outcome.objective = snapshot(), outcome.history[-1]
