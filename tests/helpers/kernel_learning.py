"""Coders and kernels, the problems of kernel learning made of them, and their ratios."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding.coders.base import options_of
from kernelcoding.constraints import Simplex
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.kernel_learning.held_out import held_out
from kernelcoding.kernel_learning.ratio import Part, RatioProblem
from kernelcoding.kernels import (
    AffineInvariantGaussian,
    ChiSquared,
    Gaussian,
    Laplacian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Normalized,
    Polynomial,
    ProjectionGaussian,
    Stein,
    View,
)
from kernelcoding.priors import ElasticNet
from reference.kernel_learning import distances_among, prior

# For tests of something else, whose parameters may end at a bound.
AT_A_BOUND = pytest.mark.filterwarnings(
    "ignore:Kernel learning ended at a bound:UserWarning",
    "ignore:The ratio of kernel learning falls as far:UserWarning",
)
N_ATOMS = 9
GROUPS = np.arange(N_ATOMS) % 3

TIGHT = {"tol": 1e-10}
CODERS = {
    "sparse": kc.KernelSparseCoder(alpha=0.05, **TIGHT),
    "positive": kc.KernelSparseCoder(alpha=0.05, positive=True, **TIGHT),
    "groups": kc.KernelSparseCoder(alpha=0.05, groups=GROUPS, **TIGHT),
    "lcc": kc.KernelLCC(alpha=0.05, **TIGHT),
    "exact llc": kc.KernelLLC(n_neighbors=None, alpha=0.05, sigma=0.7),
    "llc": kc.KernelLLC(n_neighbors=4, regularization=1e-2),
    "soft": kc.KernelBagOfWords(sigma=2.0),
    "hard": kc.KernelBagOfWords(assignment="hard"),
    "local soft": kc.KernelBagOfWords(sigma=2.0, n_neighbors=4),
    "omp": kc.KernelMatchingPursuit(n_nonzero=3),
    "simplex": kc.KernelCoder(prior=ElasticNet(), constraint=Simplex(), alpha=0.05, **TIGHT),
}


def vectors(rng, n):
    return rng.normal(size=(n, 4))


def histograms(rng, n):
    return rng.exponential(size=(n, 4))


def spd(rng, n):
    A = rng.normal(size=(n, 3, 5))
    return A @ A.transpose(0, 2, 1) + 0.5 * np.eye(3)


def subspaces(rng, n):
    return np.linalg.qr(rng.normal(size=(n, 5, 2)))[0]


def kinds(rng, n):
    return kc.Views({"spd": spd(rng, n), "histogram": histograms(rng, n)})


QUADRATIC = Normalized(Polynomial(degree=2, gamma=0.2, coef0=0.7))
KERNELS = {
    "gaussian": (Gaussian(0.2), vectors),
    "laplacian": (Laplacian(0.3), vectors),
    "polynomial": (Polynomial(degree=2, gamma=0.15, coef0=1.5), vectors),
    "chi2": (ChiSquared(0.5), histograms),
    "log-euclidean": (LogEuclideanGaussian(0.2), spd),
    "affine-invariant": (AffineInvariantGaussian(0.2, np.diag([1.0, 4.0, 9.0])), spd),
    "stein": (Stein(1.5), spd),
    "projection": (ProjectionGaussian(0.8), subspaces),
    "sum": (Gaussian(0.4) + 0.3 * Laplacian(0.1), vectors),
    "product": (Gaussian(0.1) * Laplacian(0.1), vectors),
    "normalized": (QUADRATIC, vectors),
    "view": (View([0, 2, 3], Gaussian(0.3)), vectors),
    "views of different kinds": (
        MultipleKernel([View("spd", Stein(1.5)), View("histogram", ChiSquared(0.5))], [0.6, 0.3]),
        kinds,
    ),
    "multiple": (MultipleKernel([Gaussian(0.2), Linear(), QUADRATIC], [0.5, 0.2, 0.1]), vectors),
    "multiple, free scale": (
        MultipleKernel([Gaussian(0.2), QUADRATIC.kernel, 2.0 * Laplacian(0.1)], [0.5, 0.2, 0.1]),
        vectors,
    ),
}


def dictionary(kernel, points, weights=None):
    plain = PointDictionary(kernel, points)
    return plain if weights is None else CombinationDictionary(plain, weights)


@dataclass(frozen=True)
class Setting:
    """Everything the ratio depends on, and the ratio computed the slow way."""

    coder: object
    kernel: object
    points: np.ndarray
    weights: np.ndarray | None
    samples: np.ndarray
    include_prior: bool = True
    regularization: float = 0.1

    @property
    def counts_prior(self):
        """The paper omits a prior that does not look at the kernel, and no other."""
        return self.include_prior or isinstance(self.coder, kc.KernelLCC | kc.KernelLLC)

    @property
    def problem(self):
        """The library's."""
        n_atoms = len(self.points) if self.weights is None else self.weights.shape[1]
        part = Part(np.arange(len(self.samples)), np.arange(n_atoms))
        coder = self.fitted(self.kernel)
        prepared = (self.kernel.prepare(self.points), self.kernel.prepare(self.samples))
        settings = kc.KernelLearning(
            include_prior=self.include_prior, regularization=self.regularization
        )
        return RatioProblem(
            coder.formulation(),
            options_of(coder),
            self.kernel,
            prepared[0],
            self.weights,
            prepared[1],
            [part],
            settings,
        )

    def fitted(self, kernel):
        atoms = dictionary(kernel, self.points, self.weights)
        return clone(self.coder).set_params(kernel=kernel, atoms=atoms).fit(self.samples)

    def similarities(self, kernel):
        """Self-similarities, cross-similarities and Gram matrix of the atoms."""
        A = np.eye(len(self.points)) if self.weights is None else self.weights
        own = np.array([kernel(self.samples[i : i + 1])[0, 0] for i in range(len(self.samples))])
        return own, kernel(self.samples, self.points) @ A, A.T @ kernel(self.points) @ A

    def ratio(self, kernel, codes=None):
        """L / J of codes; None: of those that the coder finds with this kernel."""
        own, cross, gram = self.similarities(kernel)
        if codes is None:
            codes = self.fitted(kernel).transform(self.samples)
        total = 0.0
        for k_xx, k, y in zip(own, cross, codes, strict=True):
            total += 0.5 * (k_xx - 2.0 * k @ y + y @ gram @ y)
            total += prior(self.coder, k_xx, k, gram, y) if self.counts_prior else 0.0
        return total / len(codes) / distances_among(gram)

    def value(self, theta):
        """The ratio, and for several kernels the penalty of unequal shares."""
        if not isinstance(self.kernel, MultipleKernel):
            return self.ratio(self.kernel.with_theta(theta))
        start = self.kernel.with_theta(self.normalised(self.kernel.theta)[0])
        theta, shares = self.normalised(theta)
        divergence = np.sum(shares * np.log(shares * len(shares)))
        penalty = self.regularization * self.ratio(start) * divergence
        return self.ratio(self.kernel.with_theta(theta)) + penalty

    def normalised(self, theta):
        """Theta at which shares of the mean diagonal sum to one, and the shares."""
        theta = np.array(theta)
        children = self.kernel.with_theta(theta).children
        means = np.array([np.mean(child.diagonal(self.samples)) for child in children])
        shares = np.exp(theta[-len(means) :]) * means
        theta[-len(means) :] -= np.log(shares.sum())
        return theta, shares / shares.sum()


