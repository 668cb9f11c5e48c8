r"""Priors :math:`r(y)`: what a code should look like.

A built-in prior is a description; :meth:`Prior.bind` turns it into the numbers of a
:class:`~kernelcoding.penalty.Penalty`, once the problem (atoms, distances) is known. A prior of
your own needs ``value(codes)`` and ``prox(points, scale)`` only; see :class:`CustomPrior`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .codes import Codes, dense
from .component import Component
from .penalty import CustomPrior, Groups, Penalty
from .problem import CodingProblem
from .validation import check_ratio, check_weights

__all__ = [
    "L1",
    "CustomPrior",
    "ElasticNet",
    "GroupL1",
    "LocalCoordinate",
    "Locality",
    "NoPrior",
    "Prior",
    "Ridge",
    "SparseGroupL1",
    "WeightedL1",
]

# An atom penalised beyond exp(100) is out of reach; a larger number only spoils the arithmetic.
LARGEST_EXPONENT = 100.0


class Prior(Component):
    r"""A built-in prior :math:`r(y; x, D)`, weighed by ``alpha`` in a coder.

    Every built-in prior becomes numbers once samples and atoms are known (:meth:`bind`):

    .. math:: r(y) = \sum_j l_j |y_j| + \tfrac12 \sum_j q_j y_j^2 + \sum_g w_g \|y_g\|_2
    """

    kind = "sparse"  # the row of the solver table: "quadratic", "sparse" or "group"

    def bind(self, problem: CodingProblem) -> Penalty:
        """The prior as numbers, for these samples and this dictionary."""
        raise NotImplementedError

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        r"""Twice the derivatives of r in the squared distances of samples and atoms, (n, N).

        With these weights h, the gradient of r in atom j is
        :math:`\sum_i h_{ij}(\phi(d_j) - \phi(x_i))`. None where r looks at no distance.
        """
        return None


class FixedPrior(Prior):
    """A prior that does not look at the samples: it has a value of its own."""

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        raise NotImplementedError

    def bind(self, problem: CodingProblem) -> Penalty:
        """The prior as numbers, for these samples and this dictionary."""
        return self.for_atoms(problem.n_atoms)

    def restricted(self, atoms: NDArray) -> FixedPrior:
        """The prior for some of the atoms."""
        return self

    def value(self, codes: Codes) -> NDArray:
        """R of each row, (n,)."""
        return self.for_atoms(codes.shape[1]).value(codes)

    def prox(self, points: NDArray, scale: float) -> NDArray:
        r"""Each row's :math:`\arg\min_y \tfrac12\|y - v\|^2 + t\,r(y)`, (n, N)."""
        return self.for_atoms(points.shape[1]).prox(points, scale)


def _constant(value: float, n_atoms: int) -> NDArray:
    return np.full((1, n_atoms), float(value))


class NoPrior(FixedPrior):
    r"""No preference, :math:`r(y) = 0`.

    Notes
    -----
    Free codes, and those that sum to one, are least squares, the shortest where there are many.
    Directions in which the Gram matrix is zero up to rounding are left out; a ConvergenceWarning
    tells when a code could have been better by more than its tolerance with them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import NoPrior
    >>> NoPrior().value(np.array([[3.0, -4.0]]))
    array([0.])
    """

    kind = "quadratic"

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        return Penalty(_constant(0, n_atoms), _constant(0, n_atoms))


class Ridge(FixedPrior):
    r"""Small codes, :math:`r(y) = \tfrac12\|y\|_2^2`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import Ridge
    >>> Ridge().value(np.array([[3.0, -4.0]]))
    array([12.5])
    """

    kind = "quadratic"

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        return Penalty(_constant(0, n_atoms), _constant(1, n_atoms))


class L1(FixedPrior):
    r"""Sparse codes, :math:`r(y) = \|y\|_1`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import L1
    >>> L1().prox(np.array([[3.0, -0.5, 1.0]]), 1.0)
    array([[ 2., -0.,  0.]])
    """

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        return Penalty(_constant(1, n_atoms), _constant(0, n_atoms))

    def dual_norm(self, vectors: NDArray) -> NDArray:
        """Largest absolute entry of each row, (n,)."""
        return self.for_atoms(vectors.shape[1]).gauge(vectors)


