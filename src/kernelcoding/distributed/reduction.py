"""One answer of many: a tree of merges whose form follows from the number of answers alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import islice
from typing import Any, Generic

import dask
from dask.delayed import Delayed
from joblib import cpu_count

from ..blocks import Answer

__all__ = ["FEWEST", "Tree", "joined", "tree", "windows"]

WIDTH = 8  # answers that one task merges
FEWEST = WIDTH**2  # tasks of a window


def windows(tasks: Iterable[Delayed]) -> Iterator[list[Delayed]]:
    """As many tasks at a time as keep all workers busy.

    Client and scheduler hold the tasks of one window, however many there are in all. Windows are
    whole subtrees of the tree of merges, so that they change no bit of what it gives.
    """
    size, busy = FEWEST, 16 * count_threads()
    while size < busy:
        size *= WIDTH
    remaining = iter(tasks)
    while some := list(islice(remaining, size)):
        yield some


def count_threads() -> int:
    """Of the workers of the present scheduler."""
    if "distributed" in sys.modules:
        from distributed import default_client

        try:
            return sum(default_client().nthreads().values())
        except ValueError:  # no client: this process computes
            pass
    return cpu_count()


class Tree(Generic[Answer]):
    """Merges answers as they come, in the order of :func:`tree`, and holds few of them.

    Parameters
    ----------
    merge : callable
    """

    def __init__(self, merge: Callable[[Answer, Answer], Answer]):
        self.merge = merge
        self._levels: list[list[Answer]] = []

    def add(self, answer: Answer, level: int = 0) -> None:
        """The next answer, from the left."""
        if level == len(self._levels):
            self._levels.append([])
        if len(self._levels[level]) == WIDTH:  # whole, and not the last one of its level
            self.add(joined(self.merge, *self._levels[level]), level + 1)
            self._levels[level] = []
        self._levels[level].append(answer)

    def root(self) -> Answer:
        """One answer of all."""
        level = 0
        while level + 1 < len(self._levels):  # a level may grow another one above it
            self.add(joined(self.merge, *self._levels[level]), level + 1)
            level += 1
        return joined(self.merge, *self._levels[-1])


def tree(answers: list[Delayed], merge: Callable[[Any, Any], Any]) -> Delayed:
    """One answer of all: by their number alone it is settled which are merged first."""
    join = dask.delayed(joined, pure=False)
    while len(answers) > 1:
        parts = [answers[i : i + WIDTH] for i in range(0, len(answers), WIDTH)]
        answers = [join(merge, *part) for part in parts]
    return answers[0]


def joined(merge: Callable[[Any, Any], Any], *answers: Any) -> Any:
    """One answer of several, from the left."""
    return reduce(merge, answers)
