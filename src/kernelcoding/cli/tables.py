"""Files of samples for fit: tables and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from .. import persistence
from ..model_search import Choices
from ..own_data.fitting import FittedModel, fit_model
from ..own_data.left_out import evaluate_left_out
from ..own_data.preparing import Prepared, prepared
from ..own_data.targets import refuse_regression
from ..tables import LabelledSamples, Request, Wishes, read_samples
from .console import console, note
from .evaluate import tell_evaluation, write_page
from .options import Effort
from .progress import heard, watched
from .shown import columns_table, tell_search

Names = list[str] | None


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What options say of columns, as they were given."""

    drop: Names
    only: Names
    keep: Names
    types: Mapping[str, str]

    @classmethod
    def of(cls, drop: Names, only: Names, keep: Names, types: Names) -> Self:
        """Types are given as ``column=kind``, several with commas between."""
        told = {}
        for text in types or ():
            for part in text.split(","):
                name, equals, kind = part.rpartition("=")
                if not equals:
                    raise ValueError(
                        f"--types must be column=kind, such as zip=category, got {part!r}."
                    )
                told[name] = kind
        return cls(drop, only, keep, told)

    def words(self, target: str | None) -> frozenset[str]:
        """Columns whose cells are words, also where they look like numbers."""
        named = (name for name, kind in self.types.items() if kind == "category")
        return frozenset(name for name in named if name != target)

    def wishes(self, samples: LabelledSamples, target: str | None) -> Wishes:
        """What is meant: a comma may be part of a name, or stand between two."""
        known = set(map(str, getattr(samples.X, "columns", ())))
        dropped, only, kept = (
            tuple(
                name
                for text in given or ()
                for name in ([text] if text in known else text.split(","))
            )
            for given in (self.drop, self.only, self.keep)
        )
        others = {name: kind for name, kind in self.types.items() if name != target}
        return Wishes(dropped, only, kept, others)


def fit_table(
    data: list[Path],
    request: Request,
    asked: ColumnOptions,
    scale: bool,
    choices: Choices,
    search: Effort,
    out: Path,
    report: Path | None,
    verbose: bool,
) -> None:
    """Fit a model to files of samples, and write it, perhaps with a page."""
    samples, target = read_samples(data, request), request.target
    source, groups = ", ".join(map(str, data)), next(iter(request.aside), None)
    note(*samples.notes)
    wishes = asked.wishes(samples, target)
    if samples.y is not None and asked.types.get(target or "") != "category":
        refuse_regression(samples.y, source, target)
    ready = prepared(samples, source, wishes, choices.kernel, scale, target)
    note(*ready.notes)
    effort = _effort(search, samples, choices)
    with heard(verbose), watched("Comparing models") as watch:
        found = fit_model(samples, ready, choices, effort, groups, watch)
    found.about["data"] = [path.name for path in data]
    found.about["target"] = target
    persistence.save(found.model, out, about=found.about)
    _tell(found, ready, len(samples.X), out)
    if report is not None:
        held_out = evaluate_left_out(samples, ready, found, groups, choices.seed)
        tell_evaluation(held_out)
        write_page(held_out, report)


def _effort(search: Effort, samples: LabelledSamples, choices: Choices) -> str:
    """No search where there is nothing to compare, with a word where one might expect it."""
    if samples.y is None or choices.classifier == "none":
        if search is not Effort.none and choices.classifier is None:
            note(
                "There are no labels, so the model codes samples and predicts nothing. "
                "--target names the column that holds labels."
            )
        return "none"
    if search is not Effort.none and samples.y.ndim != 1:
        note("Several labels per sample: models are not compared, --search none is meant.")
        return "none"
    if search is not Effort.none and choices.kernel == "precomputed":
        note("Models are not compared for --kernel precomputed, whose rows cannot be left out.")
        return "none"
    if search is not Effort.none and np.unique(samples.y).size < 2:
        note("There is one class, so that nothing is compared.")
        return "none"
    return str(search)


def _tell(found: FittedModel, ready: Prepared, n_samples: int, out: Path) -> None:
    if ready.columns:
        console.print(columns_table(ready.columns))
    tell_search(found.outcome, n_samples)
    console.print(f"{found.kind} of {n_samples} samples: {out}", markup=False)
