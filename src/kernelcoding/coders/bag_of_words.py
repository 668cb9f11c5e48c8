"""Kernel bag of words."""

from __future__ import annotations

import numpy as np

from ..constraints import OneAtom
from ..formulations import Formulation, Penalised, SoftAssignment
from ..kernel_learning import KernelLearning
from ..kernels.names import KernelLike
from ..priors import NoPrior
from ..validation import check_count, check_positive
from .base import AtomsLike, BaseKernelCoder


class KernelBagOfWords(BaseKernelCoder):
    r"""Kernel bag of words (kBOW): assign each sample to its nearest atoms.

    Hard assignment gives weight one to the nearest atom in H; soft assignment gives every atom

    .. math:: y_j = \frac{\exp(-\sigma\|\phi(x) - \phi(d_j)\|^2)}
              {\sum_i \exp(-\sigma\|\phi(x) - \phi(d_i)\|^2)}

    and localised soft assignment does so among the ``n_neighbors`` nearest atoms only.

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, n_jobs, random_state
        As in :class:`KernelCoder`.
    assignment : {"soft", "hard"}, default="soft"
        The kind of assignment.
    sigma : float, default=10.0
        Bandwidth of soft assignment; larger is closer to hard.
    n_neighbors : int, default=None
        Localised soft assignment among that many atoms; None takes all.

    Attributes
    ----------
    kernel_, dictionary_
        As in :class:`KernelCoder`.

    Notes
    -----
    Section "Kernel Bag of Words" of the paper. Soft weights solve an entropy-regularised
    assignment, whose gap is what ``certify`` returns for them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelBagOfWords
    >>> X, _ = load_digits(return_X_y=True)
    >>> coder = KernelBagOfWords(atoms=10, assignment="hard", random_state=0)
    >>> coder.fit_transform(X[:100]).sum(axis=1).max()
    np.float64(1.0)
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        assignment: str = "soft",
        sigma: float = 10.0,
        n_neighbors: int | None = None,
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        sparse_output: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.assignment = assignment
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.assignment not in ("soft", "hard"):
            raise ValueError(f'assignment must be "soft" or "hard", got {self.assignment!r}.')
        check_positive("sigma", self.sigma)
        if self.n_neighbors is not None:
            check_count("n_neighbors", self.n_neighbors)

    def formulation(self) -> Formulation:
        """What a code is: the nearest atom, or weights that fall with distance."""
        if self.assignment == "hard":
            return Penalised(NoPrior(), OneAtom())
        return SoftAssignment(self.sigma, self.n_neighbors)
