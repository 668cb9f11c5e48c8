"""The kernels, coders and tasks of the sweep; a new public part is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernelcoding import (
    KernelBagOfWords,
    KernelCoder,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
    constraints,
    kernels,
    priors,
)
from kernelcoding.coders.base import BaseKernelCoder
from kernelcoding.kernels.names import KernelLike

from . import tasks
from .own import OwnCoder, OwnPrior, own_distance, own_kernel


@dataclass(frozen=True)
class KernelCase:
    """A kernel and the space it looks at."""

    make: Callable[[], KernelLike]
    space: str = "vectors"


def _views() -> kernels.MultipleKernel:
    views = kernels.View([0, 1, 2], kernels.Gaussian("median"))
    return kernels.MultipleKernel([views, kernels.View([3, 4, 5], kernels.Linear())])


def _kinds() -> kernels.MultipleKernel:
    parts = {
        "vectors": kernels.Gaussian("median"),
        "matrices": kernels.LogEuclideanGaussian("median"),
        "subspaces": kernels.Projection(),
    }
    return kernels.MultipleKernel([kernels.View(name, part) for name, part in parts.items()])


KERNELS: dict[str, KernelCase] = {
    "linear": KernelCase(kernels.Linear),
    "polynomial": KernelCase(lambda: kernels.Polynomial(degree=2, gamma="scale")),
    "gaussian": KernelCase(lambda: "rbf"),
    "laplacian": KernelCase(lambda: kernels.Laplacian("median")),
    "sigmoid": KernelCase(lambda: kernels.Sigmoid("scale")),
    "chi-squared": KernelCase(lambda: kernels.ChiSquared("median"), "histograms"),
    "intersection": KernelCase(kernels.HistogramIntersection, "histograms"),
    "log-euclidean": KernelCase(lambda: kernels.LogEuclideanGaussian("median"), "matrices"),
    "log-euclidean-linear": KernelCase(kernels.LogEuclideanLinear, "matrices"),
    "affine-invariant": KernelCase(lambda: kernels.AffineInvariantGaussian("median"), "matrices"),
    "affine-invariant-linear": KernelCase(kernels.AffineInvariantLinear, "matrices"),
    "stein": KernelCase(lambda: kernels.Stein("median"), "matrices"),
    "projection": KernelCase(kernels.Projection, "subspaces"),
    "projection-gaussian": KernelCase(lambda: kernels.ProjectionGaussian("median"), "subspaces"),
    "precomputed": KernelCase(lambda: "precomputed", "similarities"),
    "several": KernelCase(
        lambda: kernels.MultipleKernel([kernels.Gaussian("median"), kernels.Linear()])
    ),
    "views": KernelCase(_views),
    "views of several kinds": KernelCase(_kinds, "kinds"),
    "normalized": KernelCase(lambda: kernels.Normalized(kernels.Polynomial(degree=2))),
    "centered": KernelCase(lambda: kernels.Centered(kernels.Gaussian("median"))),
    "sum": KernelCase(lambda: 0.5 * kernels.Gaussian("median") + kernels.Linear()),
    "product": KernelCase(lambda: kernels.Linear() * kernels.Gaussian("median")),
    "fixed": KernelCase(lambda: kernels.Fixed(kernels.Gaussian(0.1))),
    "distance": KernelCase(lambda: kernels.DistanceKernel(own_distance, "median"), "texts"),
    "function": KernelCase(lambda: own_kernel),
    "sparse linear": KernelCase(kernels.Linear, "sparse vectors"),
    "sparse polynomial": KernelCase(
        lambda: kernels.Polynomial(degree=2, gamma="scale"), "sparse vectors"
    ),
    "sparse gaussian": KernelCase(lambda: "rbf", "sparse vectors"),
    "sparse chi-squared": KernelCase(lambda: kernels.ChiSquared("median"), "sparse histograms"),
    "sparse intersection": KernelCase(kernels.HistogramIntersection, "sparse histograms"),
}


def _general(prior: object, constraint: constraints.Constraint) -> Callable[[], BaseKernelCoder]:
    return lambda: KernelCoder(prior=prior, constraint=constraint, alpha=0.02)


CODERS: dict[str, Callable[[], BaseKernelCoder]] = {
    "sparse": KernelSparseCoder,
    "positive": lambda: KernelSparseCoder(positive=True),
    "groups of labels": lambda: KernelSparseCoder(groups="y"),
    "candidates": lambda: KernelSparseCoder(n_candidates=4),
    "soft words": KernelBagOfWords,
    "hard words": lambda: KernelBagOfWords(assignment="hard"),
    "local words": lambda: KernelBagOfWords(n_neighbors=3),
    "LLC": KernelLLC,
    "exact LLC": lambda: KernelLLC(n_neighbors=None),
    "LCC": KernelLCC,
    "pursuit": lambda: KernelMatchingPursuit(n_nonzero=3),
    "general": KernelCoder,
    "locality on the simplex": _general(priors.Locality(), constraints.Simplex()),
    "affine ridge": _general(priors.Ridge(), constraints.SumToOne()),
    "one atom": _general(priors.LocalCoordinate(), constraints.OneAtom()),
    "own prior": _general(OwnPrior(), constraints.Free()),
    "own prior, non-negative": _general(OwnPrior(), constraints.NonNegative()),
    "own prior, affine": _general(OwnPrior(), constraints.SumToOne()),
    "own prior, simplex": _general(OwnPrior(), constraints.Simplex()),
    "own coder": OwnCoder,
}

TASKS: dict[str, tasks.Task] = tasks.TASKS
