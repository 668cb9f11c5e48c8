"""Materials, scenes, faces by pooled codes of patches: LLC and a pyramid, ScSPM, coding on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ...datasets import fetch_fmd, fetch_scene15
from ...images.reading import ImageLike
from ...kernels import Gaussian
from ..definition import (
    Dataset,
    Experiment,
    Method,
    Request,
    SampleView,
    Space,
    Split,
    Splits,
    Table,
    Variants,
)
from ..features.pooled_codes import LOCAL, SPARSE, PooledCodes, pooled_codes
from ..rows import peers
from ..rows.anchors import anchor_rows
from ..rows.one_kernel import local_coder, residual_row, sparse_coder, svm_row
from ..running.splitting import halves, official
from .yaleb import N_ATOMS, N_TRAIN, yaleb_dataset

SPACES: Mapping[str, Space] = {
    "linear SVM": {"C": (1.0, 10.0)},
    "SVC": {"width": (0.3, 1.0), "C": (1.0, 10.0)},
    "kSC": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
    "kLLC": {"width": (0.3, 1.0), "n_neighbors": (100, 200), "regularization": (1e-3,)},
}
# Faces are told apart by finer differences: wider kernels, smaller penalties.
FACE_SPACES: Mapping[str, Space] = {
    "linear SVM": {"C": (1.0, 10.0, 100.0)},
    "SVC": {"width": (0.1, 0.3, 1.0), "C": (1.0, 10.0, 100.0)},
    "kSC": {"width": (0.1, 0.3), "alpha": (1e-4, 3e-4, 1e-3)},
    "kLLC": {"width": (0.1, 0.3), "n_neighbors": (200, 400), "regularization": (1e-4, 1e-3)},
}
PAIR_ATOMS = 400  # of DPL
TITLES = {LOCAL: "LLC", SPARSE: "sparse codes"}
PROTOCOL = (
    "RootSIFT on a grid; LLC over words of k-means with 5 neighbours, largest codes, or sparse "
    "codes over learned atoms, largest absolute codes; of the whole image, or of the cells of a "
    "pyramid of 1, 4 and 16. A linear SVM on the latter is LLC with a pyramid (Wang et al., 2010) "
    "and ScSPM (Yang et al., 2009). Settings by stratified cross-validation in the training part; "
    "kSC and kLLC have every training image as an atom and the residual rule; beside them ridge "
    "codes (CRC) and dictionary pairs (DPL). Words and atoms are learned once, without labels. "
)


@dataclass(frozen=True, slots=True)
class PooledScale:
    """How codes are computed, and how much is run."""

    materials: PooledCodes  # of LLC; sparse codes have the same patches and atoms
    scenes: PooledCodes
    faces: PooledCodes
    n_splits: int  # of materials and faces
    n_folds: int
    kinds: tuple[str, ...] = (LOCAL, SPARSE)
    note: str = ""


# Materials: the patches of their words, and as many atoms. Scenes: those of the two papers. Faces
# are 42 pixels wide: their patches are small, and near to each other.
FULL = PooledScale(
    PooledCodes(LOCAL, 800, 8, (8.0, 12.0, 16.0), (1, 2, 4), n_samples=40_000, n_images=200),
    PooledCodes(LOCAL, 1024, 8, (16.0, 24.0, 32.0), (1, 2, 4), n_samples=40_000, n_images=300),
    PooledCodes(LOCAL, 512, 4, (8.0, 12.0, 16.0), (1, 2, 4), n_samples=40_000, n_images=300),
    n_splits=5,
    n_folds=3,
)
COARSE = PooledCodes(LOCAL, 100, 16, (16.0,), (1, 2, 4), n_samples=5000, n_images=50)
QUICK = PooledScale(
    COARSE,
    COARSE,
    replace(COARSE, step=6, scales=(12.0,)),
    n_splits=1,
    n_folds=2,
    kinds=(LOCAL,),
    note="Quick version: LLC only, 100 atoms, patches every 16 pixels (6 of faces). ",
)


@dataclass(frozen=True, slots=True)
class PooledFeatures:
    """Pooled codes of every image, the whole image first."""

    codes: Mapping[str, NDArray]  # (n, cells x atoms) by kind
    n_atoms: int

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))


def codes_of_kinds(
    request: Request,
    kinds: tuple[str, ...],
    how: PooledCodes,
    images: Sequence[ImageLike],
    paths: Sequence[str] | NDArray,
    among: NDArray,
) -> PooledFeatures:
    """LLC or sparse codes, or both, of the same patches."""
    codes = {
        kind: pooled_codes(request, replace(how, codes=kind), images, paths, among)
        for kind in kinds
    }
    return PooledFeatures(codes, how.n_atoms)


def materials(scale: PooledScale, request: Request) -> Dataset:
    """Codes of what is inside the masks."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    paths, among = [*found.data, *found.masks], np.arange(len(images))
    codes = codes_of_kinds(request, scale.kinds, scale.materials, images, paths, among)
    return Dataset(codes, found.target, tuple(found.target_names), pictures=found.data)


