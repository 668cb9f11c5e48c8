"""The ratio that kernel learning minimises, written out from kernel matrices; and its problems."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding.constraints import Simplex
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.kernels import (
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
from kernelcoding.learning.held_out import held_out
from kernelcoding.learning.ratio import Part, RatioProblem

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
    "simplex": kc.KernelCoder(constraint=Simplex(), alpha=0.05, **TIGHT),
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


QUADRATIC = Normalized(Polynomial(degree=2, gamma=0.2, coef0=0.7))
KERNELS = {
    "gaussian": (Gaussian(0.2), vectors),
    "laplacian": (Laplacian(0.3), vectors),
    "polynomial": (Polynomial(degree=2, gamma=0.15, coef0=1.5), vectors),
    "chi2": (ChiSquared(0.5), histograms),
    "log-euclidean": (LogEuclideanGaussian(0.2), spd),
    "stein": (Stein(1.5), spd),
    "projection": (ProjectionGaussian(0.8), subspaces),
    "sum": (Gaussian(0.4) + 0.3 * Laplacian(0.1), vectors),
    "product": (Gaussian(0.1) * Laplacian(0.1), vectors),
    "normalized": (QUADRATIC, vectors),
    "view": (View([0, 2, 3], Gaussian(0.3)), vectors),
    "multiple": (MultipleKernel([Gaussian(0.2), Linear(), QUADRATIC], [0.5, 0.2, 0.1]), vectors),
    "multiple, free scale": (
        MultipleKernel([Gaussian(0.2), QUADRATIC.kernel, 2.0 * Laplacian(0.1)], [0.5, 0.2, 0.1]),
        vectors,
    ),
}


def prior(coder, own, cross, gram, code):
    """What the objective of one code has beside half its squared error, from the paper."""
    distances = own - 2.0 * cross + np.diag(gram)
    if isinstance(coder, kc.KernelSparseCoder) and coder.groups is not None:
        groups = [coder.groups == label for label in np.unique(coder.groups)]
        return coder.alpha * sum(np.sqrt(g.sum()) * np.linalg.norm(code[g]) for g in groups)
    if isinstance(coder, (kc.KernelSparseCoder, kc.KernelCoder)):
        return coder.alpha * np.abs(code).sum()
    if isinstance(coder, kc.KernelLCC):
        return coder.alpha * np.abs(code) @ distances
    if isinstance(coder, kc.KernelLLC) and coder.n_neighbors is None:
        relative = np.sqrt(distances / distances.max())
        return coder.alpha * np.sum((np.exp(coder.sigma * relative) * code) ** 2)
    if isinstance(coder, kc.KernelLLC):
        trace = np.sort(distances)[: coder.n_neighbors].sum()
        return 0.5 * coder.regularization * trace * code @ code
    return 0.0


def distances_among(gram):
    """Mean squared distance between different atoms, from the matrix of all distances."""
    distances = np.diag(gram)[:, None] + np.diag(gram)[None] - gram - gram.T
    return distances[~np.eye(len(gram), dtype=bool)].mean()


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
    def problem(self):
        """The library's."""
        n_atoms = len(self.points) if self.weights is None else self.weights.shape[1]
        part = Part(np.arange(len(self.samples)), np.arange(n_atoms))
        coder = self._fitted(self.kernel)
        prepared = (self.kernel.prepare(self.points), self.kernel.prepare(self.samples))
        settings = kc.KernelLearning(
            include_prior=self.include_prior, regularization=self.regularization
        )
        return RatioProblem(
            coder, self.kernel, prepared[0], self.weights, prepared[1], [part], settings
        )

    def _fitted(self, kernel):
        atoms = dictionary(kernel, self.points, self.weights)
        return clone(self.coder).set_params(kernel=kernel, atoms=atoms).fit(self.samples)

    def similarities(self, kernel):
        """Self-similarities, cross-similarities and Gram matrix of the atoms."""
        A = np.eye(len(self.points)) if self.weights is None else self.weights
        own = np.array([kernel(x[None])[0, 0] for x in self.samples])
        return own, kernel(self.samples, self.points) @ A, A.T @ kernel(self.points) @ A

    def ratio(self, kernel, codes=None):
        """L / J of codes; None: of those that the coder finds with this kernel."""
        own, cross, gram = self.similarities(kernel)
        if codes is None:
            codes = self._fitted(kernel).transform(self.samples)
        total = 0.0
        for k_xx, k, y in zip(own, cross, codes, strict=True):
            total += 0.5 * (k_xx - 2.0 * k @ y + y @ gram @ y)
            total += prior(self.coder, k_xx, k, gram, y) if self.include_prior else 0.0
        return total / len(codes) / distances_among(gram)

    def value(self, theta):
        """The ratio, and for several kernels the price of unequal shares."""
        if not isinstance(self.kernel, MultipleKernel):
            return self.ratio(self.kernel.with_theta(theta))
        start = self.kernel.with_theta(self.normalised(self.kernel.theta)[0])
        theta, shares = self.normalised(theta)
        divergence = np.sum(shares * np.log(shares * len(shares)))
        price = self.regularization * self.ratio(start) * divergence
        return self.ratio(self.kernel.with_theta(theta)) + price

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
    assert len(rows) <= settings.n_samples_kernel
    prepared = kernel.prepare(X[index]), kernel.prepare(X[rows])
    return RatioProblem(coder, kernel, prepared[0], None, prepared[1], parts, settings)


def best_width(ratio, low, high, n_grid=25):
    """The least value of the ratio on a grid, refined."""
    grid = np.linspace(np.log(low), np.log(high), n_grid)
    values = [ratio(np.array([theta]))[0] for theta in grid]
    best = int(np.argmin(values))
    around = grid[max(best - 1, 0)], grid[min(best + 1, n_grid - 1)]
    refined = minimize_scalar(
        lambda theta: ratio(np.array([theta]))[0], bounds=around, method="bounded",
        options={"xatol": 1e-5},
    )  # fmt: skip
    candidates = [(values[best], grid[best]), (refined.fun, refined.x)]
    value, theta = min(candidates)
    return np.exp(theta), value
