"""Whatever codes samples with a dictionary it holds: coders, and what learns dictionaries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..codes import Codes
from ..dictionary import Dictionary, PointDictionary
from ..distributed.methods import RowAnswer, one_number, over_blocks
from ..formulations import Formulation
from ..kernels import Kernel
from ..solvers.result import Options
from ..sparse_vectors import SparseVectors
from ..validation import check_codes, check_finite_codes, samples
from .coding import code_samples, problems


def _codes(estimator: CodingTransformer, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for a sample."""
    sparse_output = estimator._coding()[1].sparse_output
    return RowAnswer((estimator._n_features_out,), dtype, sparse_output)


def _points(estimator: CodingTransformer, dtype: np.dtype) -> RowAnswer:
    """What ``inverse_transform`` answers for a code."""
    points = estimator._atoms_in_input_space()
    compact = sparse.issparse(points) and estimator._coding()[1].sparse_output
    return RowAnswer(points.shape[1:], np.result_type(dtype, points.dtype), compact)


def take_features(estimator: BaseEstimator, like: BaseEstimator) -> None:
    """Number and names of features, where the other estimator knows them."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(like, name):
            setattr(estimator, name, getattr(like, name))


class CodingTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Samples in, codes out, with a fitted dictionary."""

    kernel_: Kernel
    dictionary_: Dictionary
    n_features_in_: int
    _n_features_out: int

    def _coding(self) -> tuple[Formulation, Options]:
        """What a code is, and how it is computed."""
        raise NotImplementedError

    def _validate_query(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "dictionary_")
        return samples(self, X, self.kernel_, reset=False)

    @over_blocks(_codes)
    def transform(self, X: ArrayLike) -> Codes:
        """Code samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`; with a precomputed kernel, their similarities to all
            training samples, shape (n, n_samples). Samples of Dask (an array, a data frame, a list
            of delayed blocks) are coded lazily, one task per block, as by all methods that follow.

        Returns
        -------
        codes : array of shape (n, n_atoms), or CSR array with ``sparse_output=True``
            One code per row, in the precision of X. A UserWarning tells where all of them are
            zero, and the largest useful alpha.
        """
        X = self._validate_query(X)
        # One more frame than usual: scikit-learn wraps transform, for set_output.
        return code_samples(*self._coding(), self.dictionary_, X, stacklevel=7)

    @over_blocks(one_number)
    def reconstruction_error(self, X: ArrayLike, codes: Codes | None = None) -> NDArray:
        r"""Squared distance in H between samples and their reconstructions.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.
        codes : array of shape (n, n_atoms), default=None
            Their codes; computed where not given.

        Returns
        -------
        errors : array of shape (n,)
            :math:`\|\phi(x) - \Phi(D) y\|^2`.
        """
        X = self._validate_query(X)
        if codes is None:
            codes = code_samples(*self._coding(), self.dictionary_, X, stacklevel=6)
        else:
            codes = check_codes(codes, self.dictionary_.n_atoms, len(X))
        check_finite_codes(codes)
        errors = np.empty(len(X))
        for rows, problem in problems(self.dictionary_, X):
            exact = problem.astype(np.float64)
            errors[rows] = exact.squared_error(codes[rows].astype(np.float64))
        return errors

    @over_blocks(one_number)
    def certify(self, X: ArrayLike, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from the optimum of its problem.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.
        codes : array or CSR array of shape (n, n_atoms)
            Codes of any origin.

        Returns
        -------
        gaps : array of shape (n,)
            In units of the objective; infinite for a code outside the constraint.
        """
        X = self._validate_query(X)
        codes = check_codes(codes, self.dictionary_.n_atoms, len(X))
        formulation, _ = self._coding()
        blocks = problems(self.dictionary_, X)
        return np.concatenate([formulation.gap(problem, codes[rows]) for rows, problem in blocks])

    @over_blocks(_points, takes="codes")
    def inverse_transform(self, codes: Codes) -> NDArray | sparse.csr_array:
        """Combine the atoms in input space with the weights of the codes.

        With the linear kernel this is the reconstruction itself; with others it is its usual
        first approximation, exact when the code is a single atom of weight one.

        Parameters
        ----------
        codes : array or CSR array of shape (n, n_atoms)
            Codes.

        Returns
        -------
        X : array of shape (n, n_features)
            Points of the input space; a CSR array where both codes and atoms are sparse.
        """
        check_is_fitted(self)
        codes = check_codes(codes, self.dictionary_.n_atoms)
        check_finite_codes(codes)
        return codes @ self._atoms_in_input_space()

    def _atoms_in_input_space(self) -> NDArray | sparse.csr_array:
        """The atoms as vectors, (n_atoms, n_features), or ValueError."""
        dictionary = self.dictionary_
        if (
            not isinstance(dictionary, PointDictionary)
            or self.kernel_.uses_index
            or not isinstance(dictionary.points, (np.ndarray, SparseVectors))
            or dictionary.points.ndim != 2
            or dictionary.points.dtype == object
        ):
            raise ValueError(
                "inverse_transform needs atoms that are vectors; this dictionary has none "
                "(precomputed kernel, stacks of matrices, several views, texts, or combinations of "
                "landmarks)."
            )
        points = dictionary.points
        return points.tocsr() if isinstance(points, SparseVectors) else points
