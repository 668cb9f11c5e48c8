"""Samples that Dask holds, as blocks to learn from: one task per group of blocks, a fixed tree.

The order in which answers are merged follows from the blocks alone, never from the number of
workers, so that equal blocks give equal bits wherever they are computed.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from ..blocks import Answer, ArrayBlocks, Beside, Blocks, Kept
from ..sparse_vectors import SparseVectors
from ..stacks import Stack, concatenated
from .errors import translated
from .inputs import DaskBlocks, blocks_of
from .reduction import FEWEST, Tree, joined, tree, windows
from .shared import Shared

__all__ = ["DaskSamples", "computed"]

REMEMBERED = 2**26  # bytes of samples that were asked for by number and are kept here
# States are sent with the graph, as scattered ones would be lost with their worker: Dask warns of
# graphs that are larger than this, which is no mistake here.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}


class DaskSamples(Blocks):
    """Samples in blocks, which workers read and this process does not.

    Parameters
    ----------
    X : Dask array of shape (n, ...), data frame, or list of delayed blocks

    Attributes
    ----------
    shape : tuple of int
        Of all samples.
    dtype : dtype
        In which they are computed: single precision where they are, else double.
    """

    at_hand = False

    def __init__(self, X: Any):
        self.given = blocks_of(X)
        lengths = np.asarray(self.given.lengths, dtype=np.intp)
        self._numbers = np.flatnonzero(lengths)  # empty blocks add nothing
        if not self._numbers.size:
            raise ValueError("X has no samples: all of its blocks are empty.")
        self._starts = np.concatenate([[0], np.cumsum(lengths[self._numbers])])
        self._known: tuple[NDArray, Stack] | None = None
        self._sender = Sender()
        self._split: list[tuple[NDArray, list[Delayed]]] = []
        self.form = self._form_of(self.given)

    def _form_of(self, given: DaskBlocks) -> Form:
        """What every sample is like; delayed blocks tell only when one is looked at."""
        shape, dtype = given.sample_shape, given.dtype
        if shape is None or dtype is None:
            with translated():
                shape, dtype = dask.compute(dask.delayed(_told)(self._block(0)))[0]
        if dtype.kind not in "biuf":
            raise ValueError(f"X must hold numbers to learn from, got blocks of type {dtype}.")
        return Form(tuple(shape), np.dtype(np.float32 if dtype == np.float32 else np.float64))

    def _block(self, number: int) -> Delayed:
        return self.given.blocks[self._numbers[number]]

    # What every stack answers ------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of all samples."""
        return (len(self), *self.form.shape)

    @property
    def ndim(self) -> int:
        """Axes of the stack."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Of the samples as they are computed with."""
        return self.form.dtype

    def __getitem__(self, rows: slice | NDArray) -> Stack:
        """Some samples, in memory; one task for each block that they lie in."""
        if isinstance(rows, slice):
            rows = np.arange(len(self))[rows]
        wanted, places = np.unique(np.asarray(rows), return_inverse=True)
        if not wanted.size:
            return np.empty((0, *self.form.shape), self.dtype)
        if self._known is not None and np.isin(wanted, self._known[0]).all():
            return self._known[1][np.searchsorted(self._known[0], wanted)][places]
        found = self._fetched(wanted)
        if found.nbytes <= REMEMBERED:
            self._remember(wanted, found)
        return found[places]

    def _fetched(self, rows: NDArray) -> Stack:
        """Samples of increasing numbers."""
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        take = dask.delayed(_rows_of, pure=False)

        def tasks() -> Iterator[Delayed]:
            for number in np.unique(owners):
                first = int(self._starts[number])
                local = rows[owners == number] - first
                yield take(self._block(number), local, first, self.form)

        return concatenated([found for some in windows(tasks()) for found in computed(*some)])

    def _remember(self, rows: NDArray, found: Stack) -> None:
        """Landmarks, first atoms and kernels are chosen among few: these are read once."""
        if self._known is not None and self._known[1].nbytes + found.nbytes <= REMEMBERED:
            rows = np.concatenate([self._known[0], rows])
            found = concatenated([self._known[1], found])
        rows, first = np.unique(rows, return_index=True)
        self._known = rows, found[first]

    # Map and reduce ----------------------------------------------------------------------------

    def map_reduce(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
        beside: Beside = (),
        step: int | None = None,
        answer_bytes: int = 0,
    ) -> Answer:
        """A task per group of blocks, and a tree of merges; nothing of earlier rounds is kept."""
        plan = Plan(function, len(state), merge, self.form, step)
        visits, answers = self._visits(plan, state, beside, answer_bytes), Tree(merge)
        for some in windows(visits):
            answers.add(computed(tree(some, merge))[0])
        return answers.root()

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
        """The same, and what ``split`` takes off each task's answer stays with the worker.

        It depends on the blocks and this state alone: a part that is lost with its worker is made
        again from these, with the same bits.
        """
        plan = Plan(function, len(state), merge, self.form, step, split)
        visits, answers, stay = self._visits(plan, state, beside, answer_bytes), Tree(merge), []
        for some in windows(visits):
            kept, found = (list(side) for side in zip(*map(tuple, some), strict=True))
            *held, answer = persisted(*kept, tree(found, merge))
            stay += held
            answers.add(computed(answer)[0])
        return answers.root(), DaskKept(stay)

    def _visits(
        self, plan: Plan, state: tuple[Any, ...], beside: Beside, answer_bytes: int
    ) -> Iterator[Delayed]:
        """One task per group of blocks."""
        groups = self._groups(answer_bytes)
        states = self._sender.sent(state, often=len(groups) > FEWEST)
        columns = [None if one is None else self._in_blocks(one) for one in beside]
        visit = dask.delayed(_visit, pure=False, nout=None if plan.split is None else 2)
        for group in groups:
            firsts = [int(self._starts[number]) for number in group]
            # One argument each: Dask would optimise the graph of a list anew for every task.
            parts: list[Delayed | None] = []
            for number in group:
                parts += [self._block(number), *(c if c is None else c[number] for c in columns)]
            yield visit(plan, firsts, *states, *parts)

    def _groups(self, answer_bytes: int) -> list[range]:
        """Neighbouring blocks that are not less than the answer to them: by bytes alone."""
        itemsize = self.dtype.itemsize * int(np.prod(self.form.shape, dtype=np.int64))
        groups, first = [], 0
        for last in range(1, len(self._numbers) + 1):
            n_rows = int(self._starts[last] - self._starts[first])
            if n_rows * itemsize >= answer_bytes or last == len(self._numbers):
                groups.append(range(first, last))
                first = last
        return groups

    def _in_blocks(self, array: NDArray) -> list[Delayed]:
        """Rows of an array in the blocks of the samples; sent once, as long as it lives."""
        for known, parts in self._split:
            if known is array:
                return parts
        name = f"kernelcoding-beside-{uuid.uuid4().hex}"
        ends = zip(self._starts[:-1], self._starts[1:], strict=True)
        parts = [
            dask.delayed(array[start:end], name=f"{name}-{number}", traverse=False)
            for number, (start, end) in enumerate(ends)
        ]
        parts = list(persisted(*parts))
        self._split.append((array, parts))
        return parts


