"""A Gaussian of a distance that a user's function measures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .precomputed import CallableKernel, Samples
from .radial import ExponentialKernel

__all__ = ["DistanceKernel"]


class DistanceKernel(ExponentialKernel):
    r"""Similarity :math:`k(x, z) = \exp(-\gamma\,d(x, z))` of a distance of the user's own.

    Samples may be anything that the function takes: vectors, texts, graphs.

    Parameters
    ----------
    distance : callable
        ``d(X, Z) -> (n, m)``: takes two stacks of samples and returns their distances, none
        negative, symmetric, and 0 for equal samples. Squared distances make a Gaussian.
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse width; the rules are one over the median or mean of the distances.

    Notes
    -----
    The kernel is positive definite for every gamma exactly if d is conditionally negative definite
    (a squared Euclidean distance is, an edit distance is not). Whether it is is not known here:
    coders look at the spectrum of the atoms, clip a negative part and warn.

    Models with this kernel hold a function, which is code: they can be pickled, not saved.

    Examples
    --------
    >>> import numpy as np
    >>> def lengths(X, Z):
    ...     return np.array([[abs(len(x) - len(z)) for z in Z] for x in X])
    >>> DistanceKernel(lengths, gamma="median").resolve(["a", "abc", "abcde"])(["a"], ["abc"])
    array([[0.36787944]])
    """

    input_ndim = None
    is_positive_definite = None
    takes_objects = True
    takes_sparse = True

    def __init__(
        self, distance: Callable[[NDArray, NDArray], NDArray], gamma: float | str = 1.0
    ) -> None:
        self.distance = distance
        self.gamma = gamma

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as an array; numbers are made finite floats, other things are left alone."""
        return self._function().check(X)

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Samples:
        """Return the checked samples."""
        return Samples(self.check(X))

    def diagonal_statistic(self, P: Samples) -> NDArray:
        """Zeros, shape (n,)."""
        single = P.samples.dtype == np.float32
        return np.zeros(len(P.samples), dtype=np.float32 if single else np.float64)

    def statistic(self, P: Samples, Q: Samples) -> NDArray:
        """Distances, shape (n, m)."""
        distances = self._function().statistic(P, Q)
        if distances.size and distances.min() < 0:
            raise ValueError(
                f"DistanceKernel expected distances that are not negative, got "
                f"{distances.min():.3g}; similarities belong in CallableKernel."
            )
        if P is Q:
            self._require_zero(np.diagonal(distances), distances)
        return distances

    @staticmethod
    def _require_zero(own: NDArray, distances: NDArray) -> None:
        if own.max(initial=0.0) > 1e-8 * max(distances.max(initial=0.0), 1e-300):
            raise ValueError(
                "DistanceKernel expected a distance of 0 between equal samples, got "
                f"{own.max():.3g}; similarities belong in CallableKernel."
            )
        np.fill_diagonal(distances, 0.0)

    def _function(self) -> CallableKernel:
        return CallableKernel(self.distance)
