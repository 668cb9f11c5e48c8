"""Where learning stands: atoms, codes, and whatever else is learned with them, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, scaled_columns
from .frames import Frame


class Follower(Protocol):
    """Something learned with the atoms that depends on the scale of codes: a classifier."""

    @property
    def penalty(self) -> float:
        """What it costs in the objective."""

    def scaled(self, norms: NDArray) -> Follower:
        """The same for codes that were multiplied by these numbers."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Atoms, the codes that go with them, and a classifier of these where one is learned."""

    vectors: NDArray  # (p, N)
    codes: Codes | None = None  # (n, N)
    classifier: Follower | None = None

    @property
    def penalty(self) -> float:
        """What the classifier costs in the objective."""
        return 0.0 if self.classifier is None else self.classifier.penalty

    def with_atoms(self, vectors: NDArray) -> Candidate:
        """The same codes with other atoms."""
        return replace(self, vectors=vectors)

    def with_unit_atoms(self, frame: Frame, vectors: NDArray) -> Candidate:
        """Other atoms, scaled in place to unit norm; codes and classifier make up for it."""
        scaled, norms = unit_norms(frame, vectors, self.vectors, out=vectors)
        codes = None if self.codes is None else scaled_columns(self.codes, norms)
        classifier = None if self.classifier is None else self.classifier.scaled(norms)
        return Candidate(np.asfortranarray(scaled), codes, classifier)


def unit_norms(
    frame: Frame, vectors: NDArray, fallback: NDArray, out: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Atoms of unit norm, and the norms they had: codes are multiplied by these."""
    norms = np.sqrt(frame.squares(vectors))
    gone = ~(norms > 1e-12 * max(norms.max(), np.finfo(float).tiny))
    scaled = np.divide(vectors, np.where(gone, 1.0, norms), out=out)
    if gone.any():
        scaled[:, gone] = fallback[:, gone]
    return scaled, np.where(gone, 0.0, norms)