class WeightedL1(FixedPrior):
    r"""Sparse codes with a weight for each atom, :math:`r(y) = \sum_j w_j |y_j|`.

    Parameters
    ----------
    weights : array-like of shape (N,)
        Non-negative; an atom of weight zero is free.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import WeightedL1
    >>> WeightedL1([1.0, 0.5]).value(np.array([[3.0, -4.0]]))
    array([5.])
    """

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = weights

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        weights = check_weights("weights", self.weights, n_atoms, "atom")
        return Penalty(weights[None, :], _constant(0, n_atoms))

    def restricted(self, atoms: NDArray) -> FixedPrior:
        """The prior for some of the atoms."""
        return WeightedL1(np.asarray(self.weights)[atoms])

    def dual_norm(self, vectors: NDArray) -> NDArray:
        """Largest weighted entry :math:`|v_j| / w_j` of each row, (n,)."""
        return self.for_atoms(vectors.shape[1]).gauge(vectors)


class ElasticNet(FixedPrior):
    r"""Sparse and small, :math:`r(y) = \rho\|y\|_1 + \tfrac{1-\rho}{2}\|y\|_2^2`.

    Parameters
    ----------
    l1_ratio : float in [0, 1]
        :math:`\rho`, scikit-learn's name.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import ElasticNet
    >>> ElasticNet(l1_ratio=0.8).value(np.array([[3.0, -4.0]]))
    array([8.1])
    """

    def __init__(self, l1_ratio: float = 0.5) -> None:
        self.l1_ratio = l1_ratio

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        ratio = check_ratio(self.l1_ratio)
        return Penalty(_constant(ratio, n_atoms), _constant(1.0 - ratio, n_atoms))


