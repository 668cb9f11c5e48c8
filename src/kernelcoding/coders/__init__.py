"""Estimators: samples in, codes out."""

from .bag_of_words import KernelBagOfWords
from .base import BaseKernelCoder
from .general import KernelCoder
from .local import KernelLCC, KernelLLC
from .pursuit import KernelMatchingPursuit
from .sparse import KernelSparseCoder

__all__ = [
    "BaseKernelCoder",
    "KernelBagOfWords",
    "KernelCoder",
    "KernelLCC",
    "KernelLLC",
    "KernelMatchingPursuit",
    "KernelSparseCoder",
]
