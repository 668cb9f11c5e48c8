"""Similarities k(x, z), one family per file; each knows its gradient in its own parameters."""

from .affine import AffineInvariantGaussian, AffineInvariantLinear
from .algebra import Product, Sum
from .base import Kernel, take
from .centered import Centered
from .distance import DistanceKernel
from .grassmann import Projection, ProjectionGaussian
from .histogram import ChiSquared, HistogramIntersection
from .multiple import MultipleKernel
from .names import as_kernel
from .precomputed import CallableKernel, Precomputed
from .radial import ExponentialKernel
from .spd import LogEuclideanGaussian, LogEuclideanLinear, Stein
from .vector import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from .view import View
from .wrappers import Fixed, Normalized, Scaled

__all__ = [
    "AffineInvariantGaussian",
    "AffineInvariantLinear",
    "CallableKernel",
    "Centered",
    "ChiSquared",
    "DistanceKernel",
    "ExponentialKernel",
    "Fixed",
    "Gaussian",
    "HistogramIntersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "LogEuclideanGaussian",
    "LogEuclideanLinear",
    "MultipleKernel",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Projection",
    "ProjectionGaussian",
    "Scaled",
    "Sigmoid",
    "Stein",
    "Sum",
    "View",
    "as_kernel",
    "take",
]
