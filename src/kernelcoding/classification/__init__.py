"""Classification by residuals, outliers, and classifiers learned with a dictionary."""

from .dictionary_pair import KernelDictionaryPairLearning
from .residuals import KernelOutlierDetector, ResidualClassifier
from .rules import BilinearRule, LinearRule, LogisticRule, MaxMarginRule
from .stacked import DiscriminativeKSVD, LabelConsistentKSVD
from .supervised import SupervisedKernelCoding

__all__ = [
    "BilinearRule",
    "DiscriminativeKSVD",
    "KernelDictionaryPairLearning",
    "KernelOutlierDetector",
    "LabelConsistentKSVD",
    "LinearRule",
    "LogisticRule",
    "MaxMarginRule",
    "ResidualClassifier",
    "SupervisedKernelCoding",
]
