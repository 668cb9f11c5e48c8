"""MIT Indoor: 67 kinds of rooms, mean average precision against the number of atoms."""

from __future__ import annotations

from functools import partial

from ...datasets import fetch_mit_indoor
from ..definition import Dataset, Experiment, Numbers, Request, Splits, Variants
from ..features.visual_words import Vocabulary
from ..running.splitting import official
from .photographs import (
    FULL,
    ONE_LABEL,
    QUICK,
    WORDS_PROTOCOL,
    PhotographScale,
    curve_tables,
    scenes_dataset,
    word_views,
)

PROTOCOL = f"{WORDS_PROTOCOL}{ONE_LABEL}" + (
    "Official lists of MIT Indoor, or those of another set of scenes in its layout. Settings by "
    "stratified cross-validation in the training list. Mean over classes of the average precision."
)
# The last is its best, of a number of atoms that it does not say.
PAPER_INDOOR: Numbers = {("LLC", 500): 46.6, ("kLLC", 500): 49.2, ("l-SkLLC", 500): 50.4}


def mit_indoor_dataset(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of MIT Indoor."""
    found = fetch_mit_indoor(request.data_home, request.download)
    return scenes_dataset(found, vocabulary, request)


def mit_indoor_experiment(scale: PhotographScale, quick: bool = False) -> Experiment:
    """MIT Indoor at a scale.

    Parameters
    ----------
    scale : PhotographScale
    quick : bool
        Whether the records call it the quick version.
    """
    return Experiment(
        name="mit-indoor",
        title="MIT Indoor, 8000 words",
        protocol=PROTOCOL + scale.note,
        metric="mAP",
        load=partial(mit_indoor_dataset, scale.vocabulary),
        splits={"splits": Splits(1, official(scale.n_folds))},
        tables=curve_tables(scale, PAPER_INDOOR),
        views=word_views(scale),
        quick=quick,
    )


VARIANTS = Variants(mit_indoor_experiment(FULL), mit_indoor_experiment(QUICK, quick=True))
