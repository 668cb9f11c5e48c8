"""From what a user writes to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from numpy.typing import NDArray

from .affine import AffineInvariantGaussian, AffineInvariantLinear
from .base import Kernel
from .grassmann import Projection, ProjectionGaussian
from .histogram import ChiSquared, HistogramIntersection
from .precomputed import CallableKernel, Precomputed
from .spd import LogEuclideanGaussian, LogEuclideanLinear, Stein
from .vector import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from .wrappers import Normalized

__all__ = ["KernelLike", "as_kernel"]

KernelLike: TypeAlias = str | Kernel | Callable[[NDArray, NDArray], NDArray]

# A name stands for a width that is resolved on data: "rbf" alone does not choose one.
NAMES: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "cosine": lambda: Normalized(Linear()),
    "rbf": lambda: Gaussian(gamma="median"),
    "gaussian": lambda: Gaussian(gamma="median"),
    "laplacian": lambda: Laplacian(gamma="median"),
    "poly": lambda: Polynomial(gamma="scale"),
    "polynomial": lambda: Polynomial(gamma="scale"),
    "sigmoid": lambda: Sigmoid(gamma="scale"),
    "chi2": lambda: ChiSquared(gamma="median"),
    "intersection": HistogramIntersection,
    "log-euclidean": lambda: LogEuclideanGaussian(gamma="median"),
    "log-euclidean-linear": LogEuclideanLinear,
    "affine-invariant": lambda: AffineInvariantGaussian(gamma="median"),
    "affine-invariant-linear": AffineInvariantLinear,
    "stein": lambda: Stein(gamma="median"),
    "projection": Projection,
    "projection-gaussian": lambda: ProjectionGaussian(gamma="median"),
    "precomputed": Precomputed,
}


def as_kernel(spec: KernelLike) -> Kernel:
    """Turn a name, a kernel or a vectorised function into a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        A name such as "rbf", a kernel object (returned as it is), or ``f(X, Z) -> (n, m)``.

    Returns
    -------
    Kernel
        A kernel made from a name has to be resolved on data if it has a width.

    Examples
    --------
    >>> as_kernel("rbf")
    Gaussian(gamma='median')
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        if spec not in NAMES:
            raise ValueError(f"unknown kernel name {spec!r}; the names are {', '.join(NAMES)}.")
        return NAMES[spec]()
    if callable(spec) and not isinstance(spec, type):
        return CallableKernel(spec)
    raise ValueError(
        f"kernel must be a name, a kernel or a function f(X, Z) -> (n, m), got {spec!r}."
    )
