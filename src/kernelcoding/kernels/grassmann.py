"""Kernels of subspaces, given by orthonormal bases of shape (n, p, q)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import Kernel
from .checks import check_stack, tolerance
from .pairs import mirror
from .radial import ExponentialKernel

__all__ = ["Projection", "ProjectionGaussian"]

PRODUCT_VALUES = 1 << 18  # entries of the X'Z blocks held at a time: 2 MB


def overlaps(left: NDArray, right: NDArray, alone: bool) -> NDArray:
    r"""Squared Frobenius norms :math:`\|X_i'Z_j\|_F^2`, shape (n, m)."""
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"expected subspaces of one space, got bases of R^{left.shape[1]} and "
            f"R^{right.shape[1]}; describe both stacks by the same features."
        )
    (n, p, q), (m, _, r) = left.shape, right.shape
    columns = np.ascontiguousarray(right.transpose(1, 0, 2)).reshape(p, m * r)
    values = np.empty((n, m), dtype=np.result_type(left, right))
    step = max(1, PRODUCT_VALUES // max(1, q * m * r))
    for start in range(0, n, step):
        block = left[start : start + step]
        products = np.dot(block.transpose(0, 2, 1).reshape(-1, p), columns)
        products *= products
        products.reshape(len(block), q, m, r).sum(axis=(1, 3), out=values[start : start + step])
    return mirror(values) if alone else values


class _Subspaces(Kernel):
    """Samples are orthonormal bases; a prepared stack is a tuple with the checked array."""

    input_ndim = 3

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as a stack of bases with orthonormal columns."""
        name = type(self).__name__
        bases = check_stack(X, 3, "(n, p, q)", name)
        gram = bases.transpose(0, 2, 1) @ bases
        error = np.abs(gram - np.eye(bases.shape[2], dtype=bases.dtype))
        if error.size and error.max() > tolerance(bases):
            raise ValueError(
                f"{name} expected bases with orthonormal columns, X'X differs from the identity "
                f"by {error.max():.3g}; use np.linalg.qr(X)[0]."
            )
        return bases

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> tuple[NDArray]:
        """Return the checked bases."""
        return (self.check(X),)


class Projection(_Subspaces):
    r"""Projection kernel :math:`k(X, Z) = \|X'Z\|_F^2` of the subspaces spanned by X and Z.

    Examples
    --------
    >>> import numpy as np
    >>> Projection()(np.eye(3)[None, :, :2], np.eye(3)[None, :, 1:])
    array([[1.]])
    """

    def statistic(self, P: tuple[NDArray], Q: tuple[NDArray]) -> NDArray:
        """Squared Frobenius norms of X'Z, shape (n, m)."""
        return overlaps(P[0], Q[0], P is Q)

    def diagonal_statistic(self, P: tuple[NDArray]) -> NDArray:
        """Squared Frobenius norms of X'X: q up to rounding, shape (n,)."""
        gram = P[0].transpose(0, 2, 1) @ P[0]
        return np.square(gram).sum(axis=(1, 2))

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the statistic itself."""
        return S if overwrite else S.copy()


class ProjectionGaussian(ExponentialKernel, _Subspaces):
    r"""Gaussian of subspaces :math:`k(X, Z) = \exp(-\gamma (q - \|X'Z\|_F^2))`.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse squared width; the rules are one over the median or mean statistic.

    Notes
    -----
    The statistic :math:`q - \|X'Z\|_F^2` is half the squared projection metric
    :math:`\|XX' - ZZ'\|_F^2`, that is the sum of squared sines of the principal angles.

    Examples
    --------
    >>> import numpy as np
    >>> ProjectionGaussian()(np.eye(3)[None, :, :2], np.eye(3)[None, :, 1:]).round(4)
    array([[0.3679]])
    """

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    def statistic(self, P: tuple[NDArray], Q: tuple[NDArray]) -> NDArray:
        """Sums of squared sines of the principal angles, shape (n, m)."""
        if P[0].shape[2] != Q[0].shape[2]:
            raise ValueError(
                "ProjectionGaussian expected subspaces of one dimension, got "
                f"{P[0].shape[2]} and {Q[0].shape[2]}; use Projection for mixed dimensions."
            )
        sines = overlaps(P[0], Q[0], P is Q)
        np.subtract(P[0].shape[2], sines, out=sines)
        np.maximum(sines, 0.0, out=sines)
        if P is Q:
            np.fill_diagonal(sines, 0.0)
        return sines
