"""Learning what coders take as given."""

from ..coders import base as _base
from .dictionary_learning import KernelDictionaryLearning
from .kernel_learning import KernelLearning, learn_for_coder
from .label_consistent import DiscriminativeKSVD, LabelConsistentKSVD
from .supervised import SupervisedKernelCoding

_base.learner = learn_for_coder

__all__ = [
    "DiscriminativeKSVD",
    "KernelDictionaryLearning",
    "KernelLearning",
    "LabelConsistentKSVD",
    "SupervisedKernelCoding",
]
