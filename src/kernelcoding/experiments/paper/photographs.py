"""What the sets of photographs share: scales, words, mean average precision against atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sklearn.utils import Bunch

from ...kernels import Gaussian
from ..definition import Dataset, Method, Numbers, Request, SampleView, Space, Table
from ..features.visual_words import Vocabulary, counts_of_words, frequencies, whitened
from ..rows.anchors import collaborative_rows, learned_anchor_rows
from ..rows.one_kernel import curve_methods, residual_row, sparse_coder, svm_row


@dataclass(frozen=True, slots=True)
class PhotographScale:
    """How much of the experiment is run, and where settings are searched."""

    n_folds: int  # MIT Indoor; VOC2007 has a validation set
    rounds: int
    sizes: tuple[int, ...]
    vocabulary: Vocabulary
    n_components: int
    spaces: Mapping[str, Space]
    note: str = ""


FULL = PhotographScale(
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
        "SVC": {"width": (0.3, 1.0), "C": (1.0, 10.0)},
    },
)
QUICK = PhotographScale(
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
        "SVC": {"width": (1.0,), "C": (10.0,)},
    },
    note=(
        " Quick version: 1000 words whitened to at most 500 components, photographs of at most 256 "
        "pixels, patches every 8 pixels, two numbers of atoms, three rounds of learning, fewer "
        "settings."
    ),
)
WORDS_PROTOCOL = (
    "8000 words of dense RootSIFT, learned from training photographs; square roots of frequencies, "
    "projected on 4000 principal components of the training part (three quarters of the training "
    "photographs where there are fewer), whitened, unit norm; or as they are, not whitened, which "
    "the paper does not do. Dictionaries are learned; scores are distances to the nearest code "
    "with and without a class, or those of the classifier learned with the dictionary; controls "
    "have a loss that counts for nothing while it is learned. "
)
ONE_LABEL = (
    "Beside the paper's methods a linear SVM on codes of atoms learned without labels and "
    "dictionary pairs (DPL), at every number of atoms; and with every training sample a support "
    "vector machine, ridge codes (CRC), and kSC with minus its residuals for scores. "
)


def scenes_dataset(found: Bunch, vocabulary: Vocabulary, request: Request) -> Dataset:
    """Words of scenes with a training and a test list.

    Parameters
    ----------
    found : Bunch
        As the readers of data sets give it.
    vocabulary : Vocabulary
    request : Request
    """
    counts = counts_of_words(request, vocabulary, found.data, found.data, found.train)
    parts = {"train": found.train, "test": found.test}
    return Dataset(
        counts, found.target, tuple(found.target_names), pictures=found.data, parts=parts
    )


def word_views(scale: PhotographScale) -> Mapping[str, SampleView]:
    """The paper's whitened words, and words as they are."""
    return {"samples": partial(whitened, scale.n_components), "frequencies": frequencies}


def with_every_sample(scale: PhotographScale, view: str) -> tuple[Method, ...]:
    """What has no number of atoms: a machine, ridge codes, sparse codes by the residual rule."""
    return (
        svm_row("SVC", Gaussian(), scale.spaces["SVC"], view),
        *collaborative_rows((1.0,), view),
        residual_row("kSC, all samples", sparse_coder, Gaussian(), scale.spaces["kSC"], view),
    )


def curve_tables(
    scale: PhotographScale, paper: Numbers, one_label: bool = True
) -> tuple[Table, ...]:
    """The paper's figure, and the same without whitening.

    Parameters
    ----------
    scale : PhotographScale
    paper : mapping
    one_label : bool
        Whether a sample has one label, which is all that the rows beside the paper's can do.
    """
    names = {"samples": "mAP against atoms", "frequencies": "mAP against atoms, not whitened"}
    return tuple(
        Table(
            name,
            curve_methods(scale.spaces, scale.rounds, view)
            + (learned_anchor_rows(scale.spaces, scale.rounds, (1.0,), view) if one_label else ()),
            sizes=scale.sizes,
            paper=paper,
            anchors=with_every_sample(scale, view) if one_label else (),
        )
        for view, name in names.items()
    )
