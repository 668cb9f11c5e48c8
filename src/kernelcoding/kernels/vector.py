"""Kernels of vectors, samples of shape (n, d)."""

from __future__ import annotations

from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..long_calls import number_by_number
from ..stacks import Stack
from .base import FeatureNames, Kernel
from .checks import check_vectors
from .pairs import Points, city_block, inner_products, points_of, require_same_width
from .radial import ExponentialKernel, SquaredDistanceKernel
from .widths import number_gamma, resolve_gamma, variance_width

__all__ = ["Gaussian", "Laplacian", "Linear", "Polynomial", "Sigmoid"]


class _Vectors(Kernel):
    """Samples are vectors, dense or sparse."""

    takes_sparse = True

    def check(self, X: ArrayLike) -> Stack:
        """Return X as finite floats of shape (n, d)."""
        return check_vectors(X, type(self).__name__)

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Points:
        """Return the points and their squared norms."""
        return points_of(self.check(X))


class _InnerProduct(_Vectors):
    """The statistic is the inner product."""

    def statistic(self, P: Points, Q: Points) -> NDArray:
        """Inner products, shape (n, m)."""
        return inner_products(P, Q)

    def diagonal_statistic(self, P: Points) -> NDArray:
        """Squared norms, shape (n,)."""
        return P.squared_norms.copy()


class Linear(_InnerProduct):
    r"""Linear kernel :math:`k(x, z) = x'z`.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the inner products themselves."""
        return S if overwrite else S.copy()


class _AffineProduct(_InnerProduct):
    r"""The profile is a function of :math:`\gamma x'z + c`."""

    gamma: float | str
    coef0: float

    @property
    def learnable(self) -> tuple[str, ...]:
        """Return `gamma`, and `coef0` when it is positive and so has a logarithm."""
        return ("gamma", "coef0") if self._offset() > 0 else ("gamma",)

    def _offset(self) -> float:
        if not isinstance(self.coef0, Real) or not np.isfinite(self.coef0):
            raise ValueError(
                f"{type(self).__name__}: coef0 must be a finite number, got {self.coef0!r}."
            )
        return float(self.coef0)

    def _positive(self, name: str) -> float:
        if name == "gamma":
            return number_gamma(self.gamma, type(self).__name__)
        return super()._positive(name)

    def _affine(self, S: NDArray, overwrite: bool = False) -> NDArray:
        values = np.multiply(S, self._positive("gamma"), out=S if overwrite else None)
        values += self._offset()
        return values

    def _chain(self, S: NDArray, slope: NDArray) -> NDArray:
        """Derivatives in log(gamma) and log(coef0) from the slope in the affine argument."""
        parts = [slope * (self._positive("gamma") * S)]
        if "coef0" in self.learnable:
            parts.append(slope * self._offset())
        return np.stack(parts, axis=-1)

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with a number for `gamma`."""
        return clone(self).set_params(gamma=resolve_gamma(self, self.gamma, X, variance_width))


class Polynomial(_AffineProduct):
    r"""Polynomial kernel :math:`k(x, z) = (\gamma x'z + c)^{degree}`.

    Parameters
    ----------
    degree : float, default=3
        A positive integer for a positive definite kernel.
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        The constant c, not negative for a positive definite kernel.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: float = 3, gamma: float | str = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_positive_definite(self) -> bool:
        """True for an integer degree and a constant that is not negative."""
        return float(self.degree).is_integer() and self.coef0 >= 0

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the power of the affine inner product."""
        power = partial(self._power, degree=self._positive("degree"))
        return number_by_number(power, self._affine(S, overwrite))

    def profile_gradient(self, S: NDArray) -> NDArray:
        """Derivatives in log(gamma) and, when positive, log(coef0)."""
        degree = self._positive("degree")
        return self._chain(S, degree * self._power(self._affine(S), degree - 1))

    def _power(self, base: NDArray, degree: float) -> NDArray:
        if not degree.is_integer():
            if base.size and base.min() < 0:
                raise ValueError(
                    f"Polynomial: degree={self.degree} is not an integer and gamma x'z + coef0 is "
                    "negative for some pairs; use an integer degree."
                )
            return np.power(base, degree)
        # Repeated squaring: general powers cost an order of magnitude more than products.
        exponent, result = int(degree), np.ones_like(base)
        while exponent:
            if exponent & 1:
                result *= base
            exponent >>= 1
            if exponent:
                base *= base
        return result


class Sigmoid(_AffineProduct):
    r"""Sigmoid kernel :math:`k(x, z) = \tanh(\gamma x'z + c)`; not positive definite.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        The constant c.

    Examples
    --------
    >>> Sigmoid(gamma=0.1, coef0=0.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(3)
    array([[0.8]])
    """

    is_positive_definite = False

    def __init__(self, gamma: float | str = 1.0, coef0: float = 1.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the hyperbolic tangent of the affine inner product."""
        return number_by_number(np.tanh, self._affine(S, overwrite))

    def profile_gradient(self, S: NDArray) -> NDArray:
        """Derivatives in log(gamma) and, when positive, log(coef0)."""
        return self._chain(S, 1.0 - self.profile(S) ** 2)


class Gaussian(SquaredDistanceKernel, _Vectors):
    r"""Gaussian kernel :math:`k(x, z) = \exp(-\gamma \|x - z\|^2)`.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse squared width. "median": one over the median squared distance, and
        "0.1*median" a tenth of that, or any other multiple; "scale": scikit-learn's
        ``1 / (n_features * X.var())``. All need `resolve`.

    Notes
    -----
    The paper prints :math:`\|x_i, x_j\|`; the difference is meant (its width is called beta).

    The kernel does not change when all samples are moved, and neither does what is computed: where
    the samples in Z (in a dictionary: the atoms) lie far from zero against their spread, as
    time stamps and map coordinates do, one origin amid them is subtracted from both X and Z, and
    distances that are small against the norms are computed from differences. Nothing is kept:
    a kernel knows no data. What remains is the rounding of the samples themselves, about 1e-16
    times the offset for each coordinate.

    Examples
    --------
    >>> Gaussian(gamma=0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    _scale_rule = staticmethod(variance_width)

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma


class Laplacian(ExponentialKernel, _Vectors):
    r"""Laplacian kernel :math:`k(x, z) = \exp(-\gamma \|x - z\|_1)`.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse width, see `Gaussian`.

    Notes
    -----
    Distances are sums of differences, so the origin of the samples does not matter.

    Examples
    --------
    >>> Laplacian(gamma=0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    _scale_rule = staticmethod(variance_width)

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    def statistic(self, P: Points, Q: Points) -> NDArray:
        """City-block distances, shape (n, m)."""
        require_same_width(P.points, Q.points)
        distances = city_block(P.points, Q.points)
        return distances.astype(np.result_type(P.points.dtype, Q.points.dtype), copy=False)
