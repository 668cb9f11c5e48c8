"""Learning the kernel of a formulation."""

from .learning import LearnedKernel, learn_kernel, moved, prepared_start
from .settings import KernelLearning, as_settings

__all__ = [
    "KernelLearning",
    "LearnedKernel",
    "as_settings",
    "learn_kernel",
    "moved",
    "prepared_start",
]
