"""Updates that minimise a quadratic in the atoms: the paper's closed form and one by one."""

from __future__ import annotations

from collections.abc import Iterator

from ...formulations import Formulation
from ...kernels import Kernel
from ..frames import Frame
from ..state import Candidate
from ..sums import Sums
from .base import Update
from .quadratic import closed_form, coordinate_descent

BACKTRACKS = 6  # shorter steps tried where the prior depends on the atoms


class CoordinateUpdate(Update):
    """One atom after the other, within the unit ball where codes are free to scale."""

    name = "coordinate"
    learns_online = True

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """The minimiser over each atom in turn; codes that sum to one allow the closed form."""
        if not self.bounded:
            yield from _towards_closed_form(frame, now, sums)
            return
        atoms = coordinate_descent(frame, now.vectors, sums, bounded=True)
        yield now.with_unit_atoms(frame, atoms)


class ClosedFormUpdate(CoordinateUpdate):
    """The paper's closed form, atoms scaled to unit norm; one by one where that rises."""

    name = "pinv"

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """The closed form, then coordinate descent."""
        if self.bounded:
            yield now.with_unit_atoms(frame, closed_form(frame, now.vectors, sums))
        yield from super().candidates(frame, now, sums)


class AutoUpdate(CoordinateUpdate):
    """The closed form as long as it lowers the objective, then coordinate descent for good."""

    name = "auto"

    def __init__(self, formulation: Formulation):
        super().__init__(formulation)
        self.closed_form_pays = True

    @classmethod
    def check(cls, formulation: Formulation, kernel: Kernel) -> None:
        """Everything goes: codes that follow the atoms are moved along gradients instead."""

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """The closed form while it pays, then coordinate descent."""
        if self.bounded and self.closed_form_pays:
            yield now.with_unit_atoms(frame, closed_form(frame, now.vectors, sums))
            self.closed_form_pays = False  # asked for more: it has raised the objective
        yield from super().candidates(frame, now, sums)


def _towards_closed_form(frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
    """The minimiser, then shorter steps: some priors change with the atoms."""
    target = closed_form(frame, now.vectors, sums)
    step = 1.0
    for _ in range(1 + BACKTRACKS):
        yield now.with_atoms(now.vectors + step * (target - now.vectors))
        step *= 0.25
