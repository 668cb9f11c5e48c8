"""Folders of pictures for fit, predict and evaluate."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from .. import persistence
from ..model_search import Choices
from ..own_data.fitting import FittedModel
from .console import console
from .evaluate import tell_evaluation, write_page
from .progress import heard, watched
from .shown import tell_search


class Features(StrEnum):
    """Descriptors of pictures."""

    auto = "auto"
    fisher = "fisher"
    covariance = "covariance"
    words = "words"


def fit_folder(
    folder: Path,
    masks: Path | None,
    features: Features,
    choices: Choices,
    effort: str,
    out: Path,
    report: Path | None,
    verbose: bool,
) -> None:
    """Fit a model to a folder whose sub-folders are classes, and write it, perhaps with a page."""
    from ..own_data.pictures import fit_pictures, labelled_pictures

    pictures = labelled_pictures(folder, masks)
    with heard(verbose), watched("Pictures") as watch:
        fitted = fit_pictures(pictures, str(features), choices, effort, watch)
    found = fitted.whole
    found.about["data"] = [folder.name]
    found.about["target"] = None
    persistence.save(found.model, out, about=found.about)
    _tell(found, len(pictures.images), out)
    if report is not None:
        held_out = fitted.left_out(choices.seed)
        tell_evaluation(held_out)
        write_page(held_out, report)


def _tell(found: FittedModel, n_pictures: int, out: Path) -> None:
    compared = found.about["features_compared"]
    if len(compared) > 1:
        told = ", ".join(f"{kind} {mean:.1f} %" for kind, mean in compared.items())
        console.print(f"Features: {told}; kept: {found.about['features']}", markup=False)
    else:
        console.print(f"Features: {found.about['features']}", markup=False)
    tell_search(found.outcome, n_pictures)
    console.print(f"{found.kind} of {n_pictures} pictures: {out}", markup=False)
