"""Dictionaries learned for a classifier of plain codes: labels shape the atoms alone."""

from .augmentation import Augment
from .checks import POINTS, TASK_DRIVEN, check_training
from .fitting import UNSUPERVISED, train
from .plain import PlainLearner, of_points

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
