"""Flickr Material Database in colour: Fisher vectors of opponent colours, colour covariances.

Not the paper's descriptors: the same splits and methods as in fmd, with what else there is to see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from numpy.typing import NDArray
from sklearn.utils import Bunch

from ...datasets import fetch_fmd
from ..definition import Dataset, Experiment, Request, Table, Variants
from ..features.colour_covariances import colour_covariances
from ..features.fisher_vectors import fisher_vectors
from .fmd import (
    BEST,
    FULL,
    QUICK,
    FmdScale,
    every_photograph,
    fisher,
    fmd_experiment,
    several_kernels,
    side_by_side,
    two_views,
    views_curve,
)
from .several_kernel_rows import kernels_svm_row

PROTOCOL = (
    "Splits, folds and search spaces of fmd. Fisher vectors of RootSIFT of gray values, red "
    "against green and yellow against blue (64 Gaussians, 96 principal components of 384 numbers), "
    "alone and with the covariances of colours of fmd as a second view, each with a Gaussian "
    "kernel at its median width. Learned atoms, on the first three splits: supervised methods and "
    "their controls."
)


@dataclass(frozen=True, slots=True)
class ColourFeatures:
    """Two descriptions of every photograph."""

    fisher: NDArray  # (n, length)
    covariances: NDArray  # (n, d)  logarithms

    def __len__(self) -> int:
        return len(self.fisher)


def in_colour(scale: FmdScale) -> FmdScale:
    """The scale with Fisher vectors in colour: descriptors are three times as long."""
    mixture = replace(scale.mixture, color="opponent", n_pca=3 * scale.mixture.n_pca // 2)
    return replace(scale, mixture=mixture)


def colours_dataset(scale: FmdScale, request: Request) -> Dataset:
    """Descriptions of what is inside the masks."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    paths = [*found.data, *found.masks]
    features = ColourFeatures(
        fisher_vectors(request, scale.mixture, images, paths),
        colour_covariances(request, scale.covariance, images, paths),
    )
    return Dataset(features, found.target, tuple(found.target_names), pictures=found.data)


def colours_experiment(scale: FmdScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : FmdScale
    quick : bool
        Whether the records call it the quick version.
    """
    scale = in_colour(scale)
    views = two_views(scale)
    machine = kernels_svm_row("SVC", views, scale.spaces["SVC, views"], "both")
    size = scale.view_sizes[-1]
    return replace(
        fmd_experiment(scale, quick),
        name="fmd-colours",
        title="Flickr Material Database, in colour",
        protocol=PROTOCOL + scale.note,
        load=partial(colours_dataset, scale),
        tables=(
            Table("colour Fisher vectors", every_photograph(scale, "samples")),
            Table(
                "colour Fisher vectors and colour covariances",
                (*several_kernels(scale, views, "both"), machine),
            ),
            Table(
                "colour Fisher vectors and colour covariances, learned atoms",
                views_curve(scale),
                "curve",
                sizes=(size,),
                paper={("bi-SkSC", size): BEST},
                anchors=(machine,),
            ),
        ),
        views={"samples": fisher, "both": side_by_side},
    )


VARIANTS = Variants(colours_experiment(FULL), colours_experiment(QUICK, quick=True))
