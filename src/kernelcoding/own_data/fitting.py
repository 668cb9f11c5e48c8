"""From samples to a fitted model that keeps what was done to them, and words about it."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .._version import __version__
from ..classification import ResidualClassifier, SupervisedKernelCoding
from ..dictionary_learning import KernelDictionaryLearning
from ..memory import memory_advice
from ..model_search import Choices, Outcome, Task, Watch, search
from ..tables import LabelledSamples
from .parts import coding_parts, steps_of
from .preparing import Prepared
from .rejection import Rejection, rejection_of
from .targets import class_counts

ADVICE = "Let fewer rows be atoms: --landmarks 2000, or --coder llc, which needs no such matrix."
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
UNFINISHED = (
    "The logistic regression stopped at its limit of rounds, before it converged: a few labels "
    "might still change."
)
MOST_CLASSES_TOLD = 200
N_CERTIFIED = 100  # samples whose codes are certified


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model, how it was found, and what its file says about it."""

    model: BaseEstimator
    outcome: Outcome | None
    rejection: Rejection | None
    about: dict[str, Any]

    @property
    def kind(self) -> str:
        """The class of the model within its pipeline."""
        _, last = steps_of(self.model)[-1]
        return type(last).__name__


def fit_model(
    samples: LabelledSamples,
    ready: Prepared,
    choices: Choices,
    effort: str,
    groups: str | None = None,
    watch: Watch | None = None,
) -> FittedModel:
    """Search where that is asked for, and fit the model to all samples.

    Parameters
    ----------
    samples : LabelledSamples
    ready : Prepared
        What is done to samples first.
    choices : Choices
        What is fixed of the model.
    effort : str
        "none", "quick" or "full".
    groups : str, default=None
        The column, among those set aside, of which equal entries belong together.
    watch : callable, default=None
        Told what is done, how many steps are done and how many there are about.
    """
    start = time.perf_counter()
    y, outcome, rejection = samples.y, None, None
    with memory_advice(ADVICE, instead=True):
        if y is None or y.ndim != 1:
            chosen = described_model(choices, y is not None)
        else:
            together = None if groups is None else samples.aside[groups]
            task = Task(samples.X, y, ready.transformer(), together, choices.seed)
            outcome = None if effort == "none" else search(task, choices, effort, watch)
            build = _as_described(choices) if outcome is None else outcome.build
            chosen = build(len(y))
            rejection = _rejection(task, build, choices)
        model = _fitted(ready.with_model(chosen), samples, watch)
    about = _about(samples, ready, model, outcome, rejection)
    about["seconds"] = round(time.perf_counter() - start, 3)
    return FittedModel(model, outcome, rejection, about)


def _as_described(choices: Choices) -> Callable[[int], BaseEstimator]:
    return lambda _: described_model(choices, True)


def _rejection(
    task: Task, build: Callable[[int], BaseEstimator], choices: Choices
) -> Rejection | None:
    """The threshold of rejection, where samples can be left out and there is more than a class."""
    if choices.classifier == "none" or choices.kernel == "precomputed":
        return None
    return rejection_of(task, build) if np.unique(task.y).size > 1 else None


def _fitted(model: BaseEstimator, samples: LabelledSamples, watch: Watch | None) -> BaseEstimator:
    """The model, fitted; whoever watches sees the rounds of learning atoms."""
    _, last = steps_of(model)[-1]
    tell = watch or (lambda *_: None)
    tell("the model itself", 0, 1)
    learns = watch is not None and "callback" in last.get_params(deep=False)
    if learns:
        last.set_params(callback=lambda at: tell("learning atoms", at.iteration, at.max_iter))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "lbfgs failed to converge")  # its advice is not for users
        model.fit(samples.X) if samples.y is None else model.fit(samples.X, samples.y)
    if isinstance(last, LogisticRegression) and np.max(last.n_iter_) >= last.max_iter:
        warnings.warn(UNFINISHED, ConvergenceWarning, stacklevel=2)
    if learns:
        last.set_params(callback=None)
    return model


def described_model(choices: Choices, has_labels: bool) -> BaseEstimator:
    """The model that options describe, without a search.

    Parameters
    ----------
    choices : Choices
    has_labels : bool
    """
    classifier = choices.classifier
    if classifier is None:
        labelled = "residual" if choices.atoms is None else "linear"
        classifier = labelled if has_labels else "none"
    if classifier != "none" and not has_labels:
        raise ValueError("A classifier needs labels: --target, or y in an NPZ file.")
    given = {"gamma": choices.gamma, "alpha": choices.alpha, "neighbors": choices.neighbors}
    settings = {name: value for name, value in given.items() if value is not None}
    atoms = choices.atoms if classifier != "residual" else choices.atoms or choices.landmarks
    coder = choices.coder_of(choices.coder or "sparse", settings)
    if classifier == "residual":
        return ResidualClassifier(coder.set_params(atoms=atoms, learn_kernel=choices.learn_kernel))
    if atoms is None:
        if classifier == "none":
            return coder.set_params(atoms=choices.landmarks, learn_kernel=choices.learn_kernel)
        raise ValueError(f"--classifier {classifier} learns its atoms: say how many with --atoms.")
    learning: dict[str, Any] = {
        "n_atoms": atoms,
        "n_landmarks": choices.landmarks,
        "learn_kernel": choices.learn_kernel,
        "random_state": choices.seed,
    }
    if choices.max_iter is not None:
        learning["max_iter"] = choices.max_iter
    if classifier == "none":
        return KernelDictionaryLearning(coder, **learning)
    return SupervisedKernelCoding(coder, classifier=choices.rule_of(classifier), **learning)


def _about(
    samples: LabelledSamples,
    ready: Prepared,
    model: BaseEstimator,
    outcome: Outcome | None,
    rejection: Rejection | None,
) -> dict[str, Any]:
    versions = {"kernelcoding": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except ImportError:  # pragma: no cover - pandas is optional
            continue
    found: dict[str, Any] = {
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "samples": len(samples.X),
        "shape": list(samples.X.shape),
        "columns": [column.as_json() for column in ready.columns],
        "versions": versions,
    }
    if samples.y is not None and samples.y.ndim == 1:
        counts = class_counts(samples.y)
        found["n_classes"] = len(counts)
        found["classes"] = dict(list(counts.items())[:MOST_CLASSES_TOLD])
    if outcome is not None:
        found["search"] = outcome.as_json()
    if rejection is not None:
        found["rejection"] = rejection.as_json()
    gap = _certificate(model, samples.X)
    if gap is not None:
        found["certificate"] = gap
    return found


def _certificate(model: BaseEstimator, X: Any) -> float | None:
    """How far the codes of some training samples are from their optimum at most."""
    parts = coding_parts(model)
    if parts is None or not hasattr(parts.coder, "certify"):
        return None
    queries = parts.prepared(X[:N_CERTIFIED])
    gap = parts.coder.certify(queries, parts.coder.transform(queries)).max()
    return float(f"{gap:.4g}") if np.isfinite(gap) else None
