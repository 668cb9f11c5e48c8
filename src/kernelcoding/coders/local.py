"""Locality-constrained kernel coding: LLC and LCC."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..certificates import local_gap
from ..constraints import SumToOne
from ..formulation import Formulation
from ..priors import LocalCoordinate, Locality
from ..problem import row_sums
from ..solvers import local
from ..solvers.result import CodingResult
from .base import BaseKernelCoder, check_count, check_positive


class KernelLLC(BaseKernelCoder):
    r"""Kernel locality-constrained coding (kLLC): near atoms explain each sample.

    With ``n_neighbors`` (approximate LLC), the nearest atoms B in H and

    .. math:: \min_y \|\phi(x) - \Phi(B) y\|^2 + \beta\,\mathrm{tr}(C)\|y\|^2,
              \quad \mathbf 1^\top y = 1

    where C is the Gram matrix of :math:`\phi(d_j) - \phi(x)`; with ``n_neighbors=None`` (exact
    LLC), all atoms and a price that grows with distance:

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
        Growth of the price with distance (exact LLC only).
    alpha : float, default=0.01
        Weight of the price (exact LLC only).
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
    factorises one N x N matrix a sample.

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
        kernel="rbf",
        atoms=None,
        n_neighbors=5,
        sigma=1.0,
        alpha=0.01,
        regularization=1e-4,
        init="k-means++",
        learn_kernel=False,
        sparse_output=False,
        n_jobs=None,
        random_state=None,
    ):
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

    def _check_parameters(self):
        if self.n_neighbors is None:
            check_positive("alpha", self.alpha)
            check_positive("sigma", self.sigma)
            return
        check_count("n_neighbors", self.n_neighbors)
        if self.regularization != 0:
            check_positive("regularization", self.regularization)

    def _prepare_formulation(self, X, y):
        if self.n_neighbors is not None:
            self._check_neighbors()

    def formulation(self):
        """Prior, constraint and weight."""
        return Formulation(Locality(self.sigma), SumToOne(), self.alpha)

    def _codes_are_sparse(self):
        return self.n_neighbors is not None

    def encode(self, dictionary, X, options):
        """Code checked samples with any dictionary."""
        if self.n_neighbors is None:
            return super().encode(dictionary, X, options)
        near = dictionary.nearest(X, self.n_neighbors)
        codes = local.solve(
            near.self_similarity,
            near.indices,
            near.cross,
            dictionary.gram,
            self.regularization,
            n_jobs=options.n_jobs,
            sparse_output=options.sparse_output,
            trace=near.trace,
        )
        ones = np.ones(len(X), dtype=int)
        gap = self._gap(dictionary, X, codes) if options.certify else None
        return CodingResult(codes, gap, ones == 1, ones)

    def prior_value(self, problem, codes):
        """Exact LLC's price of distance, or half of approximate LLC's ridge."""
        if self.n_neighbors is None:
            return super().prior_value(problem, codes)
        rows, columns = codes.nonzero()
        distances = problem.self_similarity[rows] - 2.0 * problem.cross[rows, columns]
        distances += np.diag(problem.gram)[columns]
        trace = np.bincount(rows, np.maximum(distances, 0.0), minlength=problem.n_samples)
        return 0.5 * self.regularization * trace * row_sums(codes, codes)

    def distance_weights(self, problem, codes):
        """Twice the derivatives of :meth:`prior_value` in squared distances."""
        if self.n_neighbors is None:
            return super().distance_weights(problem, codes)
        used = sparse.csr_array(codes, copy=True)
        squares = self.regularization * row_sums(used, used)
        used.data = np.repeat(squares, np.diff(used.indptr))
        return used

    def _gap(self, dictionary, X, codes):
        if self.n_neighbors is None:
            return super()._gap(dictionary, X, codes)
        near = dictionary.nearest(X, self.n_neighbors)
        dense = codes.toarray() if sparse.issparse(codes) else codes
        return local_gap(near, dictionary.gram, self.regularization, dense)


class KernelLCC(BaseKernelCoder):
    r"""Kernel local coordinate coding (kLCC): sparse codes that pay for distance.

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(D) y\|^2
              + \alpha \sum_j |y_j|\,\|\phi(x) - \phi(d_j)\|^2, \quad \mathbf 1^\top y = 1

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, tol, max_iter, n_jobs, random_state
        As in :class:`KernelCoder`.
    alpha : float, default=0.01
        Weight of the price.

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
        kernel="rbf",
        atoms=None,
        alpha=0.01,
        init="k-means++",
        learn_kernel=False,
        sparse_output=False,
        tol=1e-6,
        max_iter=10_000,
        n_jobs=None,
        random_state=None,
    ):
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

    def _check_parameters(self):
        check_positive("alpha", self.alpha)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def formulation(self):
        """Prior, constraint and weight."""
        return Formulation(LocalCoordinate(), SumToOne(), self.alpha)
