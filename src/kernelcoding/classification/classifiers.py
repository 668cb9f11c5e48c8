"""Classifiers of codes once they are fitted: what they score and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import Codes, products

TOGETHER = 64  # rows of similarities that are looked at together


@dataclass(frozen=True, slots=True)
class LinearClassifier:
    """Scores ``y W + b``."""

    weights: NDArray  # (N, S)
    bias: NDArray  # (S,)
    penalty: float

    def scores(self, codes: Codes, similarity: NDArray | None = None) -> NDArray:
        """Scores of codes, (n, S)."""
        return np.asarray(codes @ self.weights) + self.bias

    def scaled(self, norms: NDArray) -> LinearClassifier:
        """The same scores for codes that were multiplied by these numbers."""
        weights = self.weights / np.where(norms > 0.0, norms, np.inf)[:, None]
        before = float(np.sum(self.weights**2))
        penalty = self.penalty * float(np.sum(weights**2)) / before if before > 0.0 else 0.0
        return LinearClassifier(weights, self.bias, penalty)

    def weighed(self, factor: float) -> LinearClassifier:
        """The same with another weight of its penalty."""
        return replace(self, penalty=factor * self.penalty)


@dataclass(frozen=True, slots=True)
class BilinearClassifier:
    r"""Scores :math:`\sum_z C_{zj} k(x, z)\,(y_z \cdot y) + b_j` over centres z with codes."""

    coefficients: NDArray  # (Z, S)
    centres: Codes  # (Z, N) codes of the centres
    bias: NDArray  # (S,)
    kernel: NDArray  # (Z, Z) similarities of the centres
    rate: float  # penalty of a unit of squared norm
    penalty: float

    @property
    def used(self) -> NDArray | slice:
        """Centres that scores look at: all, or the few that have coefficients."""
        some = np.flatnonzero(self.coefficients.any(axis=1))
        return some if 2 * len(some) < len(self.coefficients) else slice(None)

    def scores(self, codes: Codes, similarity: NDArray) -> NDArray:
        """Scores of codes, (n, S), from the similarities of samples and centres, (n, Z)."""
        used = self.used
        features = bilinear_features(codes, self.centres[used], similarity, used, self.kernel)
        return features @ self.coefficients[used] + self.bias

    def scaled(self, norms: NDArray) -> BilinearClassifier:
        """The same scores for codes that were multiplied by these numbers."""
        factors = 1.0 / np.where(norms > 0.0, norms, np.inf)
        centres = self.centres @ sparse.diags_array(factors)
        used = self.used
        agreements = products(centres[used], centres[used])
        kernel = self.kernel[used][:, used]
        penalty = self.rate * squared_norm(self.coefficients[used], agreements, kernel)
        return replace(self, centres=centres, penalty=penalty)

    def weighed(self, factor: float) -> BilinearClassifier:
        """The same with another weight of its penalty."""
        return replace(self, rate=factor * self.rate, penalty=factor * self.penalty)


Classifier = LinearClassifier | BilinearClassifier


def bilinear_features(
    codes: Codes,
    centres: Codes,
    similarity: NDArray,
    used: NDArray | slice,
    kernel: NDArray | None = None,
) -> NDArray:
    r"""Products :math:`k(x, z)\,(y_z \cdot y)` for codes y and centres z, (n, m).

    Parameters
    ----------
    codes : array or CSR array of shape (n, N)
    centres : array or CSR array of shape (m, N)
        Their codes.
    similarity : array of shape (n, Z)
    used : array of shape (m,), or slice(None)
        Which columns of the similarities belong to the centres.
    kernel : array, default=None
        Where the similarities are this matrix it is symmetric.
    """
    if similarity is kernel:  # its rows are read, which is much faster
        found = products(centres, codes)
        for start in range(0, len(found), TOGETHER):  # a copy of all would be as large
            some = slice(start, start + TOGETHER)
            found[some] *= similarity[some if isinstance(used, slice) else used[some]]
        return found.T
    return products(codes, centres) * similarity[:, used]


def squared_norm(coefficients: NDArray, agreements: NDArray, kernel: NDArray) -> float:
    r""":math:`\sum_j \|W_j\|^2` of a bilinear classifier."""
    return float(np.sum(coefficients * ((agreements * kernel) @ coefficients)))
