"""One cell of the sweep, and all of them."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..base import Failure
from ..runner import kind_of
from .lists import CODERS, KERNELS, TASKS
from .reasons import reason_of
from .spaces import samples


@dataclass(frozen=True, order=True)
class Cell:
    """A kernel, a coder and a task, by name."""

    kernel: str
    coder: str
    task: str

    def __str__(self) -> str:
        return f"{self.kernel} / {self.coder} / {self.task}"


@dataclass(frozen=True)
class Outcome:
    """How a cell ended: passed, refused for a reason of the table, or failed."""

    cell: Cell
    reason: str = ""
    failure: str = ""

    @property
    def passed(self) -> bool:
        """Whether all equations hold."""
        return not self.reason and not self.failure


def all_cells() -> list[Cell]:
    """Every kernel with every coder in every task."""
    return [Cell(k, c, t) for k in KERNELS for c in CODERS for t in TASKS]


def sampled_cells(per_task: int) -> list[Cell]:
    """A fixed few of them: every kernel, every coder and every task is among them."""
    kernels, coders, tasks = list(KERNELS), list(CODERS), list(TASKS)
    found = set()
    for t, task in enumerate(tasks):
        for i in range(per_task):
            kernel = kernels[(i + 7 * t) % len(kernels)]
            coder = coders[(7 * i + 3 * t) % len(coders)]
            found.add(Cell(kernel, coder, task))
    return sorted(found)


def outcome_of(cell: Cell) -> Outcome:
    """Run a cell; warnings are not looked at."""
    case = KERNELS[cell.kernel]
    coder = CODERS[cell.coder]().set_params(kernel=case.make())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TASKS[cell.task](coder, samples(case.space))
    except Failure as failure:
        return Outcome(cell, failure=str(failure))
    except Exception as error:  # whatever it is: a refusal of the table, or a failure
        reason = reason_of(cell.kernel, cell.coder, cell.task, error)
        if reason:
            return Outcome(cell, reason=reason)
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Outcome(cell, failure=f"{type(error).__name__} from {where}: {str(error)[:300]}")
    return Outcome(cell)


def report(outcomes: Iterable[Outcome]) -> str:
    """Counts: passed, refused by reason, and failed by message, with the first cell of each."""
    found = list(outcomes)
    reasons = Counter(outcome.reason for outcome in found if outcome.reason)
    failed = [outcome for outcome in found if outcome.failure]
    passed = sum(outcome.passed for outcome in found)
    lines = [
        f"{len(found)} cells: {passed} passed, {reasons.total()} refused, {len(failed)} failed"
    ]
    lines += [f"refused {count:>5}  {reason}" for reason, count in reasons.most_common()]
    kinds = Counter(kind_of(outcome.failure) for outcome in failed)
    for kind, count in kinds.most_common():
        first = next(outcome for outcome in failed if kind_of(outcome.failure) == kind)
        lines.append(f"FAILED {count:>6}  {first.cell}: {first.failure}")
    return "\n".join(lines)