class GroupL1(FixedPrior):
    r"""Few groups of atoms, :math:`r(y) = \sum_g w_g \|y_g\|_2`.

    Parameters
    ----------
    groups : array-like of shape (N,)
        A label for each atom (any labels: integers, strings, classes).
    weights : array-like of shape (G,), default=None
        One weight per group, in the order of the sorted labels; None takes the square root of the
        group's size, so that large groups are not favoured.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import GroupL1
    >>> GroupL1(["a", "a", "b"], weights=[1.0, 2.0]).value(np.array([[3.0, -4.0, 1.0]]))
    array([7.])
    """

    kind = "group"

    def __init__(self, groups: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.groups = groups
        self.weights = weights

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        return Penalty(
            _constant(0, n_atoms), _constant(0, n_atoms), _bind_groups(self, n_atoms, 1.0)
        )

    def restricted(self, atoms: NDArray) -> FixedPrior:
        """The prior for some of the atoms."""
        return GroupL1(*_some_groups(self, atoms))

    def dual_norm(self, vectors: NDArray) -> NDArray:
        """Largest weighted group norm of each row, (n,)."""
        return self.for_atoms(vectors.shape[1]).gauge(vectors)


class SparseGroupL1(FixedPrior):
    r"""Few groups, few atoms in each.

    .. math:: r(y) = \rho\|y\|_1 + (1 - \rho) \sum_g w_g \|y_g\|_2

    Parameters
    ----------
    groups, weights
        As in :class:`GroupL1`.
    l1_ratio : float in [0, 1]
        :math:`\rho`; 0 is the group prior, 1 the l1 prior.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.priors import SparseGroupL1
    >>> prior = SparseGroupL1(["a", "a", "b"], 0.5, weights=[1.0, 2.0])
    >>> prior.value(np.array([[3.0, -4.0, 1.0]]))
    array([7.5])
    """

    kind = "group"

    def __init__(
        self, groups: ArrayLike, l1_ratio: float = 0.5, weights: ArrayLike | None = None
    ) -> None:
        self.groups = groups
        self.l1_ratio = l1_ratio
        self.weights = weights

    def for_atoms(self, n_atoms: int) -> Penalty:
        """The prior as numbers, for a dictionary of this size."""
        ratio = check_ratio(self.l1_ratio)
        groups = _bind_groups(self, n_atoms, 1.0 - ratio)
        return Penalty(_constant(ratio, n_atoms), _constant(0, n_atoms), groups)

    def restricted(self, atoms: NDArray) -> FixedPrior:
        """The prior for some of the atoms."""
        groups, weights = _some_groups(self, atoms)
        return SparseGroupL1(groups, self.l1_ratio, weights)

    def dual_norm(self, vectors: NDArray) -> NDArray:
        """Gauge of each row in the polar of the unit ball, (n,)."""
        return self.for_atoms(vectors.shape[1]).gauge(vectors)


class Locality(Prior):
    r"""Far atoms are penalised exponentially more (LLC), :math:`r(y; x, D) = \|E y\|_2^2`.

    .. math:: E_{jj} = \exp\Bigl(\sigma\,\frac{\|\phi(x) - \phi(d_j)\|}
              {\max_i \|\phi(x) - \phi(d_i)\|}\Bigr)

    Distances are divided by the largest of the row before they are exponentiated, so that
    :math:`\sigma` has no unit and nothing overflows.

    Parameters
    ----------
    sigma : float, default=1.0
        How fast the penalty grows with distance.

    Notes
    -----
    Section "Locality-Constrained Kernel Coding" of the paper, whose kernel form prints
    :math:`\exp(-\sigma\cdot)`: the sign would reward far atoms.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> coder = kc.KernelLLC("rbf", n_neighbors=None, sigma=5.0, alpha=0.01)  # has this prior
    >>> near, far = coder.fit([[0.0], [1.0]]).transform([[0.2]])[0]
    >>> bool(abs(near) > 2 * abs(far))
    True
    """

    kind = "quadratic"

    def __init__(self, sigma: float = 1.0) -> None:
        self.sigma = sigma

    def bind(self, problem: CodingProblem) -> Penalty:
        """The prior as numbers, for these samples and this dictionary."""
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ValueError(f"sigma must be a positive number, got {self.sigma!r}.")
        # In double precision: single ends at exp(88).
        distances = np.sqrt(problem.squared_distances().astype(np.float64, copy=False))
        largest = distances.max(axis=1, keepdims=True)
        relative = distances / np.where(largest > 0, largest, 1.0)
        exponent = np.minimum(2.0 * self.sigma * relative, LARGEST_EXPONENT)
        # alpha * r = alpha * e^2 y^2 = 1/2 (2 alpha e^2) y^2: the ridge carries the factor two.
        return Penalty(_constant(0, problem.n_atoms), 2.0 * np.exp(exponent))

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives in squared distances: a far atom changes the penalty of all."""
        return self.weights_of_squares(problem, dense(codes) ** 2)

    def weights_of_squares(self, problem: CodingProblem, squares: NDArray) -> NDArray:
        r"""The same from numbers in the place of :math:`y_j^2`, in which it is linear, (n, N)."""
        distances = np.sqrt(problem.squared_distances())
        rows = np.arange(len(distances))
        farthest = distances.argmax(axis=1)
        unit = np.where(distances.any(axis=1), distances[rows, farthest], 1.0)[:, None]
        relative = distances / unit
        exponent = np.minimum(2.0 * self.sigma * relative, LARGEST_EXPONENT)
        slopes = 2.0 * self.sigma * squares * np.exp(exponent)  # in the relative distance
        changes = slopes.copy()
        changes[rows, farthest] -= np.sum(slopes * relative, axis=1)
        # A sample that is the atom pulls nowhere: the penalty has a kink there.
        return np.where(relative > 1e-8, changes / (np.maximum(relative, 1e-8) * unit**2), 0.0)


class LocalCoordinate(Prior):
    r"""Sparse codes, penalised by the distances of their atoms (LCC).

    .. math:: r(y; x, D) = \sum_j |y_j|\,\|\phi(x) - \phi(d_j)\|^2

    Examples
    --------
    >>> import kernelcoding as kc
    >>> coder = kc.KernelLCC("rbf", alpha=0.1)  # has this prior
    >>> near, far = coder.fit([[0.0], [1.0]]).transform([[0.2]])[0]
    >>> bool(near > 2 * far)
    True
    """

    def bind(self, problem: CodingProblem) -> Penalty:
        """The prior as numbers, for these samples and this dictionary."""
        return Penalty(problem.squared_distances(), _constant(0, problem.n_atoms), by_distance=True)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives in squared distances."""
        return 2.0 * abs(codes)


def _some_groups(prior: GroupL1 | SparseGroupL1, atoms: NDArray) -> tuple[NDArray, NDArray | None]:
    """Labels of some atoms, and the weights of the groups that are left."""
    groups = np.asarray(prior.groups)
    if prior.weights is None:
        return groups[atoms], None
    left = np.isin(np.unique(groups), groups[atoms])
    return groups[atoms], np.asarray(prior.weights)[left]


def _bind_groups(prior: GroupL1 | SparseGroupL1, n_atoms: int, scale: float) -> Groups:
    labels = np.asarray(prior.groups)
    if labels.shape != (n_atoms,):
        raise ValueError(
            f"groups must give one label to each atom: expected shape ({n_atoms},), "
            f"got {labels.shape}."
        )
    names, members, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if prior.weights is None:
        return Groups(members, scale * np.sqrt(sizes))
    return Groups(members, scale * check_weights("weights", prior.weights, names.size, "group"))
