"""Sparse, local and supervised coding in kernel space, as scikit-learn estimators."""

from . import constraints, distributed, kernels, priors
from ._version import __version__
from .classification import (
    DiscriminativeKSVD,
    KernelDictionaryPairLearning,
    KernelOutlierDetector,
    LabelConsistentKSVD,
    ResidualClassifier,
    SupervisedKernelCoding,
)
from .coders import (
    KernelBagOfWords,
    KernelCoder,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from .dictionary_learning import KernelDictionaryLearning
from .kernel_learning import KernelLearning
from .landmark_map import LandmarkMap
from .persistence import load, save
from .views import Views

__all__ = [
    "DiscriminativeKSVD",
    "KernelBagOfWords",
    "KernelCoder",
    "KernelDictionaryLearning",
    "KernelDictionaryPairLearning",
    "KernelLCC",
    "KernelLLC",
    "KernelLearning",
    "KernelMatchingPursuit",
    "KernelOutlierDetector",
    "KernelSparseCoder",
    "LabelConsistentKSVD",
    "LandmarkMap",
    "ResidualClassifier",
    "SupervisedKernelCoding",
    "Views",
    "__version__",
    "constraints",
    "distributed",
    "kernels",
    "load",
    "priors",
    "save",
]
