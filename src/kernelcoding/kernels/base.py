"""What a kernel is: an elementwise profile of a parameter-free pair statistic."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..component import Component
from ..stacks import Stack, stack_of
from ..views import ViewName, Views, is_dict
from .checks import count_samples, positive_number

__all__ = ["FeatureNames", "Kernel", "Prepared", "Statistic", "take"]

# Each family has records of its own that nobody else looks into; no common type says more.
Prepared: TypeAlias = Any  # a stack of samples as `Kernel.prepare` returns it: a tuple
Statistic: TypeAlias = Any  # an array (n, m) or (n,); a tuple of such for kernels made of kernels
FeatureNames: TypeAlias = Iterable[str] | None


def take(prepared: Prepared, rows: slice | NDArray) -> Prepared:
    """Return the chosen rows of a prepared stack, without preparing again.

    Parameters
    ----------
    prepared : prepared stack
        What `Kernel.prepare` returned.
    rows : slice, index array or mask
        The samples wanted.

    Returns
    -------
    prepared stack
        The same record for the chosen samples.

    Examples
    --------
    >>> from kernelcoding.kernels import Gaussian, take
    >>> kernel = Gaussian(gamma=1.0)
    >>> prepared = kernel.prepare([[0.0], [1.0], [2.0]])
    >>> kernel.between(take(prepared, slice(0, 1)), prepared).shape
    (1, 3)
    """
    if prepared is None:
        return None
    if isinstance(prepared, tuple):
        parts = [take(part, rows) for part in prepared]
        return type(prepared)(*parts) if hasattr(prepared, "_fields") else tuple(parts)
    return prepared[rows]


class Kernel(Component):
    r"""A similarity :math:`k(x, z) = f_\theta(s(x, z))`.

    The *statistic* s (a squared distance, an inner product, ...) has no parameters; the *profile*
    f has. While parameters are learned, the statistic is computed once and the profile often.

    A family implements `check`, `prepare`, `statistic`, `diagonal_statistic`, `profile` and, if it
    has learnable parameters, `learnable` and `profile_gradient`.

    Examples
    --------
    >>> from kernelcoding.kernels import Gaussian, Kernel, Linear
    >>> isinstance(0.5 * Gaussian(gamma=1.0) + Linear(), Kernel)
    True
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
    array([[11., 17.]])
    """

    @property
    def input_ndim(self) -> int | None:
        """Axes of a stack of samples: 2, 3, or None when any will do."""
        return 2

    @property
    def is_positive_definite(self) -> bool | None:
        """True when guaranteed, False when not, None when unknown."""
        return True

    @property
    def is_radial(self) -> bool:
        """Whether k decreases with its statistic alone and has a constant diagonal."""
        return False

    @property
    def wants_nonnegative(self) -> bool:
        """Whether samples with negative entries are refused."""
        return False

    @property
    def uses_index(self) -> bool:
        """Whether samples are rows of a given matrix, so that atoms are known by their index."""
        return False

    @property
    def views(self) -> tuple[ViewName, ...]:
        """Names or positions of the views of a sample it looks at; empty: whole samples."""
        return ()

    @property
    def takes_objects(self) -> bool:
        """Whether samples may be anything, such as texts."""
        return False

    @property
    def takes_sparse(self) -> bool:
        """Whether samples may be rows of a sparse array, which stay sparse."""
        return False

    @property
    def is_resolved(self) -> bool:
        """Whether no parameter waits for data."""
        return not isinstance(getattr(self, "gamma", None), str)

    def among(self, X: Stack, rows: NDArray) -> Stack:
        """Some samples as a training set of their own: of a given matrix, rows and columns."""
        return X[np.ix_(rows, rows)] if self.uses_index else X[rows]

    # -- what a family implements ------------------------------------------------------------

    def check(self, X: ArrayLike) -> Stack:
        """Return X as a valid stack of samples, or raise ValueError."""
        raise self._not_implemented("check")

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Prepared:
        """Check X and do the work per sample once; `index` says which training samples X are."""
        raise self._not_implemented("prepare")

    def statistic(self, P: Prepared, Q: Prepared) -> Statistic:
        """Parameter-free pair statistic (n, m) of two prepared stacks; composites: a tuple."""
        raise self._not_implemented("statistic")

    def diagonal_statistic(self, P: Prepared) -> Statistic:
        """Return the statistic of each sample with itself, (n,); composites: a tuple."""
        raise self._not_implemented("diagonal_statistic")

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Kernel values from statistics, in a new array unless S may be overwritten."""
        raise self._not_implemented("profile")

    def _not_implemented(self, method: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} does not implement {method}, which every kernel needs: check, "
            "prepare, statistic, diagonal_statistic and profile."
        )

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Derivatives of the profile in `theta`, shape (..., p)."""
        return np.zeros((*S.shape, 0), dtype=S.dtype)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """Derivative in `theta` of the weighted sum of the profile's values, shape (p,).

        The same as contracting `profile_gradient`; kernels that can do so without its arrays do.
        """
        return np.tensordot(weights, self.profile_gradient(S), axes=np.ndim(weights))

    @property
    def learnable(self) -> tuple[str, ...]:
        """Names of this kernel's own positive parameters that may be learned."""
        return ()

    def prepare_alone(self, X: ArrayLike) -> Prepared:
        """Prepare X as its own training set; differs from `prepare` only for given matrices."""
        return self.prepare(X)

    # -- values ------------------------------------------------------------------------------

    def between(self, P: Prepared, Q: Prepared) -> NDArray:
        """Kernel values (n, m) of two prepared stacks."""
        return self.profile(self.statistic(P, Q), overwrite=True)

    def diagonal_of(self, P: Prepared) -> NDArray:
        """Self-similarities (n,) of a prepared stack."""
        return self.profile(self.diagonal_statistic(P))

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray:
        """Kernel matrix of shape (n, m) between X and Z, or within X."""
        return self.between(*self._prepare_pair(X, Z))

    def diagonal(self, X: ArrayLike) -> NDArray:
        """Self-similarities k(x_i, x_i), shape (n,), without the matrix."""
        return self.diagonal_of(self.prepare_alone(self._stack(X)))

    def gradient(self, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray:
        """Derivatives of the kernel matrix in `theta`, shape (n, m, p)."""
        return self.profile_gradient(self.statistic(*self._prepare_pair(X, Z)))

    def diagonal_gradient(self, X: ArrayLike) -> NDArray:
        """Derivatives of the self-similarities in `theta`, shape (n, p)."""
        prepared = self.prepare_alone(self._stack(X))
        return self.profile_gradient(self.diagonal_statistic(prepared))

    def _prepare_pair(self, X: ArrayLike, Z: ArrayLike | None) -> tuple[Prepared, Prepared]:
        if Z is None or Z is X:
            # The same object twice: statistics recognise it and return exact symmetry.
            prepared = self.prepare_alone(self._stack(X))
            return prepared, prepared
        X, Z = self._stack(X), self._stack(Z)
        return self.prepare(X), self.prepare(Z, np.arange(count_samples(Z)))

    def _stack(self, X: Stack) -> Stack:
        """Samples as a sequence: a dict has the length of its views, a sparse array none."""
        is_views = self.views and (is_dict(X) or isinstance(X, tuple))
        return Views(X) if is_views else stack_of(X)

    # -- parameters --------------------------------------------------------------------------

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the learnable parameters, in the order of `theta`."""
        return self.learnable

    @property
    def theta(self) -> NDArray:
        """Logarithms of the learnable parameters, shape (p,)."""
        values = [self._positive(name) for name in self.learnable]
        return np.log(np.array(values, dtype=np.float64))

    def least_theta(self, X: NDArray) -> NDArray:
        """Lower bounds of `theta` above which samples like X admit every value, shape (p,)."""
        return np.full(len(self.theta), -np.inf)

    def with_theta(self, theta: ArrayLike) -> Kernel:
        """Return a clone whose learnable parameters are exp(theta)."""
        values = self._exp_theta(theta)
        return clone(self).set_params(**dict(zip(self.learnable, values, strict=True)))

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone whose data-dependent parameters are numbers, measured on X."""
        return clone(self)

    def _positive(self, name: str) -> float:
        return positive_number(type(self).__name__, name, getattr(self, name))

    def _exp_theta(self, theta: ArrayLike) -> list[float]:
        values = np.asarray(theta, dtype=np.float64)
        expected = (len(self.parameter_names),)
        if values.shape != expected:
            raise ValueError(
                f"theta must have shape {expected}, one value for each of "
                f"{self.parameter_names}, got {values.shape}."
            )
        return np.exp(values).tolist()

    # -- in notebooks ------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """The kernel as a tree, with its parameters and weights."""
        from .drawing import drawn

        return drawn(self)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -- algebra -----------------------------------------------------------------------------

    def __add__(self, other: object) -> Kernel:
        from .algebra import add_kernels

        return add_kernels(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from .algebra import multiply_kernels
        from .wrappers import Scaled

        if isinstance(other, Real):
            return Scaled(self, positive_number("Scaled", "scale", other))
        return multiply_kernels(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return self.__mul__(other)
