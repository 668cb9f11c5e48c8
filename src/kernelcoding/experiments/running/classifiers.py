"""Classifiers that only experiments need: codes and a head, nearest code, sampled atoms, CRC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...kernels import as_kernel
from ...kernels.names import KernelLike
from .metrics import indicators


class Encoded(ClassifierMixin, BaseEstimator):
    """A classifier of codes.

    Parameters
    ----------
    encoder : transformer
        Makes codes.
    head : classifier
        Looks at codes only.
    """

    def __init__(self, encoder: BaseEstimator, head: BaseEstimator):
        self.encoder = encoder
        self.head = head

    def fit(self, X: NDArray, y: NDArray) -> Encoded:
        """Fit the encoder, then the head to its codes."""
        self.encoder_ = clone(self.encoder).fit(X, y)
        self.head_ = clone(self.head).fit(self.encoder_.transform(X), y)
        self.classes_ = self.head_.classes_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """The labels that the head gives to the codes."""
        return self.head_.predict(self.encoder_.transform(X))

    def decision_function(self, X: NDArray) -> NDArray:
        """The scores that the head gives to the codes."""
        return self.head_.decision_function(self.encoder_.transform(X))


class NearestCode(ClassifierMixin, BaseEstimator):
    """The label of the nearest training code, with scores.

    The score of a class is the distance to the nearest code without the class minus that to the
    nearest code with it: positive for the nearest neighbour's labels and for no others.

    Parameters
    ----------
    metric : {"euclidean", "cosine"}, default="euclidean"
        Between codes.
    """

    def __init__(self, metric: str = "euclidean"):
        self.metric = metric

    def fit(self, X: NDArray, y: NDArray) -> NearestCode:
        """Keep codes and labels (numbers of classes, or indicators)."""
        self.codes_, y = np.asarray(X), np.asarray(y)
        self.classes_ = np.arange(y.shape[1]) if y.ndim == 2 else np.unique(y)
        self.labels_ = y
        self.members_ = y.astype(bool) if y.ndim == 2 else y[:, None] == self.classes_
        return self

    def _distances(self, X: NDArray) -> NDArray:
        check_is_fitted(self)
        return pairwise_distances(X, self.codes_, metric=self.metric)

    def predict(self, X: NDArray) -> NDArray:
        """Labels of the nearest code."""
        return self.labels_[self._distances(X).argmin(axis=1)]

    def decision_function(self, X: NDArray) -> NDArray:
        """Scores (n, S), or of the second of two classes."""
        distances = self._distances(X)
        scores = np.empty((len(distances), self.members_.shape[1]))
        for label, members in enumerate(self.members_.T):
            within = distances[:, members].min(axis=1, initial=np.inf)
            without = distances[:, ~members].min(axis=1, initial=np.inf)
            # A class that no sample (every sample) has is never (always) nearest.
            far = np.finfo(float).max / 4
            scores[:, label] = np.minimum(without, far) - np.minimum(within, far)
        return scores[:, 1] if self.labels_.ndim == 1 and scores.shape[1] == 2 else scores


class SampledAtoms(ClassifierMixin, BaseEstimator):
    """A classifier fitted to a random few of the training samples, as many of each class.

    Parameters
    ----------
    classifier : classifier
        Of samples as they are, no Gram matrices.
    n_atoms : int
        How many samples are kept, about; at least one per class.
    random_state : int, default=0
        Which samples are kept.
    """

    def __init__(self, classifier: BaseEstimator, n_atoms: int = 100, random_state: int = 0):
        self.classifier = classifier
        self.n_atoms = n_atoms
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> SampledAtoms:
        """Choose samples and fit."""
        members = indicators(y, int(y.max()) + 1)
        self.sampled_ = sample_of_classes(members, self.n_atoms, self.random_state)
        self.classifier_ = clone(self.classifier).fit(X[self.sampled_], y[self.sampled_])
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """The labels of the classifier."""
        return self.classifier_.predict(X)

    def decision_function(self, X: NDArray) -> NDArray:
        """The scores of the classifier."""
        return self.classifier_.decision_function(X)


class Collaborative(ClassifierMixin, BaseEstimator):
    r"""Collaborative representation (CRC): ridge codes over all training samples, and residuals.

    .. math:: y = (K + \alpha I)^{-1} k, \qquad
              \varepsilon_s = \|\phi(x) - \Phi(X_s)\,y_{(s)}\|^2 / \|y_{(s)}\|^2

    Unlike that of :class:`~kernelcoding.ResidualClassifier`, the published rule divides the
    residual of a class by the norm of its part of the code (Zhang, Yang and Feng, 2011).

    Parameters
    ----------
    alpha : float, default=1e-3
        The ridge, relative to the mean of ``k(x, x)``.
    kernel : str or Kernel, default="precomputed"
        Samples are rows of similarities; with another kernel, vectors.
    """

    def __init__(self, alpha: float = 1e-3, kernel: KernelLike = "precomputed"):
        self.alpha = alpha
        self.kernel = kernel

    def fit(self, X: NDArray, y: NDArray) -> Collaborative:
        """Invert once."""
        self.samples_ = np.asarray(X, dtype=np.float64)
        self.kernel_ = as_kernel(self.kernel).resolve(self.samples_)
        self.gram_ = self.kernel_(self.samples_)
        self.classes_, self.labels_ = np.unique(y, return_inverse=True)
        self.norm_ = float(np.diag(self.gram_).mean())
        ridge = self.alpha * self.norm_ * np.eye(len(self.gram_))
        self.map_ = np.linalg.inv(self.gram_ + ridge)
        return self

    def decision_function(self, X: NDArray) -> NDArray:
        """Minus the residuals (n, S); ``k(x, x)`` is taken to be the training mean."""
        check_is_fitted(self)
        cross = self.kernel_(np.asarray(X, dtype=np.float64), self.samples_)
        codes = cross @ self.map_
        residuals = np.empty((len(codes), len(self.classes_)))
        for label in range(len(self.classes_)):
            own = self.labels_ == label
            part = codes[:, own]
            explained = 2 * cross[:, own] - part @ self.gram_[np.ix_(own, own)]
            error = self.norm_ - np.einsum("ij,ij->i", part, explained)
            size = np.einsum("ij,ij->i", part, part)
            residuals[:, label] = error / np.maximum(size, np.finfo(float).tiny)
        return -residuals

    def predict(self, X: NDArray) -> NDArray:
        """The class of smallest residual."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def sample_of_classes(members: NDArray, n_samples: int, seed: int) -> NDArray:
    """Indices of a random sample with equal shares of the classes."""
    random_state = check_random_state(seed)
    present = [np.flatnonzero(column) for column in members.T if column.any()]
    shares = np.full(len(present), n_samples // len(present))
    shares[: n_samples % len(present)] += 1
    chosen = [
        random_state.permutation(own)[: max(1, share)]
        for own, share in zip(present, shares, strict=True)
    ]
    return np.sort(np.concatenate(chosen))
