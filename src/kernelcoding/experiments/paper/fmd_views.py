"""Flickr Material Database: Fisher vectors of gradients, local colours and pixels, mirrored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..definition import Experiment, Variants
from ..features.patch_vectors import COLOURS, GRADIENTS, PIXELS, PatchVectors, patch_vectors
from .fisher_pyramids import COARSE, VLFEAT
from .fisher_pyramids import FisherPyramid as Pyramid
from .fmd_scale import FULL as WHOLE_SET
from .fmd_scale import QUICK as FEW_SPLITS
from .fmd_scale import FmdScale
from .material_views import Combination, Description, named, views_experiment


def of_gradients(pyramid: Pyramid) -> PatchVectors:
    """The descriptors and the mixture of a pyramid, without its cells."""
    return PatchVectors(
        GRADIENTS,
        pyramid.n_components,
        pyramid.n_pca,
        pyramid.step,
        pyramid.width,
        pyramid.resolutions,
        pyramid.n_samples,
        pyramid.n_images,
        mirrored=True,
    )


LOCAL_COLOURS = PatchVectors(
    COLOURS,
    n_components=128,
    n_pca=64,
    step=4,
    width=16,
    resolutions=tuple(2.0 ** (-half / 2) for half in range(5)),
    n_samples=100_000,
    n_images=400,
    mirrored=True,
)
SMALL_PATCHES = PatchVectors(
    PIXELS,
    n_components=128,
    n_pca=48,
    step=3,
    width=9,
    resolutions=(1.0, 0.5, 0.25),
    n_samples=120_000,
    n_images=400,
    mirrored=True,
)
COMBINATIONS = {
    "gradients and local colours": Combination((0, 1), ((0.5, 0.5), (0.6, 0.4), "alignment")),
    "three views": Combination(
        (0, 1, 2), ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.25), (0.4, 0.3, 0.3), "alignment")
    ),
}
PROTOCOL = (
    "Splits, folds and search spaces of fmd. Three views, Fisher vectors of patches inside the "
    "masks, of the photograph and of its mirror image: RootSIFT by VLFeat's public pipeline (256 "
    "Gaussians, 80 principal components, nine resolutions); local colour statistics (means and "
    "standard deviations of gray and opponent colours in 4 x 4 cells of patches of 16 pixels "
    "every 4 pixels at five resolutions, 128 Gaussians, 64 principal components); and gray pixels "
    "of patches of 9 pixels every 3 pixels at three resolutions, less their mean, over their "
    "contrast, and its logarithm (128 Gaussians, 48 principal components). Each view has a "
    "Gaussian kernel of 0.3 over its median; their shares are searched. Mixtures are learned "
    "once, without labels. That these three go together, mirrored, was found by cross-validation "
    "in three training halves. Learned atoms, on all splits: supervised methods and their controls."
)


@dataclass(frozen=True, slots=True)
class ViewScale:
    """How much is run, and how photographs are described."""

    splits: FmdScale
    views: tuple[PatchVectors, ...]


def coarse(how: PatchVectors) -> PatchVectors:
    """A small mixture of patches that are far apart."""
    return replace(
        how,
        n_components=16,
        n_pca=32,
        step=8,
        resolutions=(1.0, 0.5),
        n_samples=20_000,
        n_images=50,
    )


FULL = ViewScale(
    replace(WHOLE_SET, curve_splits=WHOLE_SET.n_splits),
    (of_gradients(VLFEAT), LOCAL_COLOURS, SMALL_PATCHES),
)
QUICK = ViewScale(
    FEW_SPLITS,
    (
        of_gradients(COARSE),
        coarse(LOCAL_COLOURS),
        coarse(SMALL_PATCHES),
    ),
)


def description(how: PatchVectors) -> Description:
    """Fisher vectors of one kind of patches."""
    return Description(
        how.length, lambda request, images, paths: patch_vectors(request, how, images, paths)
    )


def fmd_views_experiment(scale: ViewScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : ViewScale
    quick : bool
        Whether the records call it the quick version.
    """
    title = "Flickr Material Database, gradients, local colours and pixels"
    base = named(scale.splits, quick, "fmd-views", title, PROTOCOL)
    descriptions = tuple(description(how) for how in scale.views)
    alone = {"gradients": 0, "local colours": 1, "pixels": 2}
    return views_experiment(base, scale.splits, descriptions, alone, COMBINATIONS)


VARIANTS = Variants(fmd_views_experiment(FULL), fmd_views_experiment(QUICK, quick=True))
