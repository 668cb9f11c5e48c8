"""MIT Indoor and VOC2007: mean average precision against the number of atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..datasets import fetch_mit_indoor, fetch_scene15, fetch_voc2007
from . import methods as m
from .definition import Dataset, Experiment, Numbers, Request, Splits, Table, Variants
from .splitting import official, with_validation
from .words import Vocabulary, frequencies, whitened, word_counts


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of the experiment is run, and where settings are searched."""

    n_folds: int  # MIT Indoor; VOC2007 has a validation set
    rounds: int
    sizes: tuple[int, ...]
    vocabulary: Vocabulary
    n_components: int
    spaces: Mapping[str, m.Space]
    note: str = ""


FULL = Scale(
    n_folds=3,
    rounds=5,
    sizes=(100, 200, 300, 400, 500),
    vocabulary=Vocabulary(n_words=8000, step=4, n_samples=1_000_000, n_images=2000),
    n_components=4000,
    spaces={
        "SC": {"alpha": (3e-3, 1e-2, 3e-2)},
        "LLC": {"n_neighbors": (30, 100), "regularization": (1e-3, 1e-2)},
        "kBOW": {"width": (0.3, 1.0), "sigma": (3.0, 10.0, 30.0)},
        "kSC": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
        "kLLC": {"width": (0.3, 1.0), "n_neighbors": (30, 100), "regularization": (1e-3, 1e-2)},
        "supervised kSC": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
        "supervised kLLC": {"width": (0.3, 1.0), "n_neighbors": (100,), "regularization": (1e-3,)},
    },
)
QUICK = Scale(
    n_folds=2,
    rounds=3,
    sizes=(50, 200),
    vocabulary=Vocabulary(n_words=1000, step=8, n_samples=100_000, n_images=300, max_side=256),
    n_components=500,
    spaces={
        "SC": {"alpha": (1e-2,)},
        "LLC": {"n_neighbors": (30,), "regularization": (1e-2,)},
        "kBOW": {"width": (1.0,), "sigma": (10.0,)},
        "kSC": {"width": (0.3, 1.0), "alpha": (1e-2,)},
        "kLLC": {"width": (0.3, 1.0), "n_neighbors": (30,), "regularization": (1e-2,)},
        "supervised kSC": {"width": (1.0,), "alpha": (1e-2,)},
        "supervised kLLC": {"width": (1.0,), "n_neighbors": (30,), "regularization": (1e-3,)},
    },
    note=(
        " Quick version: 1000 words whitened to at most 500 components, photographs of at most 256 "
        "pixels, patches every 8 pixels, two numbers of atoms, three rounds of learning, fewer "
        "settings."
    ),
)
WORDS = (
    "8000 words of dense RootSIFT, learned from training photographs; square roots of frequencies, "
    "projected on 4000 principal components of the training part (three quarters of the training "
    "photographs where there are fewer), whitened, unit norm; or as they are, not whitened, which "
    "the paper does not do. Dictionaries are learned; scores are distances to the nearest code "
    "with and without a class, or those of the classifier learned with the dictionary. "
)
INDOOR = WORDS + (
    "Official lists of MIT Indoor, or those of another set of scenes in its layout. Settings by "
    "stratified cross-validation in the training list. Mean over classes of the average precision."
)
SCENES = WORDS + (
    "Lists of the data set, settings and measure as for MIT Indoor; the paper has no numbers."
)
VOC = WORDS + (
    "Official train, val and test lists, several labels a photograph. Settings, the kernel's width "
    "among them, are chosen by training on train and scoring on val; the dictionary is then "
    "learned on both. Mean over classes of the average precision of VOC2007 (eleven recalls); "
    "photographs where a class is difficult are left out when that class is scored."
)
PAPER_INDOOR: Numbers = {("LLC", 500): 46.6, ("kLLC", 500): 49.2}
PAPER_VOC: Numbers = {("kLLC", 400): 50.7, ("l-SkSC", 300): 52.6, ("bi-SkSC", 300): 51.8}


def load_indoor(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of MIT Indoor."""
    found = fetch_mit_indoor(request.data_home, request.download)
    return scenes_of(found, vocabulary, request)


def load_scene15(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of the fifteen scenes."""
    return scenes_of(fetch_scene15(request.data_home), vocabulary, request)


def scenes_of(found: Any, vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of scenes with a training and a test list."""
    counts = word_counts(request, vocabulary, found.data, found.data, found.train)
    parts = {"train": found.train, "test": found.test}
    return Dataset(
        counts, found.target, tuple(found.target_names), pictures=found.data, parts=parts
    )


def load_voc(vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of photographs with several labels."""
    found: Any = fetch_voc2007(request.data_home, request.download)
    among = np.concatenate([found.train, found.val])
    counts = word_counts(request, vocabulary, found.data, found.data, among)
    return Dataset(
        counts,
        found.target,
        tuple(found.target_names),
        ignored=found.difficult,
        pictures=found.data,
        parts={"train": found.train, "val": found.val, "test": found.test},
    )


def indoor(scale: Scale, quick: bool = False) -> Experiment:
    """MIT Indoor at a scale.

    Parameters
    ----------
    scale : Scale
    quick : bool
        What the records say.
    """
    return Experiment(
        name="mit-indoor",
        title="MIT Indoor, 8000 words",
        protocol=INDOOR + scale.note,
        metric="mAP",
        load=partial(load_indoor, scale.vocabulary),
        splits={"splits": Splits(1, official(scale.n_folds))},
        tables=_curves(scale, PAPER_INDOOR),
        views={"samples": partial(whitened, scale.n_components), "frequencies": frequencies},
        quick=quick,
    )


def scene15(scale: Scale, quick: bool = False) -> Experiment:
    """The fifteen scenes, which are smaller, by the protocol of MIT Indoor.

    Parameters
    ----------
    scale : Scale
    quick : bool
        What the records say.
    """
    return replace(
        indoor(scale, quick),
        name="scene15",
        title="Fifteen scenes, by the protocol of MIT Indoor",
        protocol=SCENES + scale.note,
        load=partial(load_scene15, scale.vocabulary),
        tables=_curves(scale, {}),
    )


def voc(scale: Scale, quick: bool = False) -> Experiment:
    """VOC2007 at a scale.

    Parameters
    ----------
    scale : Scale
    quick : bool
        What the records say.
    """
    return replace(
        indoor(scale, quick),
        name="voc2007",
        title="PASCAL VOC2007, 8000 words",
        protocol=VOC + scale.note,
        metric="mAP, eleven points",
        load=partial(load_voc, scale.vocabulary),
        splits={"splits": Splits(1, with_validation)},
        tables=_curves(scale, PAPER_VOC),
    )


def _curves(scale: Scale, paper: Numbers) -> tuple[Table, ...]:
    """The paper's figure, and the same without whitening."""
    names = {"samples": "mAP against atoms", "frequencies": "mAP against atoms, not whitened"}
    return tuple(
        Table(
            name,
            m.curve_methods(scale.spaces, scale.rounds, view),
            sizes=scale.sizes,
            paper=paper,
        )
        for view, name in names.items()
    )


INDOOR_VARIANTS = Variants(indoor(FULL), indoor(QUICK, quick=True))
SCENE15_VARIANTS = Variants(scene15(FULL), scene15(QUICK, quick=True))
VOC_VARIANTS = Variants(voc(FULL), voc(QUICK, quick=True))
