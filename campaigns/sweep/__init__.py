"""Every kernel with every coder in every task: what works, what is refused and why."""

from .lists import CODERS, KERNELS, TASKS
from .running import Cell, Outcome, outcome_of

__all__ = ["CODERS", "KERNELS", "TASKS", "Cell", "Outcome", "outcome_of"]
