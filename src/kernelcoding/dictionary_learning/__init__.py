"""Learning the dictionary of a coder."""

from .estimator import KernelDictionaryLearning

__all__ = ["KernelDictionaryLearning"]
