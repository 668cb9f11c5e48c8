"""Flickr Material Database in colour: Fisher vectors of opponent colours, colour covariances.

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
from ..definition import Dataset, Experiment, Method, Request, Split, Table, Variants
from ..features.colour_covariances import colour_covariances
from ..features.fisher_vectors import Mixture, fisher_vectors
from .fmd import BEST, FULL, QUICK, FmdScale, every_photograph, fmd_experiment, several_kernels
from .rows import control_row, sparse_coder
from .several_kernel_rows import kernels_supervised_row, kernels_svm_row

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


def colour_mixture(scale: FmdScale) -> Mixture:
    """Fisher vectors of fmd in colour: descriptors are three times as long."""
    return replace(scale.mixture, color="opponent", n_pca=3 * scale.mixture.n_pca // 2)


def colours_dataset(scale: FmdScale, request: Request) -> Dataset:
    """Descriptions of what is inside the masks."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    paths = [*found.data, *found.masks]
    features = ColourFeatures(
        fisher_vectors(request, colour_mixture(scale), images, paths),
        colour_covariances(request, scale.covariance, images, paths),
    )
    return Dataset(features, found.target, tuple(found.target_names), pictures=found.data)


def fisher(dataset: Dataset, split: Split) -> NDArray:
    """Fisher vectors."""
    return dataset.samples.fisher


def side_by_side(dataset: Dataset, split: Split) -> NDArray:
    """Fisher vectors, then logarithms of covariances, as columns of one array."""
    return np.hstack([dataset.samples.fisher, dataset.samples.covariances])


def two_views(scale: FmdScale) -> tuple[Kernel, ...]:
    """A kernel of the Fisher vectors, one of the covariances."""
    border = colour_mixture(scale).length
    parts = (slice(0, border), slice(border, None))
    return tuple(View(columns, Gaussian("median")) for columns in parts)


def supervised_rows(scale: FmdScale) -> tuple[Method, ...]:
    """Linear and max-margin supervised coding with two views, and their controls."""
    kernels, space = two_views(scale), scale.spaces["supervised kSC, views"]
    joint = tuple(
        kernels_supervised_row(
            f"{letter}-SkSC", sparse_coder, rule, kernels, space, scale.rounds, "both"
        )
        for letter, rule in (("l", "linear"), ("mm", "max-margin"))
    )
    return joint + tuple(control_row(method) for method in joint)


def colours_experiment(scale: FmdScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : FmdScale
    quick : bool
        Whether the records call it the quick version.
    """
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
                supervised_rows(scale),
                "curve",
                sizes=(size,),
                paper={("l-SkSC", size): BEST},
                anchors=(machine,),
            ),
        ),
        views={"samples": fisher, "both": side_by_side},
    )


VARIANTS = Variants(colours_experiment(FULL), colours_experiment(QUICK, quick=True))
