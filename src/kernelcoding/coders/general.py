"""The general coder: any prior, any constraint."""

from __future__ import annotations

import numpy as np

from ..constraints import Constraint, Simplex
from ..formulations import Penalised
from ..kernel_learning import KernelLearning
from ..kernels.names import KernelLike
from ..penalty import CustomPrior
from ..priors import L1, LocalCoordinate, Prior
from ..validation import check_count, check_positive
from .base import AtomsLike, BaseKernelCoder


class KernelCoder(BaseKernelCoder):
    r"""Coding in Hilbert space with a prior and a constraint of your choice.

    .. math:: \min_{y \in C} \tfrac12\|\phi(x) - \Phi(D) y\|^2 + \alpha\, r(y; x, D)

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name as in scikit-learn, an object of ``kernelcoding.kernels``, or a vectorised
        function ``f(X, Z) -> (n, m)``. Names take data-driven widths: ``"rbf"`` is
        ``Gaussian(gamma="median")``.
    atoms : None, int, array or Dictionary, default=None
        Every training sample, that many chosen by ``init``, these points (training indices with
        a precomputed kernel), or a dictionary made elsewhere.
    prior : object of ``kernelcoding.priors``, default=None
        None is ``L1()``, and ``LocalCoordinate()`` on the simplex, where the l1 norm is one for
        every code and alpha would weigh nothing. Your own needs ``value(codes)`` and
        ``prox(points, scale)``.
    constraint : object of ``kernelcoding.constraints``, default=None
        None is ``Simplex()``.
    alpha : float, default=0.01
        Weight of the prior.
    init : {"k-means++", "random", "leverage", "greedy", "kernel-k-means"}, default="k-means++"
        How an integer number of atoms is chosen: spread in H, at random, samples that others do
        not explain, or means of clusters.
    learn_kernel : bool or KernelLearning, default=False
        Learn the kernel's parameters, starting from the given ones; see
        :class:`kernelcoding.KernelLearning`.
    sparse_output : bool, default=False
        Return codes as a CSR array.
    tol : float, default=1e-6
        Optimality conditions hold to this fraction of the prior's weight.
    max_iter : int, default=10000
        Iteration limit for each sample.
    n_jobs : int, default=None
        Number of threads; None is one, -1 is all.
    random_state : int, RandomState or None, default=0
        For ``init`` (and the folds of ``learn_kernel``); None draws anew in every fit.

    Attributes
    ----------
    kernel_ : Kernel
        With its parameters resolved on the training data.
    dictionary_ : Dictionary
        ``gram`` of shape (N, N) and ``cross(X)`` of shape (n, N).

    Notes
    -----
    Section "Kernel Coding" of the paper, whose weight :math:`\gamma` is :math:`2\alpha`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelCoder
    >>> from kernelcoding.constraints import Simplex
    >>> from kernelcoding.priors import NoPrior
    >>> X, _ = load_digits(return_X_y=True)
    >>> coder = KernelCoder(prior=NoPrior(), constraint=Simplex(), atoms=20, random_state=0)
    >>> coder.fit_transform(X[:100]).sum(axis=1).round(6).min()
    np.float64(1.0)
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        prior: Prior | CustomPrior | None = None,
        constraint: Constraint | None = None,
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
        self.prior = prior
        self.constraint = constraint
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
        constraint = Simplex() if self.constraint is None else self.constraint
        prior = self.prior
        if prior is None:
            prior = LocalCoordinate() if isinstance(constraint, Simplex) else L1()
        return Penalised(prior, constraint, self.alpha)
