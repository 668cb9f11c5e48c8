"""Gaussian mixtures behind Fisher vectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from ..validation import check_count, check_positive

TOL = 1e-4  # EM ends when a round raises the mean log-likelihood by less


@dataclass(frozen=True, slots=True)
class MixtureSettings:
    """How a mixture is learned."""

    n_components: int
    reg_covar: float  # added to variances
    max_iter: int  # most rounds of EM

    def check(self) -> None:
        """Refuse settings that are wrong for any data."""
        check_count("n_components", self.n_components)
        check_count("max_iter", self.max_iter)
        check_positive("reg_covar", self.reg_covar)


@dataclass(frozen=True, slots=True)
class DiagonalMixture:
    r"""Mixture :math:`\sum_j w_j N(\mu_j, \mathrm{diag}(\sigma_j^2))`."""

    weights: NDArray  # (K,)
    means: NDArray  # (K, d)
    variances: NDArray  # (K, d)

    @classmethod
    def fit(
        cls,
        points: NDArray,
        settings: MixtureSettings,
        random_state: np.random.RandomState,
    ) -> DiagonalMixture:
        """Maximum likelihood by scikit-learn's EM."""
        model = GaussianMixture(
            settings.n_components,
            covariance_type="diag",
            reg_covar=settings.reg_covar,
            max_iter=settings.max_iter,
            random_state=random_state,
        ).fit(points.astype(np.float64, copy=False))
        return cls(model.weights_, model.means_, model.covariances_)

    def posteriors(self, powers: NDArray) -> NDArray:
        """Probability of each component, (n, K), given points beside their squares, (n, 2d)."""
        precisions = 1.0 / self.variances
        loadings = np.hstack([self.means * precisions, -0.5 * precisions])
        offsets = np.log(self.weights) - 0.5 * np.log(self.variances).sum(axis=1)
        offsets -= 0.5 * np.einsum("ij,ij,ij->i", self.means, self.means, precisions)
        return softmax(powers @ loadings.T, offsets)


@dataclass(frozen=True, slots=True)
class SharedMixture:
    r"""Mixture :math:`\sum_j w_j N(\mu_j, \sigma^2 I)`: one variance for all."""

    weights: NDArray  # (K,)
    means: NDArray  # (K, d)
    variance: float

    @classmethod
    def fit(
        cls,
        points: NDArray,
        settings: MixtureSettings,
        random_state: np.random.RandomState,
        tol: float = TOL,
    ) -> SharedMixture:
        """Maximum likelihood by EM, from k-means."""
        n_points, width = points.shape
        squares = np.einsum("ij,ij->i", points, points)
        start = KMeans(settings.n_components, n_init=1, random_state=random_state).fit(points)
        shares = np.eye(settings.n_components)[start.labels_]
        before = -np.inf
        for _ in range(settings.max_iter):
            mass = shares.sum(axis=0)
            means = (shares.T @ points) / np.maximum(mass, np.finfo(float).tiny)[:, None]
            means[mass == 0] = start.cluster_centers_[mass == 0]
            explained = (mass * np.einsum("ij,ij->i", means, means)).sum()
            variance = (squares.sum() - explained) / (n_points * width) + settings.reg_covar
            mixture = cls(np.maximum(mass, 1e-12) / n_points, means, float(variance))
            shares, evidence = mixture._expect(points @ means.T, squares)
            if evidence - before < tol:
                break
            before = evidence
        else:
            warnings.warn(
                f"EM did not converge in max_iter={settings.max_iter} rounds: raise max_iter.",
                ConvergenceWarning,
                stacklevel=6,
            )
        return mixture

    def _expect(self, cross: NDArray, squares: NDArray) -> tuple[NDArray, float]:
        """Posteriors, and the mean log-likelihood."""
        logs = cross / self.variance + self.offsets(np.einsum("ij,ij->i", self.means, self.means))
        top = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - top)
        total = shares.sum(axis=1, keepdims=True)
        width = self.means.shape[1]
        evidence = (top + np.log(total)).mean() - 0.5 * squares.mean() / self.variance
        return shares / total, float(evidence - 0.5 * width * np.log(2 * np.pi * self.variance))

    def offsets(self, squared_norms: NDArray) -> NDArray:
        """What each component adds to the scaled inner product with its mean, (K,)."""
        return np.log(self.weights) - 0.5 * squared_norms / self.variance

    def posteriors(self, cross: NDArray, squared_norms: NDArray) -> NDArray:
        """Probability of each component, (n, K), from inner products with the means."""
        return softmax(cross / self.variance, self.offsets(squared_norms))


def softmax(scores: NDArray, offsets: NDArray) -> NDArray:
    """Softmax of each row of ``scores + offsets``."""
    from .._compiled.softmax import fill_soft_weights

    answer = np.empty_like(scores)
    fill_soft_weights(scores, -offsets[None, :], 1.0, answer)
    return answer
