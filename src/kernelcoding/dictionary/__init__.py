"""Atoms: what a dictionary answers, and how its first atoms and landmarks are chosen."""

from .base import Dictionary
from .combinations import CombinationDictionary, CombinationProblem
from .points import PointDictionary

__all__ = ["CombinationDictionary", "CombinationProblem", "Dictionary", "PointDictionary"]
