"""Kernels of symmetric positive definite matrices, samples (n, p, p) or (n, b, p, p)."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .base import FeatureNames, Kernel
from .checks import count_samples
from .pairs import Points, inner_products, mirror, points_of, require_same_width
from .radial import ExponentialKernel, SquaredDistanceKernel
from .spd_matrices import check_symmetric, cholesky_logdets, log_vectors
from .widths import pair_values, resolve_gamma

__all__ = ["LogEuclideanGaussian", "LogEuclideanLinear", "Stein"]

SMALLEST = 0.5  # admissible gamma, whatever the size
# Median similarity below which a kernel matrix is the identity to whoever uses it.
UNRELATED = 1e-3
FEW_SAMPLES = 50  # a thousand pairs tell a median similarity of 1e-3 from one of 0.4
PAIR_VALUES = 1 << 18  # matrix entries averaged at a time: 2 MB


class Determinants(NamedTuple):
    """SPD matrices with the logarithms of their determinants."""

    matrices: NDArray  # (n, p, p) or (n, b, p, p)
    logdets: NDArray  # (n,) float64, summed over bands


class LogEuclideanGaussian(SquaredDistanceKernel):
    r"""Log-Euclidean Gaussian :math:`k(X, Z) = \exp(-\gamma \|\log X - \log Z\|_F^2)`.

    Positive definite for every positive gamma.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=1.0
        Inverse squared width; the rules are one over the median or mean squared distance.

    Notes
    -----
    Matrix logarithms are taken once per stack, in float64; afterwards a pair costs a row of one
    matrix product, because the upper triangle with off-diagonal entries times sqrt(2) is a vector
    whose Euclidean norm is the Frobenius norm. Squared distances are summed over the bands of
    samples of shape (n, b, p, p).

    Examples
    --------
    >>> import numpy as np
    >>> LogEuclideanGaussian(gamma=0.5)(np.eye(2)[None], np.e * np.eye(2)[None]).round(4)
    array([[0.3679]])
    """

    input_ndim = 3

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as a stack of SPD matrices."""
        matrices = check_symmetric(X, type(self).__name__)
        cholesky_logdets(matrices, type(self).__name__)
        return matrices

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Points:
        """Return weighted upper triangles of the matrix logarithms."""
        matrices = check_symmetric(X, type(self).__name__)  # positivity is seen in the eigenvalues
        return points_of(log_vectors(matrices, type(self).__name__))


