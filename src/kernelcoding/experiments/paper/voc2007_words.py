"""Six classes of VOC2007, as counts of 240 words: the paper's methods where the images are not."""

from __future__ import annotations

from collections.abc import Mapping

from sklearn.utils import Bunch

from ...datasets import fetch_voc2007_words
from ...kernels import Gaussian, Linear
from ..definition import Dataset, Experiment, Request, Space, Splits, Table, Variants
from ..features.visual_words import frequencies
from ..rows.anchors import collaborative_rows, learned_anchor_rows, pair_rows
from ..rows.one_kernel import (
    bag_coder,
    curve_methods,
    local_coder,
    residual_row,
    sparse_coder,
    svm_row,
)
from ..running.splitting import halves
from .photographs import FULL, QUICK, PhotographScale

N_SPLITS = 5
SIZES = (100, 200, 400)
PAIR_ATOMS = 400  # of DPL
SPACES: Mapping[str, Space] = {
    "SC, all": {"alpha": (1e-3, 1e-2)},
    "LLC, all": {"n_neighbors": (100, 200), "regularization": (1e-3, 1e-2)},
    "kBOW, all": {"width": (1.0, 3.0), "sigma": (3.0, 10.0)},
    "kSC, all": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
    "kLLC, all": {"width": (0.3, 1.0), "n_neighbors": (100, 200), "regularization": (1e-3,)},
    "SVC": {"width": (0.3, 1.0), "C": (1.0, 10.0)},
}
PROTOCOL = (
    "Counts of 240 words in 1530 photographs of VOC2007 with one of six classes each, as a public "
    "file has them; not the task of the challenge. Square roots of frequencies; half of each class "
    "for training, random splits; settings by stratified cross-validation in the training half. "
    "All samples: every training photograph is an atom, scores are minus the residuals; beside "
    "them a support vector machine, ridge codes (CRC) and dictionary pairs (DPL). Against "
    "atoms: dictionaries are learned; scores are distances to the nearest code with and without a "
    "class, or those of the classifier learned with the dictionary; controls have a loss that "
    "counts for nothing while it is learned; beside them a linear SVM on codes of atoms learned "
    "without labels, and DPL. Mean over classes of the average precision. The paper "
    "has numbers for all twenty classes only."
)


def voc2007_words_dataset(request: Request) -> Dataset:
    """Counts of words."""
    found: Bunch = fetch_voc2007_words(request.data_home)
    return Dataset(found.data, found.target, tuple(found.target_names))


def voc2007_words_experiment(scale: PhotographScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : PhotographScale
        Rounds, folds and search spaces.
    quick : bool
        Whether the records call it the quick version.
    """
    parts = (
        ("SC", sparse_coder, Linear()),
        ("LLC", local_coder, Linear()),
        ("kBOW", bag_coder, Gaussian()),
        ("kSC", sparse_coder, Gaussian()),
        ("kLLC", local_coder, Gaussian()),
    )
    every = tuple(residual_row(name, coder, k, SPACES[f"{name}, all"]) for name, coder, k in parts)
    beside = (svm_row("SVC", Gaussian(), SPACES["SVC"]), *collaborative_rows((1.0,)))
    curve = curve_methods(scale.spaces, scale.rounds)
    return Experiment(
        name="voc2007-words",
        title="Six classes of VOC2007, 240 words",
        protocol=PROTOCOL + (" Quick version: one split, two numbers of atoms." if quick else ""),
        metric="mAP",
        load=voc2007_words_dataset,
        splits={"splits": Splits(1 if quick else N_SPLITS, halves(2))},
        tables=(
            Table("all samples", (*every, *beside, *pair_rows((1.0,), PAIR_ATOMS))),
            Table(
                "mAP against atoms",
                (
                    *curve,
                    *learned_anchor_rows(scale.spaces, scale.rounds, (1.0,)),
                ),
                sizes=SIZES[:2] if quick else SIZES,
                anchors=beside,
            ),
        ),
        views={"samples": frequencies},
        quick=quick,
    )


VARIANTS = Variants(voc2007_words_experiment(FULL), voc2007_words_experiment(QUICK, quick=True))