def scenes(scale: PooledScale, request: Request) -> Dataset:
    """Codes of the fifteen scenes; words and atoms are learned from the training list."""
    found: Bunch = fetch_scene15(request.data_home)
    codes = codes_of_kinds(request, scale.kinds, scale.scenes, found.data, found.data, found.train)
    parts = {"train": found.train, "test": found.test}
    names = tuple(found.target_names)
    return Dataset(codes, found.target, names, pictures=found.data, parts=parts)


def faces(scale: PooledScale, request: Request) -> Dataset:
    """Codes of the faces of the experiment yaleb."""
    whole = yaleb_dataset(request)
    images: NDArray = whole.samples
    among = np.arange(len(images))
    codes = codes_of_kinds(request, scale.kinds, scale.faces, list(images), images, among)
    return replace(whole, samples=codes)


def pooled(kind: str, whole: bool, dataset: Dataset, split: Split) -> NDArray:
    """Codes of all cells, or of the first, of unit norm."""
    codes = dataset.samples.codes[kind].astype(np.float64)
    if whole:
        codes = codes[:, : dataset.samples.n_atoms]
    norms = np.linalg.norm(codes, axis=1, keepdims=True)
    return codes / np.where(norms > 0, norms, 1.0)


def views_of(kinds: tuple[str, ...]) -> Mapping[str, SampleView]:
    """Each kind of codes, of whole images and of pyramids."""
    return {
        f"{TITLES[kind]}, {'whole image' if whole else 'pyramid'}": partial(pooled, kind, whole)
        for kind in kinds
        for whole in (True, False)
    }


def rows_of(
    view: str,
    spaces: Mapping[str, Space] = SPACES,
    widths: tuple[float, ...] = (1.0,),
    pair_atoms: int = PAIR_ATOMS,
) -> tuple[Method, ...]:
    """Every training image an atom, and beside them what is neither sparse nor local.

    Parameters
    ----------
    view : str
    spaces : mapping
        Search spaces of all but CRC and DPL.
    widths : tuple of float
        Of the kernels of these.
    pair_atoms : int
        Of DPL.
    """
    gaussian = Gaussian()
    return (
        Method("linear SVM", peers.linear_svm, spaces["linear SVM"], view=view),
        svm_row("SVC", gaussian, spaces["SVC"], view),
        residual_row("kSC", sparse_coder, gaussian, spaces["kSC"], view),
        residual_row("kLLC", local_coder, gaussian, spaces["kLLC"], view),
        *anchor_rows(widths, pair_atoms, view),
    )


def fmd_pooled_experiment(scale: PooledScale, quick: bool = False) -> Experiment:
    """Materials at a scale.

    Parameters
    ----------
    scale : PooledScale
    quick : bool
        Whether the records call it the quick version.
    """
    views = views_of(scale.kinds)
    return Experiment(
        name="fmd-pooled",
        title="Flickr Material Database, pooled codes of patches",
        protocol=PROTOCOL + "Half of each class for training, random splits. " + scale.note,
        metric="accuracy",
        load=partial(materials, scale),
        splits={"splits": Splits(scale.n_splits, halves(scale.n_folds, first_seed=1000))},
        tables=tuple(Table(view, rows_of(view)) for view in views),
        views=views,
        quick=quick,
    )


def scene15_pooled_experiment(scale: PooledScale, quick: bool = False) -> Experiment:
    """The fifteen scenes at a scale.

    Parameters
    ----------
    scale, quick
        As in :func:`fmd_pooled_experiment`.
    """
    return replace(
        fmd_pooled_experiment(scale, quick),
        name="scene15-pooled",
        title="Fifteen scenes, pooled codes of patches",
        protocol=PROTOCOL + "The lists of the data set. " + scale.note,
        load=partial(scenes, scale),
        splits={"splits": Splits(1, official(scale.n_folds))},
    )


def yaleb_pooled_experiment(scale: PooledScale, quick: bool = False) -> Experiment:
    """Faces at a scale.

    Parameters
    ----------
    scale, quick
        As in :func:`fmd_pooled_experiment`.
    """
    base = fmd_pooled_experiment(scale, quick)
    return replace(
        base,
        name="yaleb-pooled",
        title="Extended YaleB, pooled codes of patches",
        protocol=PROTOCOL + "Pixels, divided as in yaleb. " + scale.note,
        load=partial(faces, scale),
        splits={"splits": Splits(scale.n_splits, halves(scale.n_folds, N_TRAIN))},
        tables=tuple(
            Table(view, rows_of(view, FACE_SPACES, (0.1, 0.3), N_ATOMS)) for view in base.views
        ),
    )


MATERIALS = Variants(fmd_pooled_experiment(FULL), fmd_pooled_experiment(QUICK, quick=True))
SCENES = Variants(scene15_pooled_experiment(FULL), scene15_pooled_experiment(QUICK, quick=True))
FACES = Variants(yaleb_pooled_experiment(FULL), yaleb_pooled_experiment(QUICK, quick=True))
