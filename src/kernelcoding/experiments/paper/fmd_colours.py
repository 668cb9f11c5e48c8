"""Flickr Material Database in colour: three views of every photograph.

Not the paper's descriptors: the same splits and methods as in fmd, with what else there is to see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ...datasets import fetch_fmd
from ...kernels import Gaussian, Kernel, View
from ..definition import Dataset, Experiment, Request, Split, Table, Variants
from ..features.colour_covariances import colour_covariances
from ..features.fisher_vectors import Mixture, fisher_vectors
from .fmd import (
    BEST,
    FULL,
    QUICK,
    FmdScale,
    every_photograph,
    fmd_experiment,
    several_kernels,
    views_curve,
)
from .several_kernel_rows import kernels_svm_row

WIDTH = "0.3*median"
VIEWS = "three views"
PROTOCOL = (
    "Splits, folds and search spaces of fmd. Colour Fisher vectors: of RootSIFT of gray values, "
    "red against green and yellow against blue, normalised together (64 Gaussians, 96 principal "
    "components of 384 numbers). Three views: the Fisher vectors of fmd, those in colour, and "
    "covariances of colours, each with a Gaussian kernel of 0.3 over its median; that these three "
    "go together, and that width, were found by cross-validation in three training halves. Learned "
    "atoms, on the first three splits: supervised methods and their controls."
)


@dataclass(frozen=True, slots=True)
class ColourFeatures:
    """Three descriptions of every photograph."""

    gray: NDArray  # (n, length)  Fisher vectors
    colours: NDArray  # (n, length)  Fisher vectors
    covariances: NDArray  # (n, d)  logarithms

    def __len__(self) -> int:
        return len(self.gray)


def in_colour(mixture: Mixture) -> Mixture:
    """A mixture for descriptors that are three times as long."""
    return replace(mixture, color="opponent", n_pca=3 * mixture.n_pca // 2)


def colours_dataset(scale: FmdScale, request: Request) -> Dataset:
    """Descriptions of what is inside the masks."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    paths = [*found.data, *found.masks]
    features = ColourFeatures(
        fisher_vectors(request, scale.mixture, images, paths),
        fisher_vectors(request, in_colour(scale.mixture), images, paths),
        colour_covariances(request, scale.covariance, images, paths),
    )
    return Dataset(features, found.target, tuple(found.target_names), pictures=found.data)


def colours(dataset: Dataset, split: Split) -> NDArray:
    """Fisher vectors in colour."""
    return dataset.samples.colours


def side_by_side(dataset: Dataset, split: Split) -> NDArray:
    """All three descriptions, as columns of one array."""
    found: ColourFeatures = dataset.samples
    return np.hstack([found.gray, found.colours, found.covariances])


def three_views(scale: FmdScale) -> tuple[Kernel, ...]:
    """A kernel of each description."""
    first = scale.mixture.length
    second = first + in_colour(scale.mixture).length
    parts = (slice(0, first), slice(first, second), slice(second, None))
    return tuple(View(columns, Gaussian(WIDTH)) for columns in parts)


def colours_experiment(scale: FmdScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : FmdScale
    quick : bool
        Whether the records call it the quick version.
    """
    views = three_views(scale)
    machine = kernels_svm_row("SVC", views, scale.spaces["SVC, views"], VIEWS)
    size = scale.view_sizes[-1]
    return replace(
        fmd_experiment(scale, quick),
        name="fmd-colours",
        title="Flickr Material Database, in colour",
        protocol=PROTOCOL + scale.note,
        load=partial(colours_dataset, scale),
        tables=(
            Table("colour Fisher vectors", every_photograph(scale, "samples")),
            Table(VIEWS, (*several_kernels(scale, views, VIEWS), machine)),
            Table(
                f"{VIEWS}, learned atoms",
                views_curve(scale, views, VIEWS),
                "curve",
                sizes=(size,),
                paper={("bi-SkSC", size): BEST},
                anchors=(machine,),
            ),
        ),
        views={"samples": colours, VIEWS: side_by_side},
    )


VARIANTS = Variants(colours_experiment(FULL), colours_experiment(QUICK, quick=True))
