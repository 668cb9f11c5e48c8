"""Samples in blocks: one function of every block, and one sum of what it answers.

All that learning from many samples needs is :meth:`Blocks.map_reduce`. Arrays and memory maps are
read here, block after block; samples that are spread over processes are read where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .stacks import Stack, concatenated, in_memory

Answer = TypeVar("Answer")
Beside = tuple[NDArray | None, ...]  # of arrays with one row per sample


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples, and what is known beside them."""

    rows: slice  # among all samples
    samples: Stack
    beside: Beside = ()  # the same rows of other arrays


class Kept:
    """What a pass over blocks has left where it was made.

    Parameters
    ----------
    parts : list
        One per block, or for several, in order.
    """

    def __init__(self, parts: list[Any]):
        self.parts = parts

    def map_reduce(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
    ) -> Answer:
        """Answers of a function of each part (and the state), merged as those of the pass were."""
        return reduce(merge, (function(part, *state) for part in self.parts))


class Blocks:
    """Samples that are visited block by block.

    They have a length and give samples by ``X[rows]``, as every stack does.
    """

    at_hand: bool  # whether samples can be read again at any time for nothing

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, rows: slice | NDArray) -> Stack:
        raise NotImplementedError

    def map_reduce(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
        beside: Beside = (),
        step: int | None = None,
        answer_bytes: int = 0,
    ) -> Answer:
        """Answers of a function for every block, merged in an order that is always the same.

        Parameters
        ----------
        function : callable
            Of a :class:`Block` and of each part of the state; it may be called in another process.
        state : tuple
            What all blocks need to know.
        merge : callable
            One answer of two neighbouring ones, neither of which it changes.
        beside : tuple of arrays
            With one row per sample (or None), handed over with the blocks.
        step : int, default=None
            Largest number of samples that the function is given at once.
        answer_bytes : int, default=0
            About the size of an answer: small blocks are not worth one each.
        """
        raise NotImplementedError

    def map_keep(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
        split: Callable[[Answer], tuple[Any, Answer]],
        beside: Beside = (),
        step: int | None = None,
        answer_bytes: int = 0,
    ) -> tuple[Answer, Kept]:
        """As ``map_reduce``; what ``split`` takes off an answer stays where it was made.

        Parameters
        ----------
        function, state, merge, beside, step, answer_bytes
            As in :meth:`map_reduce`.
        split : callable
            Of an answer: what stays, and the rest, which goes on to be merged.
        """
        answer = self.map_reduce(function, state, merge, beside, step, answer_bytes)
        kept, rest = split(answer)
        return rest, Kept([kept])


class ArrayBlocks(Blocks):
    """Samples of an array or a memory map.

    Parameters
    ----------
    X : stack of n samples
    first : int, default=0
        Number of the first sample, where these are some of many.
    """

    at_hand = True

    def __init__(self, X: Stack, first: int = 0):
        self.X = X
        self.first = first

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | NDArray) -> Stack:
        return in_memory(self.X[rows])

    def blocks(self, beside: Beside = (), step: int | None = None) -> Iterator[Block]:
        """Blocks of at most ``step`` samples, in order."""
        n = len(self.X)
        for start in range(0, n, step or max(n, 1)):
            stop = min(start + (step or n), n)
            others = tuple(None if one is None else one[start:stop] for one in beside)
            rows = slice(self.first + start, self.first + stop)
            yield Block(rows, in_memory(self.X[start:stop]), others)

    def map_reduce(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
        beside: Beside = (),
        step: int | None = None,
        answer_bytes: int = 0,
    ) -> Answer:
        """One block after the other, each answer merged with all before."""
        return reduce(merge, (function(block, *state) for block in self.blocks(beside, step)))


def as_blocks(X: Stack | Blocks) -> Blocks:
    """Samples as blocks, which they may be already."""
    return X if isinstance(X, Blocks) else ArrayBlocks(X)


@dataclass(frozen=True, slots=True)
class Worst:
    """The samples with the largest errors, worst first; of equal ones the first row."""

    errors: NDArray  # (m,)
    rows: NDArray  # (m,) among all samples
    samples: Stack | None = None  # (m, ...), where they are far away

    @classmethod
    def of(cls, errors: NDArray, count: int, first: int = 0, samples: Stack | None = None) -> Worst:
        """At most ``count`` of consecutive samples.

        Parameters
        ----------
        errors : array of shape (n,)
        count : int
        first : int, default=0
            Row of the first.
        samples : stack of n samples, default=None
            To be kept with their errors.
        """
        worst = np.argsort(-errors, kind="stable")[:count]
        kept = None if samples is None else samples[worst]
        return cls(errors[worst], first + worst, kept)

    def merged(self, other: Worst, count: int) -> Worst:
        """The worst of both."""
        errors = np.concatenate([self.errors, other.errors])
        rows = np.concatenate([self.rows, other.rows])
        worst = np.lexsort((rows, -errors))[:count]
        samples = None
        if self.samples is not None:
            samples = concatenated([self.samples, other.samples])[worst]
        return Worst(errors[worst], rows[worst], samples)