class DaskKept(Kept):
    """Parts that workers hold.

    Parameters
    ----------
    parts : list of Delayed
        In order; computed, or on their way.
    """

    def __init__(self, parts: list[Delayed]):
        super().__init__(parts)
        self._sender = Sender()

    def map_reduce(
        self,
        function: Callable[..., Answer],
        state: tuple[Any, ...],
        merge: Callable[[Answer, Answer], Answer],
    ) -> Answer:
        """A task per part, and the same tree of merges."""
        states = self._sender.sent(state, often=len(self.parts) > FEWEST)
        ask, answers = dask.delayed(_of_part, pure=False), Tree(merge)
        for parts in windows(self.parts):
            asked = [ask(function, part, *states) for part in parts]
            answers.add(computed(tree(asked, merge))[0])
        return answers.root()


class Sender:
    """States as objects of the graph; one that comes again stays on the workers."""

    def __init__(self) -> None:
        self._sent: list[tuple[object, bool, Delayed]] = []  # parts of the last state

    def sent(self, state: tuple[Any, ...], often: bool) -> list[Delayed]:
        """Each part as one object; what several windows of tasks need stays on the workers, too."""
        sent = []
        for part in state:
            before = [entry for entry in self._sent if entry[0] is part]
            _, stays, found = before[0] if before else (part, False, None)
            if found is None:
                name = f"kernelcoding-state-{uuid.uuid4().hex}"
                found = dask.delayed(Shared(part), name=name, traverse=False)
            if (often or before) and not stays:
                stays, found = True, persisted(found)[0]
            sent.append((part, stays, found))
        self._sent = sent
        return [found for *_, found in sent]


