"""Materials and scenes by VLFeat's Fisher vectors, and coding on top of the same vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils import Bunch

from ...datasets import fetch_fmd, fetch_scene15
from ...images.reading import ImageLike
from ...kernels import Gaussian
from ..definition import (
    Dataset,
    Experiment,
    Method,
    Request,
    Space,
    Splits,
    Table,
    Variants,
)
from ..features.fisher_pyramids import FisherPyramid, fisher_pyramids
from ..rows import peers
from ..rows.anchors import anchor_rows
from ..rows.one_kernel import (
    control_row,
    local_coder,
    residual_row,
    sparse_coder,
    supervised_row,
    svm_row,
)
from ..running.splitting import halves, official

WHOLE = ((1, 1),)
THIRDS = ((1, 1), (3, 1))  # the whole, and three rows
VLFEAT = FisherPyramid(
    n_components=256,
    n_pca=80,
    step=4,
    width=32,
    resolutions=tuple(2.0 ** (1 - half / 2) for half in range(9)),
    cells=WHOLE,
    n_samples=256_000,
    n_images=500,
)
COARSE = replace(
    VLFEAT, n_components=16, n_pca=32, step=8, resolutions=(1.0, 0.5), n_samples=20_000, n_images=50
)
SPACES: Mapping[str, Space] = {
    "kSC": {"width": (0.3, 1.0), "alpha": (3e-4, 1e-3, 3e-3)},
    "kLLC": {"width": (0.3, 1.0), "n_neighbors": (100, 200), "regularization": (1e-3,)},
    "SVC": {"width": (0.3, 1.0), "C": (3.0, 10.0, 30.0)},
    "l-SkSC": {"width": (1.0,), "alpha": (1e-3, 3e-3)},
}
ROUNDS = 5
PAIR_ATOMS = 400  # of DPL
PROTOCOL = (
    "RootSIFT of patches of 32 pixels every 4 pixels at nine resolutions, from twice the image's "
    "to an eighth, 80 principal components, 256 Gaussians: the public pipeline of VLFeat; pyramid: "
    "the whole image and three rows of it. Linear SVM: C = 10, as there. Other rows: settings by "
    "stratified cross-validation in the training part; every training image an atom and the "
    "residual rule, ridge codes (CRC), dictionary pairs (DPL), or atoms learned with a linear "
    "classifier and their control. The mixture "
    "is learned without labels. Not in the paper. "
)


@dataclass(frozen=True, slots=True)
class PyramidScale:
    """How vectors are computed, and how much is run."""

    pyramid: FisherPyramid
    n_splits: int  # of materials
    n_folds: int
    sizes: tuple[int, ...]  # numbers of learned atoms
    note: str = ""


FULL = PyramidScale(VLFEAT, n_splits=5, n_folds=3, sizes=(200, 400))
QUICK = PyramidScale(
    COARSE,
    n_splits=1,
    n_folds=2,
    sizes=(100,),
    note="Quick version: 16 Gaussians, patches every 8 pixels at two resolutions, 100 atoms. ",
)


def materials(scale: PyramidScale, request: Request) -> Dataset:
    """Vectors of what is inside the masks: first of the whole, then with the rows."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    vectors = material_vectors(scale.pyramid, request, images, [*found.data, *found.masks])
    return Dataset(vectors, found.target, tuple(found.target_names), pictures=found.data)


def material_vectors(
    pyramid: FisherPyramid, request: Request, images: Sequence[ImageLike], paths: Sequence[str]
) -> np.ndarray:
    """Vectors of all cells of photographs; the mixture is learned from any of them."""
    how = replace(pyramid, cells=THIRDS)
    return fisher_pyramids(request, how, images, paths, np.arange(len(images)))


def scenes(scale: PyramidScale, request: Request) -> Dataset:
    """Vectors of the fifteen scenes; the mixture is learned from the training list."""
    found: Bunch = fetch_scene15(request.data_home)
    how = replace(scale.pyramid, cells=THIRDS)
    vectors = fisher_pyramids(request, how, found.data, found.data, found.train)
    parts = {"train": found.train, "test": found.test}
    names = tuple(found.target_names)
    return Dataset(vectors, found.target, names, pictures=found.data, parts=parts)


