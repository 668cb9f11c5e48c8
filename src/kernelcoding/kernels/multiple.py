"""A weighted sum of kernels whose weights can be learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .algebra import Composite, accumulate
from .base import Kernel, Statistic

__all__ = ["MultipleKernel"]


class MultipleKernel(Composite):
    r"""Weighted sum of kernels :math:`k = \sum_i w_i k_i` with weights that can be learned.

    Parameters
    ----------
    kernels : list of Kernel
        The base kernels, all of one kind of samples; or each a :class:`View`, of any kind.
    weights : sequence of float, optional
        Weights, none negative. None: uniform, 1 / number of kernels.

    Attributes
    ----------
    weights_ : array of shape (number of kernels,)
        Set by learning; used in place of `weights` when it exists. `resolve` and `with_theta`
        keep it, scikit-learn's `clone` forgets it.

    Notes
    -----
    Learnable weights are the positive ones, named ``weights__i`` after the children's parameters.
    Base kernels should be normalised before weights are compared, else the largest scale wins.

    Examples
    --------
    >>> from kernelcoding.kernels import Gaussian, Linear
    >>> MultipleKernel([Gaussian(), Linear()], weights=[0.5, 2.0])([[1.0, 2.0]])
    array([[10.5]])

    Views of different kinds, from a dict, a tuple or a data frame:

    >>> import numpy as np
    >>> from kernelcoding.kernels import LogEuclideanGaussian, View
    >>> kernel = MultipleKernel([View("covariance", LogEuclideanGaussian()), View("x", Linear())])
    >>> kernel({"covariance": np.eye(2)[np.newaxis], "x": [[1.0, 2.0]]})
    array([[3.]])
    """

    weights_: NDArray

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float] | None = None) -> None:
        self.kernels = kernels
        self.weights = weights

    @property
    def current_weights(self) -> NDArray:
        """Return the weights in use, shape (number of kernels,)."""
        count = len(self.children)
        given = getattr(self, "weights_", self.weights)
        if given is None:
            return np.full(count, 1.0 / count)
        weights = np.asarray(given, dtype=np.float64)
        if weights.shape != (count,):
            raise ValueError(
                f"MultipleKernel expected {count} weights, one per kernel, got shape "
                f"{weights.shape}."
            )
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise ValueError(
                "MultipleKernel: weights must be finite, none negative and not all zero, got "
                f"{weights.tolist()}."
            )
        return weights

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the weighted sum of the children's values."""
        total = None
        for weight, (child, s) in zip(self.current_weights.tolist(), self._parts(S), strict=True):
            if weight > 0:  # learning often ends with one kernel: spare the others' exponentials
                value = child.profile(s, overwrite=overwrite)
                value *= weight
                total = value if total is None else accumulate(np.add, total, value)
        assert total is not None  # some weight is positive
        return total

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Derivatives in the children's parameters, then in the logs of positive weights."""
        weights = self.current_weights.tolist()
        inner, outer = [], []
        for weight, (child, statistic) in zip(weights, self._parts(S), strict=True):
            inner.append(weight * child.profile_gradient(statistic))
            if weight > 0:
                outer.append(weight * child.profile(statistic)[..., np.newaxis])
        return np.concatenate(inner + outer, axis=-1)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """The children's derivatives, then inner products with the children's values."""
        inner, outer = [], []
        for share, (child, statistic) in zip(
            self.current_weights.tolist(), self._parts(S), strict=True
        ):
            inner.append(share * child.derivative(statistic, weights))
            if share > 0:
                outer.append(share * np.vdot(weights, child.profile(statistic)))
        return np.concatenate([*inner, np.array(outer)])

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the children's parameters, then of the positive weights."""
        positive = np.flatnonzero(self.current_weights)
        return super().parameter_names + tuple(f"weights__{i}" for i in positive)

    @property
    def theta(self) -> NDArray:
        """Logarithms of the children's parameters, then of the positive weights."""
        weights = self.current_weights
        return np.concatenate([super().theta, np.log(weights[weights > 0])])

    def with_theta(self, theta: ArrayLike) -> Kernel:
        """Return a clone whose learnable parameters are exp(theta)."""
        self._exp_theta(theta)  # checks the shape
        values = np.asarray(theta, dtype=np.float64)
        weights = self.current_weights.copy()
        inner = len(values) - np.count_nonzero(weights)
        weights[weights > 0] = np.exp(values[inner:])
        kernels = self._children_with(values[:inner])
        if not hasattr(self, "weights_"):
            return MultipleKernel(kernels, weights.tolist())
        rebuilt = self._rebuilt(kernels)
        rebuilt.weights_ = weights
        return rebuilt

    def _rebuilt(self, children: list[Kernel]) -> MultipleKernel:
        rebuilt = MultipleKernel(children, self.weights)
        if hasattr(self, "weights_"):
            rebuilt.weights_ = np.array(self.weights_, dtype=np.float64)
        return rebuilt
