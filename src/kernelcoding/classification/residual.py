"""Classification by reconstruction residuals."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..coders.base import BaseKernelCoder, atom_indices, require_coder
from ..coders.coding import code_samples, problems
from ..coders.sparse import KernelSparseCoder
from ..coders.zero_codes import why_zero
from ..codes import Codes, dense, zero_rows
from ..validation import check_codes
from ..views import sequence_of


class ResidualClassifier(ClassifierMixin, BaseEstimator):
    r"""The class whose own atoms explain a sample best wins.

    A sample is coded over the atoms of all classes; class s is judged by its part
    :math:`y_{(s)}` of the code alone:

    .. math:: \varepsilon_s(x) = -2\,y_{(s)}^\top k + y_{(s)}^\top K y_{(s)}

    With a sparse coder and the linear kernel this is SRC.

    Parameters
    ----------
    coder : coder of :mod:`kernelcoding.coders`, default=None
        Its atoms must be training samples (``atoms=None`` or an integer with a sampling
        ``init``), which carry the labels. None is ``KernelSparseCoder()``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coder_ : coder
        Fitted.
    atom_classes_ : array of shape (n_atoms,)
        Index into ``classes_`` of each atom.

    Notes
    -----
    The rule without dictionary learning of the paper's experiments. ``k(x, x)`` is left out of
    the residuals: it is the same for all classes.

    A code of zeros (alpha too large, a sample unlike all atoms) has the same residual for every
    class. Such a sample gets the class of the atom nearest to it in H, each class is scored by its
    nearest atom, with weight one, in place of its part of the code, and a UserWarning says how
    many they are. :meth:`concentration` is zero for them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelLLC, ResidualClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = ResidualClassifier(KernelLLC(n_neighbors=20)).fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.95
    True
    """

    classes_: NDArray
    coder_: BaseKernelCoder
    atom_classes_: NDArray

    def __init__(self, coder: BaseKernelCoder | None = None) -> None:
        self.coder = coder

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the coder and remember the labels of its atoms.

        Parameters
        ----------
        X : array-like
            Samples as the coder wants them.
        y : array-like of shape (n_samples,)
            Labels of any kind; a single class is accepted and always predicted.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        coder = KernelSparseCoder() if self.coder is None else self.coder
        require_coder(coder)
        y = self._validate_labels(X, y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.coder_ = clone(coder).fit(X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.coder_, name):
                setattr(self, name, getattr(self.coder_, name))
        index = atom_indices(self.coder_)
        if index is None:
            raise ValueError(
                "The residual rule needs atoms with labels: use atoms=None, or an integer with "
                'init="k-means++" or "random", so that atoms are training samples.'
            )
        self.atom_classes_ = labels[index]
        return self

    @staticmethod
    def _validate_labels(X: ArrayLike, y: ArrayLike) -> NDArray:
        if y is None:
            raise ValueError(
                "This ResidualClassifier estimator requires y to be passed, but the target y is "
                "None."
            )
        labels: NDArray = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(sequence_of(X), labels)
        check_classification_targets(labels)
        return labels

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Negative residuals: the larger, the better the class explains the sample.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first. Where the code is
            all zero, a class without atoms scores minus infinity.
        """
        scores = -self._residuals(X, self._codes(X), stacklevel=4)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray:
        """The class of smallest residual.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        residuals = self._residuals(X, self._codes(X), stacklevel=4)
        return self.classes_[residuals.argmin(axis=1)]

    def predict_from_codes(self, X: ArrayLike, codes: Codes) -> NDArray:
        """The class of smallest residual for samples whose codes are known already.

        Parameters
        ----------
        X : array-like
            Samples.
        codes : array or CSR array of shape (n, n_atoms)
            Their codes.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        check_is_fitted(self)
        return self.classes_[self._residuals(X, codes, stacklevel=4).argmin(axis=1)]

    def concentration(self, X: ArrayLike) -> NDArray:
        r"""Sparsity concentration index, a rejection score in [0, 1].

        .. math:: \mathrm{SCI}(y) = \frac{S \max_s \|y_{(s)}\|_1 / \|y\|_1 - 1}{S - 1}

        One: a single class explains the sample. Zero: all classes do alike; the sample may
        belong to none. A code of zeros scores zero, a single class scores one.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        index : array of shape (n,)
            Reject where it is small.
        """
        n_classes = len(self.classes_)
        per_class = abs(self._codes(X)) @ self._membership()
        per_class = per_class.toarray() if sparse.issparse(per_class) else per_class
        total = per_class.sum(axis=1)
        if n_classes == 1:
            return np.where(total > 0, 1.0, 0.0)
        share = np.divide(
            per_class.max(axis=1), total, out=np.full(len(total), 1.0 / n_classes), where=total > 0
        )
        return (n_classes * share - 1.0) / (n_classes - 1.0)

    def _membership(self) -> NDArray:
        return (self.atom_classes_[:, None] == np.arange(len(self.classes_))).astype(float)

    def _codes(self, X: ArrayLike) -> Codes:
        """Codes as ``transform`` of the coder gives them; zeros are reported by the rule."""
        check_is_fitted(self)
        X = self.coder_._validate_query(X)
        coding = self.coder_._coding()
        return code_samples(*coding, self.coder_.dictionary_, X, stacklevel=6, tell_zeros=False)

    def _residuals(self, X: ArrayLike, codes: Codes, stacklevel: int) -> NDArray:
        """Residual of each class up to k(x, x), (n, n_classes)."""
        X = self.coder_._validate_query(X)
        dictionary = self.coder_.dictionary_
        codes = check_codes(codes, dictionary.n_atoms, len(X))
        members = [np.flatnonzero(self.atom_classes_ == s) for s in range(len(self.classes_))]
        residuals = np.empty((len(X), len(self.classes_)))
        for rows, problem in problems(dictionary, X):
            exact, block = problem.astype(np.float64), dense(codes[rows])
            for label, own in enumerate(members):
                part = block[:, own].astype(np.float64)
                pull = part @ exact.gram[np.ix_(own, own)] - 2.0 * exact.cross[:, own]
                residuals[rows, label] = (part * pull).sum(axis=1)
        silent = np.flatnonzero(zero_rows(codes))
        if silent.size:
            residuals[silent] = self._nearest_residuals(X[silent], members)
            self._warn_silent(X, silent, stacklevel)
        return residuals

    def _nearest_residuals(self, X: NDArray, members: list[NDArray]) -> NDArray:
        """Residual of each class if its nearest atom alone had weight one, up to k(x, x)."""
        dictionary = self.coder_.dictionary_
        residuals = np.full((len(X), len(members)), np.inf)
        for rows, problem in problems(dictionary, X):
            # Asked first: where all similarities are rounded to zero, distances still tell.
            nearest = self.atom_classes_[problem.nearest(1).indices[:, 0]]
            alone = np.diag(problem.gram) - 2.0 * problem.cross.astype(np.float64)
            block = residuals[rows]
            for label, own in enumerate(members):
                block[:, label] = alone[:, own].min(axis=1, initial=np.inf)
            best = np.arange(len(block)), nearest
            block[best] = np.nextafter(block.min(axis=1), -np.inf)
        return residuals

    def _warn_silent(self, X: NDArray, silent: NDArray, stacklevel: int) -> None:
        """Say how many codes are all zero, and what to do."""
        blocks = (problem for _, problem in problems(self.coder_.dictionary_, X[silent]))
        why = why_zero(self.coder_.formulation(), blocks)
        warnings.warn(
            f"{len(silent)} of {len(X)} codes are all zero, and the residuals of all classes are "
            f"the same: these samples get the class of the nearest atom. The reason: {why}",
            UserWarning,
            stacklevel=stacklevel,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        coder = KernelSparseCoder() if self.coder is None else self.coder
        if hasattr(coder, "__sklearn_tags__"):  # anything else is reported by fit
            tags.input_tags = coder.__sklearn_tags__().input_tags
        return tags
