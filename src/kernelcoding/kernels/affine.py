"""Kernels of SPD matrices in the tangent space at their affine-invariant mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .base import FeatureNames, Kernel
from .pairs import Points, inner_products, points_of
from .radial import SquaredDistanceKernel
from .spd_matrices import (
    affine_mean,
    check_symmetric,
    cholesky_logdets,
    inverse_root,
    log_vectors,
)
from .widths import resolve_gamma

__all__ = ["AffineInvariantGaussian", "AffineInvariantLinear"]


class _TangentSpace(Kernel):
    r"""Samples are seen as :math:`\log(M^{-1/2} X M^{-1/2})` with a reference M."""

    input_ndim = 3
    reference: NDArray | str

    @property
    def is_resolved(self) -> bool:
        """Whether neither the reference nor a width waits for data."""
        return super().is_resolved and not isinstance(self.reference, str)

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as a stack of SPD matrices."""
        matrices = check_symmetric(X, type(self).__name__)
        cholesky_logdets(matrices, type(self).__name__)
        return matrices

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Points:
        """Return the tangent vectors at the reference."""
        owner = type(self).__name__
        matrices = check_symmetric(X, owner)
        inverse = inverse_root(self._reference(matrices.shape[1:]), owner)
        seen = inverse @ matrices.astype(np.float64, copy=False) @ inverse
        seen = 0.5 * (seen + np.swapaxes(seen, -1, -2))
        return points_of(log_vectors(seen, owner).astype(matrices.dtype, copy=False))

    def _reference(self, shape: tuple[int, ...]) -> NDArray:
        owner = type(self).__name__
        if isinstance(self.reference, str):
            self._check_rule()
            raise ValueError(
                f"{owner}: reference='mean' depends on data and is not resolved; call .resolve(X) "
                "first or pass a matrix."
            )
        reference = np.asarray(self.reference, dtype=np.float64)
        if reference.shape != shape:
            raise ValueError(
                f"{owner}: the reference has shape {reference.shape}, but the samples have "
                f"{shape}; both must be the same."
            )
        return check_symmetric(reference[np.newaxis], f"{owner}: reference")[0]

    def _check_rule(self) -> None:
        if isinstance(self.reference, str) and self.reference != "mean":
            raise ValueError(
                f'{type(self).__name__}: reference must be "mean" or a positive definite matrix, '
                f"got {self.reference!r}."
            )

    def _placed(self, X: ArrayLike) -> Kernel:
        """A clone whose reference is a matrix."""
        self._check_rule()
        placed = clone(self)
        if isinstance(self.reference, str):
            mean = affine_mean(self.check(X).astype(np.float64), type(self).__name__)
            placed.set_params(reference=mean)
        return placed


class AffineInvariantGaussian(SquaredDistanceKernel, _TangentSpace):
    r"""Gaussian in the tangent space at the affine-invariant mean of SPD matrices.

    .. math:: k(X, Z) = \exp(-\gamma \|\log(M^{-1/2} X M^{-1/2}) - \log(M^{-1/2} Z M^{-1/2})\|_F^2)

    Positive definite for every positive gamma and every reference M. With the mean of the training
    samples as M it does not change when all samples become :math:`A X A'` with an invertible A:
    channels may be scaled and mixed. The Gaussian of the affine-invariant distance itself is not
    positive definite; the tangent space keeps its distances to M, and nearly those between samples
    close to M.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse squared width; the rules are one over the median or mean squared distance.
    reference : "mean" or array of shape (p, p) or (b, p, p), default="mean"
        The point M; "mean" is the affine-invariant (Karcher) mean, found by `resolve`.

    Notes
    -----
    Samples of several bands, (n, b, p, p), have one reference per band; squared distances are
    summed over bands.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([np.eye(2), np.e**2 * np.eye(2)])
    >>> AffineInvariantGaussian(gamma=0.5).resolve(X)(X).round(4)
    array([[1.    , 0.0183],
           [0.0183, 1.    ]])
    """

    def __init__(self, gamma: float | str = 1.0, reference: NDArray | str = "mean") -> None:
        self.gamma = gamma
        self.reference = reference

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with a matrix for `reference` and a number for `gamma`."""
        placed = self._placed(X)
        return placed.set_params(gamma=resolve_gamma(placed, self.gamma, X))


class AffineInvariantLinear(_TangentSpace):
    r"""Inner product in the tangent space at the affine-invariant mean of SPD matrices.

    .. math:: k(X, Z) = \mathrm{tr}(\log(M^{-1/2} X M^{-1/2}) \log(M^{-1/2} Z M^{-1/2}))

    Parameters
    ----------
    reference : "mean" or array of shape (p, p) or (b, p, p), default="mean"
        The point M; "mean" is the affine-invariant (Karcher) mean, found by `resolve`.

    Notes
    -----
    Samples of several bands, (n, b, p, p), have one reference per band; inner products are summed
    over bands. Invariance is that of :class:`AffineInvariantGaussian`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([np.eye(2), np.e**2 * np.eye(2)])
    >>> AffineInvariantLinear().resolve(X)(X).round(4)
    array([[ 2., -2.],
           [-2.,  2.]])
    """

    def __init__(self, reference: NDArray | str = "mean") -> None:
        self.reference = reference

    def statistic(self, P: Points, Q: Points) -> NDArray:
        """Inner products of tangent vectors, shape (n, m)."""
        return inner_products(P, Q)

    def diagonal_statistic(self, P: Points) -> NDArray:
        """Squared norms, shape (n,)."""
        return P.squared_norms.copy()

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the inner products themselves."""
        return S if overwrite else S.copy()

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with a matrix for `reference`."""
        return self._placed(X)
