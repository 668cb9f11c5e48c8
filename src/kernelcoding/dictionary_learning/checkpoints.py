"""Checkpoints: where learning stands after every round, in a file that it can go on from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from ..sparse_vectors import SparseVectors
from .half_steps.learner import AtomLearner
from .loop import Outcome
from .updates import named_update

# Parameters that may change from one run to the next: how long, how fast and how told.
FREE = ("max_iter", "tol", "callback", "verbose", "n_jobs", "coder__n_jobs", "checkpoint")
SAME = 1e-9  # relative; the objective of the same atoms and samples


class Keeper:
    """Writes a checkpoint after every round, and goes on from one that is there.

    Parameters
    ----------
    path : path-like
        Of the file.
    learner : AtomLearner
        At its first atoms.
    parameters : dict
        Of the estimator.
    make : callable
        Of an outcome: the estimator as it would be if learning ended now.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        learner: AtomLearner,
        parameters: dict[str, Any],
        make: Callable[[Outcome], BaseEstimator],
    ):
        self.path = Path(path)
        self.learner = learner
        self.make = make
        self.data, self.parameters = _fingerprints(learner, parameters)

    def resumed(self) -> Outcome | None:
        """Where an earlier run ended, and the learner is put there; None where there was none."""
        if not self.path.exists():
            return None
        kept = getattr(_files().load(self.path), "_checkpoint", None)
        if not isinstance(kept, dict):
            raise ValueError(
                f"{self.path} is a model, not a checkpoint. Choose another path for checkpoint."
            )
        self._require(kept["parameters"] == self.parameters, "other parameters")
        self._require(kept["data"] == self.data, "other samples")
        outcome = Outcome(list(kept["history"]), list(kept["steps"]), int(kept["n_iter"]))
        outcome.objective = float(kept["objective"])
        self.learner.n_replaced = int(kept["n_replaced"])
        self._best(outcome, kept)
        self.learner.now = self.learner.now.with_atoms(np.asfortranarray(kept["vectors"]))
        return outcome

    def _best(self, outcome: Outcome, kept: dict[str, Any]) -> None:
        """The best round, where it is not the last one, is coded once more."""
        if kept["best"] is None:
            return
        self.learner.now = self.learner.now.with_atoms(np.asfortranarray(kept["best"]))
        self.learner.code()
        outcome.best = self.learner.snapshot()

    def check(self, outcome: Outcome, objective: float) -> None:
        """Refuse samples whose objective is not what it was: they have changed."""
        before = outcome.history[-1]
        self._require(abs(objective - before) <= SAME * abs(before), "other samples")

    def _require(self, same: bool, what: str) -> None:
        if not same:
            raise ValueError(
                f"The checkpoint {self.path} is of {what}: learning cannot go on from it. Remove "
                "the file to begin anew, or choose another path for checkpoint."
            )

    def write(self, outcome: Outcome) -> None:
        """All of the file or nothing: a broken write leaves the round before."""
        now, best = self.learner.now.vectors, outcome.best.now.vectors
        model = self.make(outcome)
        vars(model)["_checkpoint"] = {
            "data": self.data,
            "parameters": self.parameters,
            "history": np.array(outcome.history),
            "steps": [str(step) for step in outcome.steps],
            "n_iter": outcome.n_iter,
            "n_replaced": self.learner.n_replaced,
            "objective": outcome.objective,
            "vectors": np.ascontiguousarray(now),
            "best": None if best is now else np.ascontiguousarray(best),
        }
        _files().save(model, self.path)

    def remove(self, outcome: Outcome) -> None:
        """What was learned needs no checkpoint, unless it was broken off."""
        if outcome.status in ("converged", "max_iter"):
            self.path.unlink(missing_ok=True)


def _files() -> ModuleType:
    """The room of model files, which knows all others: found when a file is there to be written."""
    return import_module("kernelcoding.persistence")


def _fingerprints(learner: AtomLearner, parameters: dict[str, Any]) -> tuple[str, str]:
    """Short names for the samples, by those that learning begins with, and for the parameters."""
    frame = learner.frame
    told = sorted((name, repr(value)) for name, value in parameters.items() if name not in FREE)
    points = frame.landmarks.points
    numbers = points.rows if isinstance(points, SparseVectors) else [np.ascontiguousarray(points)]
    first = np.ascontiguousarray(learner.now.vectors)
    weight = np.zeros(0) if frame.sample_weight is None else frame.sample_weight
    shape = repr((frame.n_samples, points.shape, points.dtype.str, frame.landmarks.kernel))
    return _digest(shape.encode(), *numbers, first, weight), _digest(repr(told).encode())


def _digest(text: bytes, *arrays: NDArray) -> str:
    found = hashlib.sha256(text)
    for array in arrays:
        found.update(array.tobytes())
    return found.hexdigest()


class Settings(Protocol):
    """Parameters that decide whether learning can go on from a file."""

    checkpoint: str | os.PathLike | None
    n_landmarks: int | None
    landmarks: str | ArrayLike
    per_class: bool
    random_state: int | np.random.RandomState | None
    update: str


def check_checkpoint(learning: Settings, kernel_rounds: int) -> None:
    """Refuse a checkpoint that learning could not go on from: ValueError says why."""
    if learning.checkpoint is None:
        return
    wrong = None
    if learning.per_class or (learning.n_landmarks is None and isinstance(learning.landmarks, str)):
        wrong = "learning with n_landmarks and per_class=False"
    elif not isinstance(learning.random_state, (int, np.integer)):
        wrong = f"an integer random_state, got {learning.random_state!r}"
    elif kernel_rounds:
        wrong = "learn_kernel without rounds"
    elif named_update(learning.update).moves_points:
        wrong = "atoms that are combinations of landmarks"
    if wrong is not None:
        raise ValueError(f"checkpoint needs {wrong}: only then can fit go on from the file.")
    folder = Path(learning.checkpoint).parent
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {folder} for the checkpoint: make it, or choose another path."
        )
