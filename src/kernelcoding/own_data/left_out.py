"""How a model that was just fitted would have done, had a quarter of the samples been left out."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from ..model_search import Task
from ..model_search.folds import drawn, split_rows, taken
from ..records import EvaluationRecord
from ..tables import LabelledSamples
from .evaluation import evaluated
from .fitting import FittedModel
from .preparing import Prepared

MOST_ROWS = 8000


def evaluate_left_out(
    samples: LabelledSamples,
    ready: Prepared,
    found: FittedModel,
    groups: str | None,
    seed: int,
) -> EvaluationRecord:
    """Fit the same model to three quarters of the samples and judge it on the others.

    Parameters
    ----------
    samples : LabelledSamples
        With one label each.
    ready : Prepared
    found : FittedModel
        Whose settings are taken.
    groups : str or None
        The column, among those set aside, of which equal entries belong together.
    seed : int
    """
    if samples.y is None or samples.y.ndim != 1:
        raise ValueError("--report needs one label per sample: --target.")
    together = None if groups is None else samples.aside[groups]
    task = drawn(Task(samples.X, samples.y, ready.transformer(), together, seed), MOST_ROWS)
    train, test = split_rows(task)
    model = clone(found.model).fit(taken(task.X, train), task.y[train])
    data = (
        f"a quarter of the rows, {len(test)}, that a model with the same settings, fitted to "
        f"{len(train)} others, has not seen"
    )
    about = {**found.about, "samples": len(train)}
    title = "How the model does on rows left out"
    return evaluated(model, taken(task.X, test), np.asarray(task.y[test]), about, data, title)
