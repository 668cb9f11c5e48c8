"""Dictionaries learned for a classifier of plain codes: labels shape the atoms alone."""

from .fitting import TASK_DRIVEN, UNSUPERVISED, PlainLearner, check_training, train

__all__ = ["TASK_DRIVEN", "UNSUPERVISED", "PlainLearner", "check_training", "train"]
