"""Kernels of histograms: vectors (n, d) without negative entries."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..long_calls import row_by_row
from ..sparse_vectors import SparseVectors
from ..stacks import Stack
from .base import Kernel
from .checks import check_vectors
from .pairs import city_block, require_same_width
from .radial import ExponentialKernel
from .sparse_pairs import any_sparse, sparse_chi_squared, sparse_intersections, sparse_row_sums

__all__ = ["ChiSquared", "HistogramIntersection"]

Histograms: TypeAlias = tuple[Any]  # of one stack, a dense array or sparse vectors


class _Histograms(Kernel):
    """Samples are histograms; a prepared stack is a tuple with the checked array."""

    wants_nonnegative = True
    takes_sparse = True

    def check(self, X: ArrayLike) -> Stack:
        """Return X as finite floats of shape (n, d), none negative."""
        name = type(self).__name__
        histograms = check_vectors(X, name)
        values = histograms.matrix.data if isinstance(histograms, SparseVectors) else histograms
        if values.size and values.min() < 0:
            raise ValueError(
                f"Negative values in data: {name} expected histograms, got a minimum of "
                f"{values.min():.3g}; shift the features or use a kernel of vectors."
            )
        return histograms

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Histograms:
        """Return the checked histograms."""
        return (self.check(X),)


class ChiSquared(ExponentialKernel, _Histograms):
    r"""Chi-squared kernel :math:`k(x, z) = \exp(-\gamma \sum_i (x_i - z_i)^2 / (x_i + z_i))`.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse width; the rules are one over the median or mean of the sum.

    Notes
    -----
    Bins empty in both histograms count 0, as in scikit-learn's ``chi2_kernel``.

    Examples
    --------
    >>> ChiSquared()([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    def statistic(self, P: Histograms, Q: Histograms) -> NDArray:
        """Chi-squared distances, shape (n, m)."""
        require_same_width(P[0], Q[0])
        if any_sparse(P[0], Q[0]):
            return sparse_chi_squared(P[0], Q[0])
        if not len(P[0]) or not len(Q[0]):  # scikit-learn refuses empty stacks
            return np.zeros((len(P[0]), len(Q[0])), dtype=np.result_type(P[0], Q[0]))
        from sklearn.metrics.pairwise import additive_chi2_kernel

        # scikit-learn's loop refuses read-only arrays, which joblib hands to its workers
        left, right = (np.require(part[0], requirements="W") for part in (P, Q))
        negative = np.empty((len(left), len(right)), np.result_type(left, right))
        row_by_row(additive_chi2_kernel, left, right, negative)
        return np.negative(negative, out=negative)


class HistogramIntersection(_Histograms):
    r"""Histogram intersection :math:`k(x, z) = \sum_i \min(x_i, z_i)`.

    Examples
    --------
    >>> HistogramIntersection()([[1.0, 3.0]], [[2.0, 1.0]])
    array([[2.]])
    """

    def statistic(self, P: Histograms, Q: Histograms) -> NDArray:
        r"""Intersections (n, m), by :math:`2\min(a, b) = a + b - |a - b|`.

        City-block distances are compiled and need no (n, m, d) array.
        """
        left, right = P[0], Q[0]
        require_same_width(left, right)
        if any_sparse(left, right):
            return sparse_intersections(left, right)
        sums = [part.sum(axis=1, dtype=np.float64) for part in (left, right)]
        values = sums[0][:, np.newaxis] + sums[1]
        values -= city_block(left, right)
        values *= 0.5
        np.maximum(values, 0.0, out=values)
        return values.astype(np.result_type(left, right), copy=False)

    def diagonal_statistic(self, P: Histograms) -> NDArray:
        """Sums of the histograms, shape (n,)."""
        if isinstance(P[0], SparseVectors):
            return sparse_row_sums(P[0]).astype(P[0].dtype, copy=False)
        return P[0].sum(axis=1, dtype=np.float64).astype(P[0].dtype)

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the intersections themselves."""
        return S if overwrite else S.copy()
