"""The one form every built-in prior takes once it is bound to a problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .problem import Codes, row_sums


@dataclass(frozen=True, slots=True)
class Groups:
    """A partition of the atoms: ``labels[j]`` in 0..G-1, one weight a group."""

    labels: NDArray  # (N,) integers 0..G-1
    weights: NDArray  # (G,) >= 0

    def norms(self, points: NDArray) -> NDArray:
        """Euclidean norm of each group of each row, (n, G)."""
        members = sparse.csr_array(
            (np.ones(self.labels.size), (np.arange(self.labels.size), self.labels)),
            shape=(self.labels.size, self.weights.size),
        )
        return np.sqrt((points * points) @ members)


@dataclass(frozen=True, slots=True)
class Penalty:
    r"""Weighted l1, diagonal ridge and group norms.

    .. math:: p(y) = \sum_j l_j |y_j| + \tfrac12 \sum_j q_j y_j^2 + \sum_g w_g \|y_g\|_2

    ``l1`` and ``ridge`` have one row for all samples, or one row a sample, so that locality
    priors need no form of their own.
    """

    l1: NDArray  # (1, N) or (n, N), >= 0
    ridge: NDArray  # (1, N) or (n, N), >= 0
    groups: Groups | None = None

    def __mul__(self, alpha: float) -> Penalty:
        """The penalty times a non-negative number."""
        groups = self.groups and Groups(self.groups.labels, alpha * self.groups.weights)
        return Penalty(alpha * self.l1, alpha * self.ridge, groups)

    def take(self, rows: NDArray | slice) -> Penalty:
        """The penalty of fewer samples."""
        l1 = self.l1 if self.l1.shape[0] == 1 else self.l1[rows]
        ridge = self.ridge if self.ridge.shape[0] == 1 else self.ridge[rows]
        return Penalty(l1, ridge, self.groups)

    def value(self, codes: Codes) -> NDArray:
        """The penalty of each row, (n,)."""
        squares = codes.multiply(codes) if sparse.issparse(codes) else codes * codes
        total = row_sums(abs(codes), self.l1) + 0.5 * row_sums(squares, self.ridge)
        if self.groups is not None:
            dense = codes.toarray() if sparse.issparse(codes) else codes
            total = total + self.groups.norms(dense) @ self.groups.weights
        return total

    def of_single_atoms(self) -> NDArray:
        """The penalty of every unit code (one atom, weight one), (1, N) or (n, N)."""
        single = self.l1 + 0.5 * self.ridge
        return single if self.groups is None else single + self.groups.weights[self.groups.labels]

    def prox(self, points: NDArray, scale: float) -> NDArray:
        r"""Proximal map :math:`\arg\min_y \tfrac12\|y - v\|^2 + t\,p(y)` of each row.

        With groups the ridge must be constant inside each group: only then is the map of the sum
        the group shrinkage of the soft-thresholded point.
        """
        shrunk = np.sign(points) * np.maximum(np.abs(points) - scale * self.l1, 0.0)
        if self.groups is not None:
            norms = self.groups.norms(shrunk)
            kept = np.maximum(norms - scale * self.groups.weights, 0.0)
            factors = np.divide(kept, norms, out=np.zeros_like(norms), where=norms > 0)
            shrunk = shrunk * factors[:, self.groups.labels]
        return shrunk / (1.0 + scale * self.ridge)

    def gauge(self, vectors: NDArray, *, one_sided: bool = False) -> NDArray:
        r"""Smallest :math:`\tau` with :math:`v \in \tau\,\partial p(0)` for the norm part, (n,).

        This is the dual norm of the l1 and group terms (infinite where a coordinate without
        weight has :math:`v_j \ne 0`). ``one_sided`` is the gauge under :math:`y \ge 0`, where
        only positive entries count.
        """
        size = np.maximum(vectors, 0.0) if one_sided else np.abs(vectors)
        if self.groups is None:
            return _ratios(size, self.l1).max(axis=1)
        if not np.any(self.l1):
            return _ratios(self.groups.norms(size), self.groups.weights).max(axis=1)
        return self._sparse_group_gauge(size)

    def _sparse_group_gauge(self, size: NDArray) -> NDArray:
        """Bisection on tau: the norm of the part above ``tau * l1`` falls as tau grows."""
        assert self.groups is not None
        labels, weights = self.groups.labels, self.groups.weights
        # A tau for which one of the two terms alone is enough, whatever the other does.
        by_group = _ratios(self.groups.norms(size), weights)
        by_atom = np.zeros_like(by_group)
        np.maximum.at(by_atom.T, labels, _ratios(size, self.l1).T)
        high = np.minimum(by_group, by_atom)
        low = np.zeros_like(high)
        high[~np.isfinite(high)] = np.inf
        for _ in range(60):
            middle = 0.5 * (low + high)
            middle[~np.isfinite(middle)] = 0.0
            above = np.maximum(size - middle[:, labels] * self.l1, 0.0)
            fits = self.groups.norms(above) <= middle * weights
            high, low = np.where(fits, middle, high), np.where(fits, low, middle)
        return high.max(axis=1)


def _ratios(numerator: NDArray, denominator: NDArray) -> NDArray:
    """Quotients with 0/0 = 0 and positive/0 = infinity."""
    denominator = np.broadcast_to(denominator, numerator.shape)
    endless = np.where(numerator > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):  # infinity is then the answer, too
        return np.divide(numerator, denominator, out=endless, where=denominator > 0)
