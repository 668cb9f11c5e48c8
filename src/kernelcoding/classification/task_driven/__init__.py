"""Dictionaries learned for a classifier of plain codes: labels shape the atoms alone."""

from .augmentation import Augment
from .checks import POINTS, TASK_DRIVEN, check_training
from .fitting import UNSUPERVISED, train
from .multinomial import last_rule
from .plain import PlainLearner, of_points

__all__ = [
    "POINTS",
    "TASK_DRIVEN",
    "UNSUPERVISED",
    "Augment",
    "PlainLearner",
    "check_training",
    "last_rule",
    "of_points",
    "train",
]
