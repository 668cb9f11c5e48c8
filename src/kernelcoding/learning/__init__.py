"""Learning what coders take as given."""

from .dictionary_learning import KernelDictionaryLearning

__all__ = ["KernelDictionaryLearning"]
