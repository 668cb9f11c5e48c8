"""Kernels made of one kernel: scaled, normalised, or held fixed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..stacks import Stack
from ..views import ViewName
from .base import FeatureNames, Kernel, Prepared, Statistic

__all__ = ["Fixed", "Normalized", "Scaled", "Wrapper"]


class Wrapper(Kernel):
    """Base of kernels over one `kernel`; everything is handed on unless a subclass says more."""

    kernel: Kernel

    @property
    def child(self) -> Kernel:
        """The checked inner kernel."""
        if not isinstance(self.kernel, Kernel):
            raise ValueError(
                f"{type(self).__name__} expected a kernel, got {self.kernel!r}; "
                "wrap it with as_kernel."
            )
        return self.kernel

    @property
    def input_ndim(self) -> int | None:
        """Return the inner kernel's."""
        return self.child.input_ndim

    @property
    def is_positive_definite(self) -> bool | None:
        """Return the inner kernel's."""
        return self.child.is_positive_definite

    @property
    def wants_nonnegative(self) -> bool:
        """Whether the wrapped kernel refuses negative entries."""
        return self.child.wants_nonnegative

    @property
    def uses_index(self) -> bool:
        """Whether the wrapped kernel takes rows of a given matrix."""
        return self.child.uses_index

    @property
    def views(self) -> tuple[ViewName, ...]:
        """Return the inner kernel's."""
        return self.child.views

    @property
    def takes_objects(self) -> bool:
        """Return the inner kernel's."""
        return self.child.takes_objects

    @property
    def takes_sparse(self) -> bool:
        """Return the inner kernel's."""
        return self.child.takes_sparse

    @property
    def is_radial(self) -> bool:
        """Return the inner kernel's."""
        return self.child.is_radial

    @property
    def is_resolved(self) -> bool:
        """Return the inner kernel's."""
        return self.child.is_resolved

    def among(self, X: Stack, rows: NDArray) -> Stack:
        """Return the inner kernel's."""
        return self.child.among(X, rows)

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as the inner kernel checked it."""
        return self.child.check(X)

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Prepared:
        """Return what the inner kernel prepared."""
        return self.child.prepare(X, index)

    def prepare_alone(self, X: ArrayLike) -> Prepared:
        """Return what the inner kernel prepared of X as its own training set."""
        return self.child.prepare_alone(X)

    def statistic(self, P: Prepared, Q: Prepared) -> Statistic:
        """Return the inner kernel's statistic."""
        return self.child.statistic(P, Q)

    def diagonal_statistic(self, P: Prepared) -> Statistic:
        """Return the inner kernel's diagonal statistic."""
        return self.child.diagonal_statistic(P)

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the inner kernel's values."""
        return self.child.profile(S, overwrite=overwrite)

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Return the inner kernel's derivatives."""
        return self.child.profile_gradient(S)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of own learnable parameters, then the inner kernel's with ``kernel__``."""
        return self.learnable + tuple(f"kernel__{name}" for name in self.child.parameter_names)

    @property
    def theta(self) -> NDArray:
        """Logarithms of own, then of the inner kernel's learnable parameters."""
        return np.concatenate([super().theta, self.child.theta])

    def least_theta(self, X: NDArray) -> NDArray:
        """Lower bounds: none of own parameters, then the inner kernel's."""
        return np.append(np.full(len(self.learnable), -np.inf), self.child.least_theta(X))

    def with_theta(self, theta: ArrayLike) -> Kernel:
        """Return a clone whose learnable parameters are exp(theta)."""
        values, own = self._exp_theta(theta), len(self.learnable)
        inner = self.child.with_theta(np.asarray(theta, dtype=np.float64)[own:])
        own_values = dict(zip(self.learnable, values[:own], strict=True))
        return self._rebuilt(inner).set_params(**own_values)

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with the inner kernel resolved."""
        return self._rebuilt(self.child.resolve(X, feature_names))

    def _rebuilt(self, kernel: Kernel) -> Kernel:
        params = self.get_params(deep=False)
        return type(self)(**(params | {"kernel": kernel}))


class Scaled(Wrapper):
    r"""A kernel times a positive number :math:`c\,k(x, z)`; what ``2.0 * kernel`` builds.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    scale : float, default=1.0
        The positive factor c, learnable.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> (0.5 * Linear())([[1.0, 3.0]])
    array([[5.]])
    """

    def __init__(self, kernel: Kernel, scale: float = 1.0) -> None:
        self.kernel = kernel
        self.scale = scale

    @property
    def learnable(self) -> tuple[str, ...]:
        """Return the factor's name."""
        return ("scale",)

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the inner kernel's values times the factor."""
        scale = self._positive("scale")
        values = self.child.profile(S, overwrite=overwrite)
        values *= scale
        return values

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Derivatives in log(scale), then in the inner kernel's parameters."""
        inner = self._positive("scale") * self.child.profile_gradient(S)
        return np.concatenate([self.profile(S)[..., np.newaxis], inner], axis=-1)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """Derivative of a weighted sum in log(scale), then in the inner kernel's parameters."""
        inner = self._positive("scale") * self.child.derivative(S, weights)
        return np.concatenate([[np.vdot(weights, self.profile(S))], inner])