@dataclass(frozen=True)
class Form:
    """What every sample is like."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def checked(self, block: Any, first: int) -> Stack:
        """A block as a stack of such samples, or ValueError with its place among all."""
        try:
            array = check_array(
                block, dtype=self.dtype, accept_sparse="csr", allow_nd=True, input_name="X"
            )
        except ValueError as error:
            raise ValueError(f"In the block of X that begins at row {first}: {error}") from None
        if array.shape[1:] != self.shape:
            raise ValueError(
                f"In the block of X that begins at row {first}: samples have the shape "
                f"{array.shape[1:]}, but those of the first block {self.shape}."
            )
        return SparseVectors(array) if sparse.issparse(array) else array


@dataclass(frozen=True)
class Plan:
    """What is done with every group of blocks."""

    function: Callable[..., Any]
    n_states: int
    merge: Callable[[Any, Any], Any]
    form: Form
    step: int | None
    split: Callable[[Any], tuple[Any, Any]] | None = None  # what stays, and the answer


def large_graphs() -> AbstractContextManager:
    """Let graphs be large while they are sent; nothing without a cluster."""
    # Settings made before distributed is imported would hide its own.
    return dask.config.set(LARGE_GRAPHS if "distributed" in sys.modules else {})


def computed(*parts: Delayed) -> tuple[Any, ...]:
    """What Dask's present scheduler makes of them; BLAS keeps to one thread where that is here."""
    with translated(), large_graphs(), threadpool_limits(1):
        return dask.compute(*parts)


def persisted(*parts: Delayed) -> tuple[Delayed, ...]:
    """The same, computed where they are to stay: on workers, or here."""
    with translated(), large_graphs(), threadpool_limits(1):
        return dask.persist(*parts)


def _visit(plan: Plan, firsts: Sequence[int], *parts: Any) -> Any:
    """A task: one answer for neighbouring blocks, from states and, for each, what belongs to it."""
    values = tuple(shared.value for shared in parts[: plan.n_states])
    rest = parts[plan.n_states :]
    width, answers = len(rest) // len(firsts), []
    for place, first in enumerate(firsts):
        block, *beside = rest[place * width : (place + 1) * width]
        samples = ArrayBlocks(plan.form.checked(block, first), first)
        answers.append(
            samples.map_reduce(plan.function, values, plan.merge, tuple(beside), plan.step)
        )
    answer = joined(plan.merge, *answers)
    return answer if plan.split is None else plan.split(answer)


def _of_part(function: Callable[..., Any], part: Any, *state: Shared) -> Any:
    """A task: the answer for a part that was kept."""
    return function(part, *(one.value for one in state))


def _rows_of(block: Any, rows: NDArray, first: int, form: Form) -> Stack:
    """A task: some samples of a block."""
    return form.checked(block, first)[rows]


def _told(block: Any) -> tuple[tuple[int, ...], np.dtype]:
    """A task: shape and type of the samples of a block."""
    array = block if sparse.issparse(block) else np.asarray(block)
    return array.shape[1:], array.dtype