def setting(coder_name, kernel_name, rng, combined=False, **options):
    kernel, sample = KERNELS[kernel_name]
    points = sample(rng, 12 if combined else N_ATOMS)
    weights = rng.normal(size=(12, N_ATOMS)) / 3.0 + np.eye(12, N_ATOMS) if combined else None
    return Setting(CODERS[coder_name], kernel, points, weights, sample(rng, 6), **options)


def followed(coder, X, seed):
    """The ratio that a fitted coder with ``random_state=seed`` followed, as a function of theta."""
    settings = coder.learn_kernel
    settings = kc.KernelLearning() if settings is True else settings
    kernel, index = coder.kernel_, coder.dictionary_.index
    outside = np.setdiff1d(np.arange(len(X)), index)
    if len(outside):
        rows, parts = outside, [Part(np.arange(len(outside)), np.arange(len(index)))]
    else:
        rows, (folds, _) = held_out(
            X, X[index], len(index), settings.n_folds, np.random.RandomState(seed)
        )
        parts = [Part(np.flatnonzero(folds == f), np.flatnonzero(folds != f)) for f in set(folds)]
    assert len(rows) <= settings.n_followed
    prepared = kernel.prepare(X[index]), kernel.prepare(X[rows])
    coding = coder.formulation(), options_of(coder)
    return RatioProblem(*coding, kernel, prepared[0], None, prepared[1], parts, settings)