class Fixed(Wrapper):
    """A kernel whose parameters are not learned.

    In a :class:`MultipleKernel`, learning then moves the weights and leaves this member as it is.

    Parameters
    ----------
    kernel : Kernel
        The kernel to hold.

    Examples
    --------
    >>> from kernelcoding.kernels import Gaussian, Linear, MultipleKernel
    >>> MultipleKernel([Fixed(Gaussian(0.5)), Linear()]).parameter_names
    ('weights__0', 'weights__1')
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def theta(self) -> NDArray:
        """An empty array."""
        return np.zeros(0)

    def least_theta(self, X: NDArray) -> NDArray:
        """An empty array."""
        return np.zeros(0)

    def with_theta(self, theta: ArrayLike) -> Kernel:
        """Return a clone: nothing is learned here."""
        self._exp_theta(theta)  # checks the shape
        return self._rebuilt(self.child)

    def profile_gradient(self, S: Statistic) -> NDArray:
        """No derivatives."""
        values = self.profile(S)
        return np.zeros((*values.shape, 0), dtype=values.dtype)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """No derivatives."""
        return np.zeros(0)


class Normalized(Wrapper):
    r"""Cosine normalisation :math:`k(x, z) / \sqrt{k(x, x)\,k(z, z)}`.

    A sample whose self-similarity is 0 has no direction: its similarity to everything, itself
    included, is defined as 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel k, with no negative self-similarity.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> Normalized(Linear())([[1.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]).round(4)
    array([[0.7071, 0.    ]])
    """

    is_radial = False  # the statistic is a tuple: no single array orders the neighbours

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def statistic(self, P: Prepared, Q: Prepared) -> tuple[Statistic, Statistic, Statistic]:
        """Return the inner statistic of the pairs and of both diagonals."""
        child = self.child
        return child.statistic(P, Q), child.diagonal_statistic(P), child.diagonal_statistic(Q)

    def diagonal_statistic(self, P: Prepared) -> tuple[Statistic, Statistic, Statistic]:
        """Return the inner diagonal statistic, three times."""
        own = self.child.diagonal_statistic(P)
        return own, own, own

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the cosines."""
        pairs, left, right = S
        rows, columns = (self._inverse_norms(self.child.profile(side)) for side in (left, right))
        values = self.child.profile(pairs, overwrite=overwrite)
        # One factor per pair: two successive products would spoil exact symmetry.
        values *= pairwise(np.multiply, rows, columns, values.ndim)
        return values

    def profile_gradient(self, S: Statistic) -> NDArray:
        r"""Return :math:`k' / \sqrt{k_x k_z} - \frac12 \hat k (k_x'/k_x + k_z'/k_z)`."""
        pairs, left, right = S
        values = self.profile(S)
        rows, columns = (self._inverse_norms(self.child.profile(side)) for side in (left, right))
        factor = pairwise(np.multiply, rows, columns, values.ndim)
        gradient = self.child.profile_gradient(pairs) * factor[..., np.newaxis]
        # squared inverse norms are 1 / k_x, and 0 where k_x is 0
        of_rows = rows[:, np.newaxis] ** 2 * self.child.profile_gradient(left)
        of_columns = columns[:, np.newaxis] ** 2 * self.child.profile_gradient(right)
        slopes = pairwise(np.add, of_rows, of_columns, values.ndim)
        gradient -= 0.5 * values[..., np.newaxis] * slopes
        return gradient

    def _inverse_norms(self, squares: NDArray) -> NDArray:
        if np.isnan(squares).any():
            raise ValueError(
                "Normalized needs the self-similarity of every sample, got NaN; with a precomputed "
                "matrix set Precomputed(self_similarity=...)."
            )
        if squares.size and squares.min() < 0:
            raise ValueError(
                f"Normalized expected self-similarities that are not negative, got "
                f"{squares.min():.3g}; the inner kernel is not positive definite."
            )
        roots = np.sqrt(squares)
        return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


def pairwise(operation: np.ufunc, left: NDArray, right: NDArray, ndim: int) -> NDArray:
    """Combine rows with columns for a matrix (n, m), or one by one for a diagonal (n,)."""
    return (
        operation(left[:, np.newaxis], right[np.newaxis]) if ndim == 2 else operation(left, right)
    )
