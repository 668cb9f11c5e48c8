"""Classification by residuals, outliers, and classifiers learned with a dictionary."""

from .dictionary_pair import KernelDictionaryPairLearning
from .label_consistent import DiscriminativeKSVD, LabelConsistentKSVD
from .outliers import KernelOutlierDetector
from .residual import ResidualClassifier
from .rules import BilinearRule, LinearRule, LogisticRule, MaxMarginRule
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
