"""PASCAL VOC2007: several labels per photograph, mean average precision against atoms."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils import Bunch

from ...datasets import fetch_voc2007
from ..definition import Dataset, Experiment, Numbers, Request, Splits, Variants
from ..features.visual_words import Vocabulary, counts_of_words
from ..running.splitting import with_validation
from .photographs import (
    FULL,
    QUICK,
    WORDS_PROTOCOL,
    PhotographScale,
    curve_tables,
    word_views,
)

PROTOCOL = WORDS_PROTOCOL + (
    "Official train, val and test lists, several labels per photograph. Settings, the kernel's "
    "width among them, are chosen by training on train and scoring on val; the dictionary is then "
    "learned on both. Mean over classes of the average precision of VOC2007 (eleven recalls); "
    "photographs where a class is difficult are left out when that class is scored."
)
PAPER_VOC: Numbers = {
    ("kLLC", 400): 50.7,
    ("l-SkLLC", 400): 54.3,
    ("l-SkSC", 300): 52.6,
    ("bi-SkSC", 300): 51.8,
}


def voc2007_dataset(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of photographs with several labels."""
    found: Bunch = fetch_voc2007(request.data_home, request.download)
    among = np.concatenate([found.train, found.val])
    counts = counts_of_words(request, vocabulary, found.data, found.data, among)
    return Dataset(
        counts,
        found.target,
        tuple(found.target_names),
        ignored=found.difficult,
        pictures=found.data,
        parts={"train": found.train, "val": found.val, "test": found.test},
    )


def voc2007_experiment(scale: PhotographScale, quick: bool = False) -> Experiment:
    """VOC2007 at a scale.

    Parameters
    ----------
    scale : PhotographScale
    quick : bool
        Whether the records call it the quick version.
    """
    return Experiment(
        name="voc2007",
        title="PASCAL VOC2007, 8000 words",
        protocol=PROTOCOL + scale.note,
        metric="mAP, eleven points",
        load=partial(voc2007_dataset, scale.vocabulary),
        splits={"splits": Splits(1, with_validation)},
        tables=curve_tables(scale, PAPER_VOC, one_label=False),
        views=word_views(scale),
        quick=quick,
    )


VARIANTS = Variants(voc2007_experiment(FULL), voc2007_experiment(QUICK, quick=True))
