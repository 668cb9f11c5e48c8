"""Learning from batches: coordinates, atoms and two sums are all that is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes
from ...formulations import Formulation
from ...solvers.result import Convergence, Options
from ..checks import refuse_zero_codes
from ..frames import Frame, LandmarkFrame, SampleFrame
from ..half_steps.coding import Everywhere, code_all, problem_of
from ..half_steps.refresh import replace_atoms
from ..sums import Sums
from ..updates import Update
from ..updates.quadratic import closed_form, coordinate_descent

PASSES = 3  # rounds of codes and atoms on one batch
SWEEPS = 2  # over the atoms, in each round
# With forgetting="auto" the past counts (1 - s)**FADING, s the share of the batch in all samples
# seen: codes of the first, poor dictionaries fade, and in the long run nothing is forgotten.
FADING = 3.0


class BatchOutcome(NamedTuple):
    """What learning from one batch found."""

    objective: float  # of the batch before it was learned from
    n_replaced: int
    convergence: Convergence


class BatchFrame(LandmarkFrame):
    """A batch whose own coordinates stand in for its similarities to the landmarks.

    They are computed once. Atoms and moments, which change in every round, then need no products
    with the basis: a gain where the batch has fewer samples than these have columns together.
    """

    def __init__(self, frame: LandmarkFrame, X: NDArray):
        super().__init__(frame.landmarks, X, like=frame)
        if self._kept is not None:
            seen = self._projected(self._kept.similarity.T).T
            self._kept = replace(self._kept, similarity=seen)

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        """Products with coordinates are coordinates."""
        if self._kept is None:
            return super().coordinates(image, loads)
        return np.asfortranarray(image)

    def _seen(self, vectors: NDArray) -> NDArray:
        return super()._seen(vectors) if self._kept is None else vectors


class OnlineState:
    """What is known after some batches.

    Parameters
    ----------
    frame : LandmarkFrame
        Coordinates; its samples are not looked at.
    vectors : array of shape (p, N)
        The atoms.
    sums : Sums
        Over all batches so far, faded.
    """

    def __init__(self, frame: LandmarkFrame, vectors: NDArray, sums: Sums):
        self.frame = frame
        self.vectors = vectors
        self.sums = sums
        self.usage = np.diag(sums.second).copy()
        self.n_seen = 0.0

    @classmethod
    def after(cls, frame: Frame, vectors: NDArray, sums: Sums) -> OnlineState:
        """To go on from where a batch fit ended."""
        empty = LandmarkFrame(frame.landmarks, frame.landmarks.points[:0], like=frame)
        if isinstance(frame, SampleFrame):
            n = frame.n_samples
            vectors = empty.coordinates(vectors[n:], None)
            moment = empty.coordinates(sums.moment[n:], None)
            sums = Sums(moment, sums.second, sums.n_samples)
        state = cls(empty, vectors, sums)
        state.n_seen = sums.n_samples
        return state

    def learn(
        self,
        X: NDArray,
        formulation: Formulation,
        options: Options,
        update: Update,
        forgetting: float | str,
        sample_weight: NDArray | None = None,
    ) -> BatchOutcome:
        """Learn from one batch; three rounds of codes and atoms."""
        small = len(X) < 2 * PASSES * self.vectors.shape[1]
        frame = BatchFrame(self.frame, X) if small else self.frame.with_samples(X)
        frame.sample_weight = sample_weight
        self.n_seen += frame.total_weight
        if forgetting == "auto":
            fading = (1.0 - frame.total_weight / self.n_seen) ** FADING
        else:
            fading = float(forgetting)
        options = replace(options, sparse_output=formulation.is_sparse)
        past, codes, first = self.sums, None, np.nan
        for turn in range(PASSES):
            coded = code_all(frame, self.vectors, Everywhere(formulation), options, codes)
            if coded.usage.sum() == 0 and not past.second.any():
                gram = frame.gram(self.vectors)
                problems = (problem_of(block, gram) for block in frame.blocks(self.vectors))
                refuse_zero_codes(formulation, problems, coded.convergence)
            codes = coded.codes
            first = coded.objective if turn == 0 else first
            self.sums = past.faded(fading).plus(coded.sums)
            self.vectors = self._better_atoms(frame, update, fading, turn)
        self.usage = fading * self.usage + coded.usage
        dead = np.flatnonzero(self.usage == 0)
        self.vectors, replaced = replace_atoms(
            frame, self.vectors, dead, coded.worst, formulation.is_cone
        )
        return BatchOutcome(first, len(replaced), coded.convergence)

    def _better_atoms(
        self, frame: LandmarkFrame, update: Update, fading: float, turn: int
    ) -> NDArray:
        if update.formulation.follows_atoms:
            # Codes depend on the atoms, so sums over past codes mean little: a step on this batch,
            # in proportion to its share of what is remembered.
            if turn > 0:
                return self.vectors
            share = 1.0 - fading if fading < 1.0 else frame.total_weight / self.n_seen
            aim = update.from_sums(frame, self.vectors, self.sums)
            return self.vectors + min(share, 0.5) * (aim - self.vectors)
        if update.bounded:
            return coordinate_descent(frame, self.vectors, self.sums, bounded=True, sweeps=SWEEPS)
        return closed_form(frame, self.vectors, self.sums)
