"""What a code is: the whole truth that solving, judging and learning need, and no estimator."""

from .assignment import SoftAssignment
from .base import Formulation
from .candidates import OnCandidates
from .neighbours import NeighbourFit
from .own import BaseFormulation
from .penalised import Penalised
from .sensitivity import Sensitivity

__all__ = [
    "BaseFormulation",
    "Formulation",
    "NeighbourFit",
    "OnCandidates",
    "Penalised",
    "Sensitivity",
    "SoftAssignment",
]
