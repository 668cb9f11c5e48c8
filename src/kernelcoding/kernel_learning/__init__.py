"""Learning the kernel of a formulation."""

from .label_loss import Truth, truth_of
from .learning import LearnedKernel, learn_kernel, moved, prepared_start
from .settings import JOINT, KernelLearning, as_settings
from .veto import labels_veto

__all__ = [
    "JOINT",
    "KernelLearning",
    "LearnedKernel",
    "Truth",
    "as_settings",
    "labels_veto",
    "learn_kernel",
    "moved",
    "prepared_start",
    "truth_of",
]
