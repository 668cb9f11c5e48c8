"""Kernel bag of words."""

from __future__ import annotations

import numpy as np

from ..certificates import soft_assignment_gap, soft_assignment_optimum
from ..constraints import OneAtom
from ..formulation import Formulation
from ..priors import NoPrior
from ..problem import CodingProblem
from ..solvers import assignment
from ..solvers.layout import scatter
from ..solvers.result import CodingResult
from .base import BaseKernelCoder, check_count, check_positive


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
        kernel="rbf",
        atoms=None,
        assignment="soft",
        sigma=10.0,
        n_neighbors=None,
        init="k-means++",
        learn_kernel=False,
        sparse_output=False,
        n_jobs=None,
        random_state=None,
    ):
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

    def _check_parameters(self):
        if self.assignment not in ("soft", "hard"):
            raise ValueError(f'assignment must be "soft" or "hard", got {self.assignment!r}.')
        check_positive("sigma", self.sigma)
        if self.n_neighbors is not None:
            check_count("n_neighbors", self.n_neighbors)

    def _prepare_formulation(self, X, y):
        if self.n_neighbors is not None:
            self._check_neighbors()

    def formulation(self):
        """Prior, constraint and weight."""
        return Formulation(NoPrior(), OneAtom())

    def _codes_are_sparse(self):
        return self.assignment == "hard" or self.n_neighbors is not None

    def encode(self, dictionary, X, options):
        """Code checked samples with any dictionary."""
        codes = self._assign(dictionary, X, options.sparse_output, options.out)
        gap = self._gap(dictionary, X, codes) if options.certify else None
        ones = np.ones(len(X), dtype=int)
        return CodingResult(codes, gap, ones == 1, ones)

    def _assign(self, dictionary, X, sparse_output, out=None):
        if self.assignment == "hard":
            near = dictionary.nearest(X, 1)
            return assignment.nearest_atom(near, dictionary.n_atoms, sparse_output)
        if self.n_neighbors is None:
            problem = CodingProblem.of(dictionary, X)
            return assignment.soft_assignment(problem, self.sigma, sparse_output, out)
        near = dictionary.nearest(X, self.n_neighbors)
        return assignment.local_assignment(near, dictionary.gram, self.sigma, sparse_output)

    def _gap(self, dictionary, X, codes):
        if self.assignment == "hard":
            return super()._gap(dictionary, X, codes)
        gram = dictionary.gram
        if self.n_neighbors is None:
            cross = dictionary.cross(X)
            optimal = soft_assignment_optimum(cross, np.diag(gram), self.sigma)
        else:
            near = dictionary.nearest(X, self.n_neighbors)
            norms = np.diag(gram)[near.indices]
            weights = soft_assignment_optimum(near.cross, norms, self.sigma)
            optimal = scatter(weights, near.indices, len(gram), sparse_output=False)
        return soft_assignment_gap(optimal, codes, self.sigma)
