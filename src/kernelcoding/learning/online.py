"""Learning from batches: coordinates, atoms and two sums are all that is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solvers.choose import Options
from . import soft_words
from .checks import is_soft, refuse_zero_codes
from .coding import Sums, code_samples
from .frames import Frame, LandmarkFrame, SampleFrame, orthonormal_basis
from .refresh import replace_atoms
from .updates import closed_form, coordinate_descent

PASSES = 3  # rounds of codes and atoms on one batch
SWEEPS = 2  # over the atoms, in each round
# With forgetting="auto" the past counts (1 - s)**FADING, s the share of the batch in all samples
# seen: codes of the first, poor dictionaries fade, and in the long run nothing is forgotten.
FADING = 3.0


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
        if isinstance(frame, SampleFrame):
            basis = orthonormal_basis(frame.landmarks)
            n = frame.n_samples
            vectors = np.asfortranarray(basis.T @ vectors[n:])
            sums = Sums(basis.T @ sums.moment[n:], sums.second, sums.n_samples)
        else:
            assert isinstance(frame, LandmarkFrame)
            basis = frame.basis
        empty = LandmarkFrame(frame.landmarks, frame.landmarks.points[:0], basis)
        state = cls(empty, vectors, sums)
        state.n_seen = sums.n_samples
        return state

    def learn(
        self, X: NDArray, coder: Any, options: Options, forgetting: float | str
    ) -> tuple[float, int]:
        """One batch; returns its objective before learning from it, and atoms replaced."""
        bounded = coder.formulation().constraint.is_cone
        self.n_seen += len(X)
        if forgetting == "auto":
            fading = (1.0 - len(X) / self.n_seen) ** FADING
        else:
            fading = float(forgetting)
        frame = self.frame.with_samples(X)
        past, codes, first = self.sums, None, np.nan
        for turn in range(PASSES):
            coded = code_samples(frame, self.vectors, coder, options, codes)
            if coded.usage.sum() == 0 and not past.second.any():
                crosses = (block.cross for block in frame.blocks(self.vectors))
                refuse_zero_codes(coder.formulation(), crosses)
            codes = coded.codes
            first = coded.objective if turn == 0 else first
            self.sums = past.faded(fading).plus(coded.sums)
            self.vectors = self._better_atoms(frame, coder, bounded, fading, turn)
        self.usage = fading * self.usage + coded.usage
        dead = np.flatnonzero(self.usage == 0)
        self.vectors, replaced = replace_atoms(frame, self.vectors, dead, coded.errors, bounded)
        return first, len(replaced)

    def _better_atoms(
        self, frame: LandmarkFrame, coder: Any, bounded: bool, fading: float, turn: int
    ) -> NDArray:
        if is_soft(coder):
            # Codes depend on the atoms, so sums over past codes mean little: a step on this batch,
            # in proportion to its share of what is remembered.
            if turn > 0:
                return self.vectors
            share = 1.0 - fading if fading < 1.0 else frame.n_samples / self.n_seen
            aim = soft_words.descend(frame, self.vectors, coder.sigma)
            return self.vectors + min(share, 0.5) * (aim - self.vectors)
        if bounded:
            return coordinate_descent(frame, self.vectors, self.sums, bounded=True, sweeps=SWEEPS)
        return closed_form(frame, self.vectors, self.sums)
