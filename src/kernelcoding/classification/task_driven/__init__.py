"""Dictionaries learned for a classifier of plain codes: labels shape the atoms alone."""

from .augmentation import Augment
from .checks import POINTS, TASK_DRIVEN, check_training
from .fitting import UNSUPERVISED, PlainLearner, of_points, train

__all__ = [
    "POINTS",
    "TASK_DRIVEN",
    "UNSUPERVISED",
    "Augment",
    "PlainLearner",
    "check_training",
    "of_points",
    "train",
]
