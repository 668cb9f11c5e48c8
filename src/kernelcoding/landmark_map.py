r"""Samples as plain vectors whose inner products approximate a kernel (Nyström)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .coders.base import with_kernel_object
from .dictionary import PointDictionary
from .dictionary.building import choose_landmarks, given_landmarks
from .dictionary.choosing import named_choice
from .distributed.methods import one_number, one_vector, over_blocks
from .gram import GramFacts
from .kernels import Kernel, as_kernel
from .kernels.names import KernelLike
from .parallel import map_blocks
from .sparse_vectors import SparseVectors
from .stacks import Stack, precision
from .validation import check_count, samples

BLOCK_SIZE = 2**20  # similarities that are computed at a time


class LandmarkMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Map samples to vectors whose inner products approximate any kernel (Nyström).

    .. math:: f(x) = K_{ZZ}^{-1/2}\, k(Z, x), \qquad f(x)^\top f(z) \approx k(x, z)

    These are coordinates of the projection of :math:`\phi(x)` on the span of the landmarks Z, so
    the approximation is exact where either sample is a landmark, and never too large for
    :math:`k(x, x)`. A linear method on the vectors is the kernel method, nearly, without its
    (n, n) matrix.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a kernel of ``kernelcoding.kernels`` (histograms, SPD matrices and subspaces,
        too), "precomputed", or a function ``f(X, Z) -> (n, m)``.
    n_landmarks : int, default=100
        Number of landmarks and of columns; all samples where there are fewer.
    landmarks : {"k-means++", "random", "leverage", "greedy"} or array, default="k-means++"
        Drawn in proportion to squared distances in H, uniformly ("uniform" says the same), in
        proportion to ridge leverage scores, or each time the sample that the landmarks so far
        explain worst (pivoted Cholesky); or the landmarks themselves, then ``n_landmarks`` is not
        looked at.
    n_candidates : int, default=None
        Landmarks are chosen among so many samples drawn at random; None is ten per landmark.
    n_jobs : int, default=None
        Threads for :meth:`transform`.
    random_state : int, RandomState or None, default=0
        For the choice of landmarks.

    Attributes
    ----------
    kernel_ : Kernel
        Resolved on the training data.
    dictionary_ : PointDictionary
        The landmarks as atoms, which any coder takes as ``atoms``.
    landmarks_ : array or CSR array of shape (n_landmarks, ...)
        The landmarks; for a precomputed kernel their rows of the training matrix.
    landmark_indices_ : array of shape (n_landmarks,) or None
        Which training samples they are; None where they were given.
    normalization_ : array of shape (n_landmarks, n_landmarks)
        :math:`K_{ZZ}^{-1/2}`, symmetric.
    rank_ : int
        Directions of H that the landmarks are known to span.

    Notes
    -----
    Errors of :math:`\eta\sqrt{K_{ii} K_{jj}}` in the entries of :math:`K_{ZZ}` move its eigenvalues
    by :math:`\eta\,\mathrm{tr} K_{ZZ}` at most, where :math:`\eta` is 32 units of rounding of the
    kernel matrix and one of double precision per landmark. Eigenvalues up to that are taken as
    zero, and so are their directions in ``normalization_``: no inner product loses more than that
    number, and the number of columns stays. Nothing is added to the diagonal.

    An indefinite kernel is clipped to the positive part of its spectrum on the landmarks, with a
    warning. Kernels of vectors and histograms take sparse samples, which stay sparse.

    Williams, Seeger (2001); greedy: Fine, Scheinberg (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from kernelcoding import LandmarkMap
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(LandmarkMap("rbf", n_landmarks=200), RidgeClassifier(alpha=1e-3))
    >>> model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95
    True
    """

    kernel_: Kernel
    dictionary_: PointDictionary
    normalization_: NDArray
    rank_: int
    _n_features_out: int

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_landmarks: int = 100,
        landmarks: str | ArrayLike = "k-means++",
        n_candidates: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike | sparse.csr_array, y: object = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Vectors (also sparse), stacks of matrices, or the training Gram matrix, as the
            kernel wants.
        y : ignored

        Returns
        -------
        self : object
            The fitted map.
        """
        check_count("n_landmarks", self.n_landmarks)
        if self.n_candidates is not None:
            check_count("n_candidates", self.n_candidates)
        kernel = as_kernel(self.kernel)
        X = self._validate(X, kernel, reset=True)
        names = getattr(self, "feature_names_in_", None)
        self.kernel_ = kernel.resolve(X, names)
        self.dictionary_ = self._landmarks(X)
        self._n_features_out = self.dictionary_.n_atoms
        self.normalization_, self.rank_ = _inverse_root(self.dictionary_.facts)
        return self

    def _landmarks(self, X: Stack) -> PointDictionary:
        if not isinstance(self.landmarks, str):
            return given_landmarks(self.kernel_, self.landmarks, X)
        choice = "random" if self.landmarks == "uniform" else self.landmarks
        return choose_landmarks(
            self.kernel_,
            X,
            self.n_landmarks,
            named_choice(choice, "landmarks"),
            check_random_state(self.random_state),
            self.n_candidates,
        )

    @over_blocks(one_vector)
    def transform(self, X: ArrayLike | sparse.csr_array) -> NDArray:
        """The vectors of samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`; with a precomputed kernel, their similarities to all
            training samples, shape (n, n_samples).

        Returns
        -------
        vectors : array of shape (n, n_landmarks)
            In the precision of X.
        """
        X = self._checked(X)
        vectors = np.empty((len(X), self._n_features_out), dtype=precision(X))
        normalization = self.normalization_.astype(vectors.dtype, copy=False)

        def write(rows: slice) -> None:
            vectors[rows] = self.dictionary_.cross(X[rows]) @ normalization

        map_blocks(write, len(vectors), self._block(), self.n_jobs)
        return vectors

    @over_blocks(one_number)
    def reconstruction_error(self, X: ArrayLike | sparse.csr_array) -> NDArray:
        r"""What the landmarks miss of samples: squared distances in H to their span.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        errors : array of shape (n,)
            :math:`k(x, x) - \|f(x)\|^2`, never negative; their sum over the training samples is
            the trace of what the approximation leaves of the Gram matrix.
        """
        X = self._checked(X)
        errors = np.empty(len(X))

        def write(rows: slice) -> None:
            own, cross = self.dictionary_.similarities(X[rows])
            vectors = cross.astype(np.float64) @ self.normalization_
            errors[rows] = own - np.einsum("ij,ij->i", vectors, vectors)

        map_blocks(write, len(errors), self._block(), self.n_jobs)
        return np.maximum(errors, 0.0)

    @property
    def landmarks_(self) -> Stack:
        """The landmarks, (n_landmarks, ...)."""
        check_is_fitted(self, "dictionary_")
        points = self.dictionary_.points
        return points.tocsr() if isinstance(points, SparseVectors) else points

    @property
    def landmark_indices_(self) -> NDArray | None:
        """Which training samples the landmarks are, (n_landmarks,); None where given."""
        check_is_fitted(self, "dictionary_")
        return self.dictionary_.index

    def _block(self) -> int:
        return max(16, BLOCK_SIZE // self._n_features_out)

    def _checked(self, X: ArrayLike | sparse.csr_array) -> Stack:
        check_is_fitted(self, "dictionary_")
        return self._validate(X, self.kernel_, reset=False)

    def _validate(self, X: ArrayLike | sparse.csr_array, kernel: Kernel, reset: bool) -> Stack:
        return samples(self, X, kernel, reset=reset)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        try:
            kernel = as_kernel(self.kernel)
        except ValueError:  # reported by fit
            return tags
        tags.input_tags.pairwise = kernel.uses_index
        tags.input_tags.positive_only = kernel.wants_nonnegative
        tags.input_tags.three_d_array = kernel.input_ndim == 3
        tags.input_tags.two_d_array = kernel.input_ndim != 3
        tags.input_tags.sparse = kernel.takes_sparse
        return tags


def _inverse_root(facts: GramFacts) -> tuple[NDArray, int]:
    """The inverse square root of a Gram matrix where it is certain, zero elsewhere; its rank."""
    values, vectors = facts.spectrum
    kept = values > facts.precision * float(np.trace(facts.double))
    basis = vectors[:, kept]
    return (basis / np.sqrt(values[kept])) @ basis.T, int(kept.sum())
