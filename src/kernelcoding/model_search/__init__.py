"""A model chosen, not guessed: kinds of models and their settings compared by cross-validation."""

from .choices import CODERS, LEARNED, Choices
from .folds import Task
from .outcome import Outcome
from .searching import Watch, search

__all__ = ["CODERS", "LEARNED", "Choices", "Outcome", "Task", "Watch", "search"]
