"""The one form every built-in prior takes once it is bound to a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .codes import Codes, dense, is_csr, row_sums


@dataclass(frozen=True, slots=True)
class Groups:
    """A partition of the atoms: ``labels[j]`` in 0..G-1, one weight per group."""

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

    ``l1`` and ``ridge`` have one row for all samples, or one row per sample, so that locality
    priors need no form of their own.
    """

    l1: NDArray  # (1, N) or (n, N), >= 0
    ridge: NDArray  # (1, N) or (n, N), >= 0
    groups: Groups | None = None
    by_distance: bool = False  # whether an atom that is the sample has no l1 weight

    def __mul__(self, alpha: float) -> Penalty:
        """The penalty times a non-negative number."""
        groups = self.groups and Groups(self.groups.labels, alpha * self.groups.weights)
        return Penalty(alpha * self.l1, alpha * self.ridge, groups, self.by_distance)

    @property
    def is_zero(self) -> bool:
        """Whether every code costs nothing."""
        free = self.groups is None or not np.any(self.groups.weights)
        return free and not np.any(self.l1) and not np.any(self.ridge)

    @property
    def is_plain_l1(self) -> bool:
        """Whether it is a multiple of the l1 norm, and not zero."""
        alone = self.groups is None and not np.any(self.ridge)
        return alone and bool(np.all(self.l1 == self.l1[0, 0])) and bool(self.l1[0, 0] > 0)

    def take(self, rows: NDArray | slice) -> Penalty:
        """The penalty of fewer samples."""
        l1 = self.l1 if self.l1.shape[0] == 1 else self.l1[rows]
        ridge = self.ridge if self.ridge.shape[0] == 1 else self.ridge[rows]
        return Penalty(l1, ridge, self.groups, self.by_distance)

    def value(self, codes: Codes) -> NDArray:
        """The penalty of each row, (n,)."""
        total = np.zeros(codes.shape[0])
        if np.any(self.l1):
            total += row_sums(abs(codes), self.l1)
        if np.any(self.ridge):
            squares = codes.multiply(codes) if is_csr(codes) else codes * codes
            total += 0.5 * row_sums(squares, self.ridge)
        if self.groups is not None:
            total = total + self.groups.norms(dense(codes)) @ self.groups.weights
        return total

    def of_single_atoms(self, n_atoms: int) -> NDArray:
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


@runtime_checkable
class CustomPrior(Protocol):
    """What a convex prior of your own must offer; codes are rows of shape (n, N).

    Examples
    --------
    Entries of at most one half, as the indicator of a box:

    >>> import numpy as np
    >>> import kernelcoding as kc
    >>> class Box:
    ...     def value(self, codes):
    ...         return np.where(np.abs(codes).max(axis=1) <= 0.5 + 1e-9, 0.0, np.inf)
    ...
    ...     def prox(self, points, scale):
    ...         return np.clip(points, -0.5, 0.5)
    >>> coder = kc.KernelCoder("rbf", prior=Box(), constraint=kc.constraints.Free())
    >>> codes = coder.fit([[0.0], [1.0], [2.0]]).transform([[0.2]])
    >>> float(codes.max())
    0.5
    """

    def value(self, codes: NDArray) -> NDArray:
        """R of each row, (n,)."""

    def prox(self, points: NDArray, scale: float) -> NDArray:
        r"""Each row's :math:`\arg\min_y \tfrac12\|y - v\|^2 + t\,r(y)`, (n, N)."""


@dataclass(frozen=True, slots=True)
class CustomPenalty:
    """A user's own prior times its weight: a value and a proximal map, no dual."""

    prior: CustomPrior
    alpha: float

    def take(self, rows: NDArray | slice) -> CustomPenalty:
        """The penalty of fewer samples: it looks at none."""
        return self

    def value(self, codes: Codes) -> NDArray:
        """The penalty of each row, (n,)."""
        return self.alpha * np.asarray(self.prior.value(dense(codes)))

    def of_single_atoms(self, n_atoms: int) -> NDArray:
        """The penalty of every unit code (one atom, weight one), (N,)."""
        return self.alpha * np.asarray(self.prior.value(np.eye(n_atoms)))

    def prox(self, points: NDArray, scale: float) -> NDArray:
        """Proximal map of each row."""
        return self.prior.prox(points, scale * self.alpha)


AnyPenalty = Penalty | CustomPenalty


def constrained_prox(
    penalty: AnyPenalty, points: NDArray, scale: float, sum_to_one: bool
) -> NDArray:
    r"""Proximal map of a penalty, on free codes or on codes that sum to one.

    "Prox, then project" is not the map of a sum. With :math:`\mathbf 1^\top y = 1` it is the
    penalty's own map at :math:`v - \mu\mathbf 1`, whose sum falls as :math:`\mu` grows: the
    right multiplier is found by bisection, row by row.
    """
    if not sum_to_one:
        return penalty.prox(points, scale)
    low = (points.sum(axis=1) - 1.0) / points.shape[1]  # right when the penalty is zero
    high = low.copy()
    width = np.ones(len(points))
    for _ in range(60):  # bracket: shrinkage towards zero can move the root either way
        too_small = penalty.prox(points - low[:, None], scale).sum(axis=1) < 1.0
        too_large = penalty.prox(points - high[:, None], scale).sum(axis=1) > 1.0
        if not (too_small.any() or too_large.any()):
            break
        low = np.where(too_small, low - width, low)
        high = np.where(too_large, high + width, high)
        width *= 2.0
    middle = 0.5 * (low + high)
    while np.any((low < middle) & (middle < high)):  # until no number lies between
        above = penalty.prox(points - middle[:, None], scale).sum(axis=1) > 1.0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        middle = 0.5 * (low + high)
    return penalty.prox(points - middle[:, None], scale)


def _ratios(numerator: NDArray, denominator: NDArray) -> NDArray:
    """Quotients with 0/0 = 0 and positive/0 = infinity."""
    denominator = np.broadcast_to(denominator, numerator.shape)
    endless = np.where(numerator > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):  # infinity is then the answer, too
        return np.divide(numerator, denominator, out=endless, where=denominator > 0)
