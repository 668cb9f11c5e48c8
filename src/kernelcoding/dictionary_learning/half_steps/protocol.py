"""What the loop asks of whatever learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ...dictionary import Dictionary
from ...problem import CodingProblem
from ..loop import HalfStep
from .coding import Coded
from .learner import Snapshot


class Learner(Protocol):
    """Takes the half-steps of learning and knows where it stands."""

    @property
    def n_replaced(self) -> int:
        """Atoms that were replaced."""

    @property
    def largest_product(self) -> int:
        """Multiplications in the largest matrix product of a round, roughly."""

    @property
    def coded(self) -> Coded:
        """What the last pass over the samples found."""

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""

    def code(self) -> float:
        """The first half-step."""

    def problems(self) -> Iterator[CodingProblem]:
        """The coding problems of all samples, block by block."""

    def snapshot(self) -> Snapshot:
        """What is worth keeping."""

    def dictionary(self, snapshot: Snapshot) -> Dictionary:
        """The dictionary of a snapshot."""
