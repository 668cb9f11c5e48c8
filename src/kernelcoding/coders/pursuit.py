"""Kernel matching pursuit."""

from __future__ import annotations

import numpy as np

from ..constraints import AtMost
from ..formulations import Penalised
from ..kernel_learning import KernelLearning
from ..kernels.names import KernelLike
from ..priors import NoPrior
from ..validation import check_count
from .base import AtomsLike, BaseKernelCoder


class KernelMatchingPursuit(BaseKernelCoder):
    r"""Greedy coding with at most ``n_nonzero`` atoms.

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(D) y\|^2, \quad \|y\|_0 \le T

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, n_jobs, random_state
        As in :class:`KernelCoder`.
    n_nonzero : int, default=5
        T, the most atoms a code may use.
    selection : {"omp", "ols"}, default="omp"
        The next atom is the one most correlated with the residual (orthogonal matching
        pursuit), or the one that lowers the residual most (orthogonal least squares).

    Attributes
    ----------
    kernel_, dictionary_
        As in :class:`KernelCoder`.

    Notes
    -----
    The problem is combinatorial: ``certify`` bounds the distance to its optimum by the distance
    to the unlimited least-squares fit.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelMatchingPursuit
    >>> X, _ = load_digits(return_X_y=True)
    >>> codes = KernelMatchingPursuit(n_nonzero=3).fit(X[:50]).transform(X[50:60])
    >>> int((codes != 0).sum(axis=1).max())
    3
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        n_nonzero: int = 5,
        selection: str = "omp",
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        sparse_output: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.n_nonzero = n_nonzero
        self.selection = selection
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_nonzero", self.n_nonzero)
        if self.selection not in ("omp", "ols"):
            raise ValueError(f'selection must be "omp" or "ols", got {self.selection!r}.')

    def formulation(self) -> Penalised:
        """Prior, constraint and weight."""
        return Penalised(NoPrior(), AtMost(self.n_nonzero, self.selection))
