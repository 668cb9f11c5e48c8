"""Flickr Material Database: VLFeat's Fisher vectors, local colours, and colour covariances."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..definition import Experiment, Variants
from ..features.colour_statistics import ColourMixture, colour_fisher_vectors
from ..features.fisher_pyramids import FisherPyramid
from . import fisher_pyramids as pyramids
from .fmd_colours import covariance_description
from .fmd_scale import FULL as WHOLE_SET
from .fmd_scale import QUICK as FEW_SPLITS
from .fmd_scale import FmdScale
from .material_views import Combination, Description, named, views_experiment

COLOURS = ColourMixture(
    n_components=128,
    n_pca=64,
    step=4,
    width=16,
    resolutions=tuple(2.0 ** (-half / 2) for half in range(5)),
    n_samples=100_000,
    n_images=400,
)
COARSE = replace(
    COLOURS,
    n_components=16,
    n_pca=32,
    step=8,
    resolutions=(1.0, 0.5),
    n_samples=20_000,
    n_images=50,
)
COMBINATIONS = {
    "two Fisher vectors": Combination((0, 1), ((0.5, 0.5), (0.6, 0.4), "alignment")),
    "three views": Combination(
        (0, 1, 2), ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.25), (0.4, 0.4, 0.2), "alignment")
    ),
}
PROTOCOL = (
    "Splits, folds and search spaces of fmd. Three views: Fisher vectors by VLFeat's public "
    "pipeline (256 Gaussians, 80 principal components of RootSIFT at nine resolutions); Fisher "
    "vectors of local colour statistics (means and standard deviations of gray and opponent "
    "colours in 4 x 4 cells of patches of 16 pixels every 4 pixels at five resolutions, 128 "
    "Gaussians, 64 principal components); and covariances of colours. Two Fisher vectors: without "
    "the covariances. Each view has a Gaussian kernel of 0.3 over its median; their shares are "
    "searched. Mixtures are learned once, without labels. "
    "That these three go together was found by cross-validation in three training halves. Learned "
    "atoms, on all splits: supervised methods and their controls."
)


@dataclass(frozen=True, slots=True)
class ViewScale:
    """How much is run, and how photographs are described."""

    splits: FmdScale
    pyramid: FisherPyramid
    colours: ColourMixture


FULL = ViewScale(replace(WHOLE_SET, curve_splits=WHOLE_SET.n_splits), pyramids.VLFEAT, COLOURS)
QUICK = ViewScale(FEW_SPLITS, pyramids.COARSE, COARSE)


def fmd_views_experiment(scale: ViewScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : ViewScale
    quick : bool
        Whether the records call it the quick version.
    """
    descriptions = (
        Description(
            2 * scale.pyramid.n_components * scale.pyramid.n_pca,
            lambda request, images, paths: pyramids.whole_images(
                pyramids.material_vectors(scale.pyramid, request, images, paths)
            ),
        ),
        Description(
            scale.colours.length,
            lambda request, images, paths: colour_fisher_vectors(
                request, scale.colours, images, paths
            ),
        ),
        covariance_description(scale.splits),
    )
    title = "Flickr Material Database, gradients, local colours and covariances"
    base = named(scale.splits, quick, "fmd-views", title, PROTOCOL)
    alone = "local colours", 1
    return views_experiment(base, scale.splits, descriptions, alone, COMBINATIONS)


VARIANTS = Variants(fmd_views_experiment(FULL), fmd_views_experiment(QUICK, quick=True))
