"""Kernels that are the exponential of minus a distance-like statistic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..parallel import short_slices
from .base import FeatureNames, Kernel, Prepared
from .pairs import Points, squared_distances
from .widths import number_gamma, resolve_gamma

__all__ = ["ExponentialKernel", "SquaredDistanceKernel"]


def decay(values: NDArray, gamma: float) -> NDArray:
    r"""Replace non-negative values by :math:`\exp(-\gamma v)`, in place.

    Exponentials are most of what a Gaussian kernel costs, hence the compiled ones for matrices of
    doubles; NumPy's own are as fast in single precision.
    """
    if values.ndim == 2 and values.dtype == np.float64:
        from .._compiled.exponential import scaled_exponential

        for rows in short_slices(len(values), 4 * values.shape[1]):
            scaled_exponential(values[rows], -float(gamma))
        return values
    values *= values.dtype.type(-gamma)
    return np.exp(values, out=values)


class ExponentialKernel(Kernel):
    r"""Base of :math:`k = \exp(-\gamma s)` with a statistic s that is 0 for equal samples.

    A kernel of your own inherits it, has a parameter ``gamma`` and says ``check``, ``prepare`` (a
    tuple whose first entry has one row per sample) and ``statistic``. It then has widths such as
    "median", can be learned, and finds neighbours by the statistic alone.

    Examples
    --------
    >>> import numpy as np
    >>> class Hamming(ExponentialKernel):
    ...     def __init__(self, gamma=1.0):
    ...         self.gamma = gamma
    ...     def check(self, X):
    ...         return np.asarray(X, dtype=float)
    ...     def prepare(self, X, index=None):
    ...         return (self.check(X),)
    ...     def statistic(self, P, Q):
    ...         return (P[0][:, None] != Q[0][None]).sum(axis=2).astype(float)
    >>> Hamming("median").resolve([[0, 1], [1, 0], [0, 1]]).gamma
    0.5
    """

    is_radial = True
    gamma: float | str
    # The meaning of gamma="scale"; None: one over the mean statistic.
    _scale_rule: Callable[[NDArray], float] | None = None

    @property
    def learnable(self) -> tuple[str, ...]:
        """Return the width's name."""
        return ("gamma",)

    def _positive(self, name: str) -> float:
        return number_gamma(self.gamma, type(self).__name__)

    def diagonal_statistic(self, P: Prepared) -> NDArray:
        """Zeros, shape (n,)."""
        return np.zeros(len(P[0]), dtype=P[0].dtype)

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        r"""Return :math:`\exp(-\gamma S)`."""
        return decay(S if overwrite else S.copy(), self._positive("gamma"))

    def profile_gradient(self, S: NDArray) -> NDArray:
        r"""Return :math:`-\gamma S \exp(-\gamma S)`, the derivative in :math:`\log\gamma`."""
        exponent = np.multiply(S, -self._positive("gamma"))
        return (exponent * np.exp(exponent))[..., np.newaxis]

    def derivative(self, S: NDArray, weights: NDArray) -> NDArray:
        """One exponential and one inner product."""
        return np.array([-self._positive("gamma") * np.vdot(self.profile(S), S * weights)])

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with a number for `gamma`."""
        rule = type(self)._scale_rule
        return clone(self).set_params(gamma=resolve_gamma(self, self.gamma, X, rule))


class SquaredDistanceKernel(ExponentialKernel):
    r"""Base of :math:`\exp(-\gamma \|u - v\|^2)` of the vectors that `prepare` returns."""

    def statistic(self, P: Points, Q: Points) -> NDArray:
        """Squared distances of the prepared vectors, shape (n, m), whatever their origin."""
        return squared_distances(P, Q)
