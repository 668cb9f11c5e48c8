"""Locality-constrained kernel coding: LLC and LCC."""

from __future__ import annotations

import numpy as np

from ..constraints import SumToOne
from ..formulations import Formulation, NeighbourFit, Penalised
from ..kernel_learning import KernelLearning
from ..kernels.names import KernelLike
from ..priors import LocalCoordinate, Locality
from ..validation import check_count, check_positive
from .base import AtomsLike, BaseKernelCoder


class KernelLLC(BaseKernelCoder):
    r"""Kernel locality-constrained coding (kLLC): near atoms explain each sample.

    With ``n_neighbors`` (approximate LLC), the nearest atoms B in H and

    .. math:: \min_y \|\phi(x) - \Phi(B) y\|^2 + \beta\,\mathrm{tr}(C)\|y\|^2,
              \quad \mathbf 1^\top y = 1

    where C is the Gram matrix of :math:`\phi(d_j) - \phi(x)`; with ``n_neighbors=None`` (exact
    LLC), all atoms and a penalty that grows with distance:

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(D) y\|^2 + \alpha\|E y\|^2,
              \quad \mathbf 1^\top y = 1

    with :math:`E_{jj} = \exp(\sigma\,\mathrm{dist}_j / \max_i \mathrm{dist}_i)`.

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, n_jobs, random_state
        As in :class:`KernelCoder`.
    n_neighbors : int, default=5
        Number of nearest atoms; None is exact LLC. More than there are atoms means all.
    sigma : float, default=1.0
        Growth of the penalty with distance (exact LLC only).
    alpha : float, default=0.01
        Weight of the penalty (exact LLC only).
    regularization : float, default=1e-4
        :math:`\beta`, the ridge relative to the trace of C (approximate LLC only); 0 is allowed.

    Attributes
    ----------
    kernel_, dictionary_
        As in :class:`KernelCoder`.

    Notes
    -----
    Section "Locality-Constrained Kernel Coding" of the paper, with its sign and normalisation
    corrected. A sample that equals all its neighbours is coded by the nearest one. Exact LLC
    factorises one N x N matrix per sample.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelLLC
    >>> X, _ = load_digits(return_X_y=True)
    >>> codes = KernelLLC(n_neighbors=5).fit(X[:100]).transform(X[100:110])
    >>> bool(abs(codes.sum(axis=1) - 1).max() < 1e-12)
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        n_neighbors: int | None = 5,
        sigma: float = 1.0,
        alpha: float = 0.01,
        regularization: float = 1e-4,
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        sparse_output: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.alpha = alpha
        self.regularization = regularization
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.n_neighbors is None:
            check_positive("alpha", self.alpha)
            check_positive("sigma", self.sigma)
            return
        check_count("n_neighbors", self.n_neighbors)
        if self.regularization != 0:
            check_positive("regularization", self.regularization)

    def formulation(self) -> Formulation:
        """A fit to the neighbours, or the locality prior over all atoms."""
        if self.n_neighbors is None:
            return Penalised(Locality(self.sigma), SumToOne(), self.alpha)
        return NeighbourFit(self.n_neighbors, self.regularization)


class KernelLCC(BaseKernelCoder):
    r"""Kernel local coordinate coding (kLCC): sparse codes of near atoms.

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(D) y\|^2
              + \alpha \sum_j |y_j|\,\|\phi(x) - \phi(d_j)\|^2, \quad \mathbf 1^\top y = 1

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, tol, max_iter, n_jobs, random_state
        As in :class:`KernelCoder`.
    alpha : float, default=0.01
        Weight of the penalty.

    Attributes
    ----------
    kernel_, dictionary_
        As in :class:`KernelCoder`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelLCC
    >>> X, _ = load_digits(return_X_y=True)
    >>> coder = KernelLCC(alpha=0.1).fit(X[:100])
    >>> codes = coder.transform(X[100:110])
    >>> bool(coder.certify(X[100:110], codes).max() < 1e-6)
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        alpha: float = 0.01,
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        sparse_output: bool = False,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.alpha = alpha
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def formulation(self) -> Penalised:
        """Prior, constraint and weight."""
        return Penalised(LocalCoordinate(), SumToOne(), self.alpha)