def whole_images(vectors: np.ndarray) -> np.ndarray:
    """The vectors of whole images, of unit norm, from those of all cells."""
    n_cells = sum(rows * columns for rows, columns in THIRDS)
    whole = vectors[:, : vectors.shape[1] // n_cells]
    norms = np.linalg.norm(whole, axis=1, keepdims=True)
    return whole / np.where(norms > 0, norms, 1.0)


def first_cell(dataset: Dataset, split: object) -> np.ndarray:
    """The vectors of whole images."""
    return whole_images(dataset.samples)


def all_cells(dataset: Dataset, split: object) -> np.ndarray:
    """The vectors of all cells."""
    return dataset.samples


def rows_of(view: str) -> tuple[Method, ...]:
    """Every training image an atom, and machines beside."""
    gaussian = Gaussian()
    return (
        Method("linear SVM", peers.linear_svm, {"C": (10.0,)}, view=view),
        svm_row("SVC", gaussian, SPACES["SVC"], view),
        residual_row("kSC", sparse_coder, gaussian, SPACES["kSC"], view),
        residual_row("kLLC", local_coder, gaussian, SPACES["kLLC"], view),
        *anchor_rows((1.0,), PAIR_ATOMS, view),
    )


def pyramid_tables(scale: PyramidScale) -> tuple[Table, ...]:
    """Fisher vectors, and the same with a pyramid; all images as atoms, then learned ones."""
    names = {"whole": "Fisher vectors", "pyramid": "Fisher vectors and a pyramid"}
    learned = {
        view: supervised_row(
            "l-SkSC", sparse_coder, "linear", Gaussian(), SPACES["l-SkSC"], ROUNDS, view
        )
        for view in names
    }
    return (
        *(Table(name, rows_of(view)) for view, name in names.items()),
        *(
            Table(
                f"{name}, learned atoms",
                (learned[view], control_row(learned[view])),
                sizes=scale.sizes,
            )
            for view, name in names.items()
        ),
    )


def fmd_pyramids_experiment(scale: PyramidScale, quick: bool = False) -> Experiment:
    """Materials at a scale.

    Parameters
    ----------
    scale : PyramidScale
    quick : bool
        Whether the records call it the quick version.
    """
    return Experiment(
        name="fmd-pyramids",
        title="Flickr Material Database, VLFeat's Fisher vectors",
        protocol=PROTOCOL + "Half of each class for training, random splits. " + scale.note,
        metric="accuracy",
        load=partial(materials, scale),
        splits={"splits": Splits(scale.n_splits, halves(scale.n_folds, first_seed=1000))},
        tables=pyramid_tables(scale),
        views={"whole": first_cell, "pyramid": all_cells},
        quick=quick,
    )


def scene15_pyramids_experiment(scale: PyramidScale, quick: bool = False) -> Experiment:
    """The fifteen scenes at a scale, and their mirror images: scenes have no left and right.

    Parameters
    ----------
    scale, quick
        As in :func:`fmd_pyramids_experiment`.
    """
    both = replace(scale, pyramid=replace(scale.pyramid, mirrored=True))
    return replace(
        fmd_pyramids_experiment(scale, quick),
        name="scene15-pyramids",
        title="Fifteen scenes, VLFeat's Fisher vectors, mirrored",
        protocol=f"{PROTOCOL}The lists of the data set; patches of images and of their mirror "
        f"images. {scale.note}",
        load=partial(scenes, both),
        splits={"splits": Splits(1, official(scale.n_folds))},
    )


MATERIALS = Variants(fmd_pyramids_experiment(FULL), fmd_pyramids_experiment(QUICK, quick=True))
SCENES = Variants(scene15_pyramids_experiment(FULL), scene15_pyramids_experiment(QUICK, quick=True))
