"""What formulations that wrap another one pass on to it."""

from __future__ import annotations

from dataclasses import dataclass

from ..codes import Codes
from ..problem import CodingProblem
from .base import Formulation


@dataclass(frozen=True, slots=True)
class Wrapping:
    """Says what the formulation within says, wherever a subclass does not say otherwise."""

    formulation: Formulation

    @property
    def nonnegative(self) -> bool:
        """Whether no entry of a code is negative."""
        return self.formulation.nonnegative

    @property
    def is_cone(self) -> bool:
        """Whether multiples of a code are allowed."""
        return self.formulation.is_cone

    def check(self, n_atoms: int) -> None:
        """Refuse what the formulation within refuses."""
        self.formulation.check(n_atoms)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives of :meth:`value` in squared distances; None: no distance."""
        return self.formulation.distance_weights(problem, codes)
