"""What an update of the atoms is."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import NDArray

from ...formulations import Formulation
from ...kernels import Kernel
from ..frames import Frame
from ..state import Candidate
from ..sums import Sums
from .quadratic import closed_form, coordinate_descent

SWEEPS_FROM_SUMS = 3  # over the atoms, where they are all that one pass over the samples gives


class Update:
    """Better atoms for given codes; one object per fit, which may remember what paid.

    Parameters
    ----------
    formulation : Formulation
        What a code is.
    """

    name: str
    learns_online = False  # whether sums over samples are enough, without their codes
    moves_points = False  # whether atoms are points of the input space

    def __init__(self, formulation: Formulation):
        self.formulation = formulation
        self.bounded = formulation.is_cone

    @classmethod
    def check(cls, formulation: Formulation, kernel: Kernel) -> None:
        """Refuse what the update cannot serve: ValueError says what can."""
        if formulation.follows_atoms:
            raise ValueError(
                f"update={cls.name!r} takes codes as given, but those of soft bag of words change "
                'with the atoms and the objective would rise; use update="auto".'
            )

    def check_frame(self, frame: Frame) -> None:
        """Refuse samples that are too many to be kept, where all are needed."""

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """Atoms to try, with their codes, best first; the first that lowers the objective wins."""
        raise NotImplementedError

    def from_sums(self, frame: Frame, vectors: NDArray, sums: Sums) -> NDArray:
        """Better atoms where samples are not kept: the sums know how the objective changes."""
        if self.bounded:
            return coordinate_descent(frame, vectors, sums, bounded=True, sweeps=SWEEPS_FROM_SUMS)
        return closed_form(frame, vectors, sums)
