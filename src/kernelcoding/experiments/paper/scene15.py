"""The fifteen scenes, which are fewer and smaller, by the protocol of MIT Indoor."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...datasets import fetch_scene15
from ..definition import Dataset, Experiment, Request, Variants
from ..features.visual_words import Vocabulary
from .mit_indoor import mit_indoor_experiment
from .photographs import (
    FULL,
    ONE_LABEL,
    QUICK,
    WORDS_PROTOCOL,
    PhotographScale,
    curve_tables,
    scenes_dataset,
)

PROTOCOL = f"{WORDS_PROTOCOL}{ONE_LABEL}" + (
    "Lists of the data set, settings and measure as for MIT Indoor; the paper has no numbers."
)


def scene15_dataset(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of the fifteen scenes."""
    return scenes_dataset(fetch_scene15(request.data_home), vocabulary, request)


def scene15_experiment(scale: PhotographScale, quick: bool = False) -> Experiment:
    """The fifteen scenes at a scale.

    Parameters
    ----------
    scale : PhotographScale
    quick : bool
        Whether the records call it the quick version.
    """
    return replace(
        mit_indoor_experiment(scale, quick),
        name="scene15",
        title="Fifteen scenes, by the protocol of MIT Indoor",
        protocol=PROTOCOL + scale.note,
        load=partial(scene15_dataset, scale.vocabulary),
        tables=curve_tables(scale, {}),
    )


VARIANTS = Variants(scene15_experiment(FULL), scene15_experiment(QUICK, quick=True))
