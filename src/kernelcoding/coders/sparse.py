"""Kernel sparse coding."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import column_or_1d

from ..constraints import Free, NonNegative
from ..formulations import OnCandidates, Penalised
from ..kernel_learning import KernelLearning
from ..kernels.names import KernelLike
from ..priors import L1, GroupL1
from ..validation import check_count, check_positive, refuse_missing_labels
from .base import AtomsLike, BaseKernelCoder, atom_indices


class KernelSparseCoder(BaseKernelCoder):
    r"""Kernel sparse coding (kSC): few atoms explain each sample.

    .. math:: \min_y \tfrac12\|\phi(x) - \Phi(D) y\|^2 + \alpha\|y\|_1

    With ``kernel="linear"`` the codes equal those of scikit-learn's
    ``SparseCoder(transform_alpha=alpha)``.

    Parameters
    ----------
    kernel, atoms, init, learn_kernel, sparse_output, tol, max_iter, n_jobs, random_state
        As in :class:`KernelCoder`.
    alpha : float, default=0.01
        Weight of the l1 norm; larger is sparser. It does not transfer between kernels or widths.
    positive : bool, default=False
        Only non-negative codes.
    groups : array-like of shape (n_atoms,) or "y", default=None
        A label for each atom: whole groups are then chosen or left out (group lasso). ``"y"``
        takes the labels given to ``fit``: those of the samples that are atoms, and of the samples
        that learned atoms started from. Learned atoms keep the label of their start, and so does
        an atom that is replaced because no sample used it.
    n_candidates : int, default=None
        Code each sample on that many atoms only, those nearest to it: an approximation for very
        large dictionaries, whose Gram matrix is then not needed. ``certify`` bounds the distance
        to the best code on these atoms, and is infinite for a code that uses others.

    Attributes
    ----------
    kernel_, dictionary_
        As in :class:`KernelCoder`.

    Notes
    -----
    Section "Kernel Sparse Coding" of the paper. Its factorised form is never built: the solver
    works on the Gram matrix, and ``certify`` bounds the distance to the optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelSparseCoder
    >>> X, _ = load_digits(return_X_y=True)
    >>> coder = KernelSparseCoder(kernel="rbf", alpha=0.05).fit(X[:200])
    >>> codes = coder.transform(X[200:220])
    >>> codes.shape
    (20, 200)
    >>> bool(coder.certify(X[200:220], codes).max() < 1e-6)
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        atoms: AtomsLike = None,
        alpha: float = 0.01,
        positive: bool = False,
        groups: ArrayLike | str | None = None,
        init: str = "k-means++",
        learn_kernel: bool | KernelLearning = False,
        sparse_output: bool = False,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_candidates: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.atoms = atoms
        self.alpha = alpha
        self.positive = positive
        self.groups = groups
        self.init = init
        self.learn_kernel = learn_kernel
        self.sparse_output = sparse_output
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_candidates = n_candidates

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.n_candidates is not None:
            check_count("n_candidates", self.n_candidates)

    def _take_labels(self, X: NDArray, y: ArrayLike | None) -> None:
        self.groups_ = self.groups
        if isinstance(self.groups, str):
            self.groups_ = self._groups_from_labels(X, y)

    def _groups_from_labels(self, X: NDArray, y: ArrayLike | None) -> NDArray:
        self._require_y()
        if y is None:
            raise ValueError(
                'groups="y" requires y to be passed, but the target y is None. Call fit(X, y).'
            )
        index = atom_indices(self)
        if index is None:
            raise ValueError(
                'groups="y" needs atoms that are training samples: use atoms=None, or an integer '
                'with init="k-means++" or "random".'
            )
        check_consistent_length(X, y)
        refuse_missing_labels(y)
        return column_or_1d(y)[index]

    def formulation(self) -> Penalised | OnCandidates:
        """Prior, constraint and weight; groups taken from labels are known after ``fit``."""
        groups = getattr(self, "groups_", self.groups)
        if isinstance(groups, str):
            raise ValueError(
                'groups="y" takes the labels of atoms, which are known after fit(X, y). Call fit '
                "first, or give an array with a label for each atom."
            )
        prior = L1() if groups is None else GroupL1(groups)
        return self._coded_by(prior)

    def _coded_by(self, prior: L1 | GroupL1) -> Penalised | OnCandidates:
        constraint = NonNegative() if self.positive else Free()
        plain = Penalised(prior, constraint, self.alpha)
        return plain if self.n_candidates is None else OnCandidates(plain, self.n_candidates)

    def _outline(self, n_atoms: int = 1) -> Penalised | OnCandidates:
        if not isinstance(self.groups, str):
            return self.formulation()
        self._require_y()
        return self._coded_by(GroupL1([0] * n_atoms))

    def _with_atom_labels(self, labels: NDArray | None) -> Self:
        if not isinstance(self.groups, str):
            return self
        self._require_y()
        if labels is None:
            raise ValueError(
                'groups="y" needs the class of every sample, from which first atoms are taken: '
                "call fit(X, y) with one class label per sample, or give groups an array with a "
                "label for each atom."
            )
        return clone(self).set_params(groups=labels)

    def _with_labels_of(self, other: BaseKernelCoder) -> Self:
        same = isinstance(self.groups, str) and isinstance(other, KernelSparseCoder)
        return clone(self).set_params(groups=other.groups) if same else self

    def _require_y(self) -> None:
        if isinstance(self.groups, str) and self.groups != "y":
            raise ValueError(f'groups must be an array of labels or "y", got {self.groups!r}.')

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.groups, str)
        return tags
