"""Flickr Material Database in colour: three views of every photograph."""

from __future__ import annotations

from dataclasses import replace

from ..definition import Experiment, Variants
from ..features.colour_covariances import colour_covariances
from ..features.fisher_vectors import Mixture, fisher_vectors
from .fmd_scale import FULL, QUICK, FmdScale
from .material_views import Combination, Description, named, views_experiment

PROTOCOL = (
    "Splits, folds and search spaces of fmd. Colour Fisher vectors: of RootSIFT of gray values, "
    "red against green and yellow against blue, normalised together (64 Gaussians, 96 principal "
    "components of 384 numbers). Three views: the Fisher vectors of fmd, those in colour, and "
    "covariances of colours, each with a Gaussian kernel of 0.3 over its median; that these three "
    "go together, and that width, were found by cross-validation in three training halves. Learned "
    "atoms, on the first five splits: supervised methods and their controls."
)


def in_colour(mixture: Mixture) -> Mixture:
    """A mixture for descriptors that are three times as long."""
    return replace(mixture, color="opponent", n_pca=3 * mixture.n_pca // 2)


def fisher_description(mixture: Mixture) -> Description:
    """Fisher vectors of dense RootSIFT."""
    return Description(
        mixture.length,
        lambda request, images, paths: fisher_vectors(request, mixture, images, paths),
    )


def covariance_description(scale: FmdScale) -> Description:
    """Logarithms of colour covariances; the last of the views, so that nobody asks their length."""
    return Description(
        0,
        lambda request, images, paths: colour_covariances(request, scale.covariance, images, paths),
    )


def colours_experiment(scale: FmdScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : FmdScale
    quick : bool
        Whether the records call it the quick version.
    """
    descriptions = (
        fisher_description(scale.mixture),
        fisher_description(in_colour(scale.mixture)),
        covariance_description(scale),
    )
    base = named(scale, quick, "fmd-colours", "Flickr Material Database, in colour", PROTOCOL)
    alone = {"colour Fisher vectors": 1}
    together = {"three views": Combination((0, 1, 2))}
    return views_experiment(base, scale, descriptions, alone, together)


VARIANTS = Variants(colours_experiment(FULL), colours_experiment(QUICK, quick=True))
