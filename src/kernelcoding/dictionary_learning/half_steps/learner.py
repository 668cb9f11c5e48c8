"""Codes and atoms in turn: the two half-steps of dictionary learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codes import count_users, second_moment
from ...dictionary import Dictionary
from ...formulations import Formulation
from ...problem import CodingProblem
from ...solvers.result import Convergence, Options
from ..frames import Frame
from ..loop import HalfStep
from ..state import Candidate, unit_norms
from ..sums import Loads, Sums
from ..updates import Update
from . import refresh
from .coding import Coded, Everywhere, FormulationAt, code_all, objective_at, problem_of

ROUNDING = 1e-12  # relative; a rise below this is no rise


class Snapshot(NamedTuple):
    """What is worth keeping at the end of a round."""

    now: Candidate
    sums: Sums
    convergence: Convergence
    parts: tuple[Snapshot, ...] = ()  # of the classes, where each learns alone
    frame: Frame | None = None  # of the atoms, where it moves with a kernel


class AtomLearner:
    """Atoms that are combinations of landmarks.

    Parameters
    ----------
    frame : Frame
        Coordinates, and the samples.
    vectors : array of shape (p, N)
        First atoms.
    formulation : Formulation
        What a code is.
    options : Options
        How codes are computed.
    update : Update
        How atoms are made better.
    """

    keep_codes = False  # whether codes are kept even where samples are not

    def __init__(
        self,
        frame: Frame,
        vectors: NDArray,
        formulation: Formulation,
        options: Options,
        update: Update,
    ):
        self.frame = frame
        self.formulation = formulation
        self.options = replace(options, sparse_output=formulation.is_sparse)
        self.update = update
        self.bounded = formulation.is_cone
        first = unit_norms(frame, vectors, vectors)[0] if self.bounded else vectors
        self.now = Candidate(first)
        self.objective = np.inf
        self.n_replaced = 0
        self._coded: Coded | None = None

    @property
    def coded(self) -> Coded:
        """What the last pass over the samples found."""
        assert self._coded is not None, "nothing was coded yet"
        return self._coded

    @property
    def largest_product(self) -> int:
        """Multiplications in the second moments of the codes, the largest product of a round."""
        return int(self.frame.n_samples) * self.now.vectors.shape[1] ** 2

    def formulations(self, now: Candidate) -> FormulationAt:
        """What codes of each block are, next to what is learned at present."""
        return Everywhere(self.formulation)

    # The two half-steps ----------------------------------------------------------------------

    def code(self) -> float:
        """Code all samples with the present atoms."""
        self._coded = code_all(
            self.frame,
            self.now.vectors,
            self.formulations(self.now),
            self.options,
            self.now.codes,
            self.keep_codes or self.frame.keeps_samples,
        )
        self.now = replace(self.now, codes=self._coded.codes)
        self.objective = self._coded.objective + self.now.penalty
        return self.objective

    def improve(self) -> float:
        """Better atoms for the present codes; the objective never rises where codes are kept."""
        self._refresh()
        if not self.frame.keeps_samples:
            return self._improve_from_sums()
        for candidate in self.update.candidates(self.frame, self.now, self.coded.sums):
            objective = self.objective_of(candidate)
            if objective <= self.objective * (1.0 + ROUNDING):
                self.now, self.objective = candidate, objective
                break
        return self.objective

    def objective_of(self, candidate: Candidate) -> float:
        """The mean objective of a candidate."""
        found = objective_at(
            self.frame,
            candidate.vectors,
            self.formulations(candidate),
            candidate.codes,
            self.options,
        )
        return found + candidate.penalty

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code)]

    def problems(self) -> Iterator[CodingProblem]:
        """The coding problems of all samples, block by block."""
        gram = self.frame.gram(self.now.vectors)
        return (problem_of(block, gram) for block in self.frame.blocks(self.now.vectors))

    def snapshot(self) -> Snapshot:
        """Atoms, what was summed with them, and how their codes ended."""
        return Snapshot(self.now, self.coded.sums, self.coded.convergence)

    def dictionary(self, snapshot: Snapshot) -> Dictionary:
        """The dictionary of a snapshot."""
        frame = self.frame if snapshot.frame is None else snapshot.frame
        return frame.dictionary(snapshot.now.vectors)

    def _improve_from_sums(self) -> float:
        """Without the samples: the change of the objective follows from the sums."""
        sums, before = self.coded.sums, self.now
        self.now = before.with_atoms(self.update.from_sums(self.frame, before.vectors, sums))
        if self.formulation.follows_atoms:
            self.objective = self.objective_of(self.now)
        else:
            self.objective += sums.value(self.frame, self.now.vectors)
            self.objective -= sums.value(self.frame, before.vectors)
        return self.objective

    # Dead atoms and twins --------------------------------------------------------------------

    def _refresh(self) -> None:
        if self.now.codes is not None and self.frame.keeps_samples:
            self._merge_twins()
        dead = refresh.unused(self.coded.usage)
        vectors, replaced = refresh.replace_atoms(
            self.frame, self.now.vectors, dead, self.coded.worst, self.bounded
        )
        self.now = self.now.with_atoms(vectors)
        self.n_replaced += len(replaced)

    def _merge_twins(self) -> None:
        assert self.now.codes is not None
        gram = self.frame.gram(self.now.vectors)
        signed = self.bounded and not self.formulation.nonnegative
        pairs = refresh.twins(gram, self.coded.usage, signed)
        if not pairs:
            return
        merged = replace(self.now, codes=refresh.merge(self.now.codes, pairs))
        objective = self.objective_of(merged)
        if objective > self.objective * (1.0 + ROUNDING):
            return
        self.now, self.objective = merged, objective
        codes = merged.codes
        assert codes is not None
        block = next(iter(self.frame.blocks(merged.vectors)))
        formulation = self.formulations(merged)(block)
        weight = self.frame.weight_of(block.rows)
        added = Loads.of(formulation, problem_of(block, gram), codes, weight)
        moment = self.frame.combine(added.loads) + merged.vectors * added.pull
        second = second_moment(codes, weight) + np.diag(added.extra)
        self._coded = replace(
            self.coded,
            codes=codes,
            sums=Sums(moment, second, self.coded.sums.n_samples),
            usage=count_users(codes, weight),
        )