class LogEuclideanLinear(Kernel):
    r"""Log-Euclidean linear kernel :math:`k(X, Z) = \mathrm{tr}(\log X \log Z)`.

    Notes
    -----
    Samples of several bands, (n, b, p, p), have the sum over bands.

    Examples
    --------
    >>> import numpy as np
    >>> LogEuclideanLinear()(np.e * np.eye(2)[None], np.e**3 * np.eye(2)[None]).round(4)
    array([[6.]])
    """

    input_ndim = 3

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as a stack of SPD matrices."""
        matrices = check_symmetric(X, type(self).__name__)
        cholesky_logdets(matrices, type(self).__name__)
        return matrices

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Points:
        """Return weighted upper triangles of the matrix logarithms."""
        matrices = check_symmetric(X, type(self).__name__)
        return points_of(log_vectors(matrices, type(self).__name__))

    def statistic(self, P: Points, Q: Points) -> NDArray:
        """Inner products of the logarithms, shape (n, m)."""
        return inner_products(P, Q)

    def diagonal_statistic(self, P: Points) -> NDArray:
        """Squared norms of the logarithms, shape (n,)."""
        return P.squared_norms.copy()

    def profile(self, S: NDArray, *, overwrite: bool = False) -> NDArray:
        """Return the inner products themselves."""
        return S if overwrite else S.copy()


class Stein(ExponentialKernel):
    r"""Stein kernel :math:`k(X, Z) = \exp(-\gamma S(X, Z))` of the S-divergence.

    :math:`S(X, Z) = \log\det\frac{X + Z}{2} - \frac{1}{2}\log\det(XZ)`.

    Parameters
    ----------
    gamma : float, "median", "0.1*median" or "scale", default=0.5
        Positive definite only for gamma in {1/2, 1, ..., (p-1)/2} or above (p-1)/2 (Sra, 2016);
        other values are refused when samples are seen. The rules are one over the median or mean
        divergence, raised to the nearest admissible value.

    Warns
    -----
    UserWarning
        At ``fit``, where the median similarity of samples is below 0.001. Divergences grow with p,
        but the smallest admissible gamma does not fall: for matrices of 100 x 100, similarities
        of different samples can be 1e-6 at gamma=0.5, and a kernel of divergences over p would not
        be positive definite. ``LogEuclideanGaussian(gamma="median")`` has every width.

    Notes
    -----
    Divergences are summed over the bands of samples of shape (n, b, p, p).

    Learning keeps gamma above (p-1)/2, where every value is admissible.

    Examples
    --------
    >>> import numpy as np
    >>> Stein()(np.eye(2)[None], 4 * np.eye(2)[None]).round(4)
    array([[0.8]])
    """

    input_ndim = 3

    def __init__(self, gamma: float | str = 0.5) -> None:
        self.gamma = gamma

    def check(self, X: ArrayLike) -> NDArray:
        """Return X as a stack of SPD matrices."""
        matrices = check_symmetric(X, type(self).__name__)
        cholesky_logdets(matrices, type(self).__name__)
        return matrices

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> Determinants:
        """Return the matrices and their log-determinants; checks gamma against their size."""
        matrices = check_symmetric(X, type(self).__name__)
        self._check_admissible(matrices.shape[-1])
        return Determinants(matrices, cholesky_logdets(matrices, type(self).__name__))

    def statistic(self, P: Determinants, Q: Determinants) -> NDArray:
        """S-divergences, shape (n, m); each pair once when Q is P."""
        require_same_width(P.matrices, Q.matrices)
        alone = P is Q
        left, right = (part.matrices.astype(np.float64, copy=False) for part in (P, Q))
        divergence = np.zeros((len(left), len(right)))
        step = max(1, PAIR_VALUES // max(1, left[0].size if len(left) else 1))
        for row, matrix in enumerate(left):
            for start in range(row + 1 if alone else 0, len(right), step):
                means = 0.5 * (matrix + right[start : start + step])
                logdets = cholesky_logdets(means, type(self).__name__)
                logdets -= 0.5 * (P.logdets[row] + Q.logdets[start : start + step])
                divergence[row, start : start + step] = np.maximum(logdets, 0.0)
        if alone:
            mirror(divergence)
        return divergence.astype(np.result_type(P.matrices, Q.matrices), copy=False)

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with an admissible number for `gamma`."""
        gamma = resolve_gamma(self, self.gamma, X)
        size = np.shape(X)[-1]
        if isinstance(self.gamma, str) and gamma <= (size - 1) / 2:
            gamma = float(np.ceil(2 * gamma) / 2)
        resolved = clone(self).set_params(gamma=gamma)
        resolved._check_admissible(size)
        resolved._warn_if_unrelated(X, size)
        return resolved

    def _warn_if_unrelated(self, X: ArrayLike, size: int) -> None:
        """Say that no admissible gamma is small enough for matrices of this size."""
        divergence = float(
            np.median(pair_values(self, X, FEW_SAMPLES) if count_samples(X) > 1 else [0.0])
        )
        if np.exp(-SMALLEST * divergence) >= UNRELATED:  # a smaller gamma is the user's to choose
            return
        similarity = np.exp(-self._positive("gamma") * divergence)
        warnings.warn(
            f"Stein: gamma={self.gamma:g} makes the median similarity of these {size} x {size} "
            f"matrices {similarity:.2g}: all samples look unrelated. Divergences grow with the "
            "size of matrices, and no gamma below 0.5 gives a positive definite kernel (one over "
            f"their median is {1.0 / divergence:.2g}). Use "
            'LogEuclideanGaussian(gamma="median"), which has every width, or smaller matrices.',
            UserWarning,
            stacklevel=5,
        )

    def least_theta(self, X: NDArray) -> NDArray:
        """Above (p-1)/2 every gamma is admissible; a little above, so that rounding is no harm."""
        return np.log([max((X.shape[-1] - 1) / 2, 1e-300) * (1.0 + 1e-9)])

    def _check_admissible(self, size: int) -> None:
        if isinstance(self.gamma, str):  # a rule: `resolve` will make it admissible
            return
        gamma, limit = self._positive("gamma"), (size - 1) / 2
        if gamma <= limit and not (2 * gamma).is_integer():
            raise ValueError(
                f"Stein: gamma={gamma:g} gives no positive definite kernel of {size} x {size} "
                f"matrices; use one of {[j / 2 for j in range(1, size)]} or any number above "
                f"{limit:g}."
            )
