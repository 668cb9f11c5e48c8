"""One test for each row of the paper's errata: the corrected form holds, the printed one fails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.decomposition import sparse_encode
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Polynomial

GAMMA = 1.5


@pytest.fixture(scope="module")
def digits():
    X = normalize(load_digits(return_X_y=True)[0])
    return X[:30], X[30:45]


def test_factorised_sparse_coding(digits):
    """Printed ``A = U S^1/2, x = U S^-1/2 k``; right ``A = S^1/2 U', x = S^-1/2 U'k``."""
    X, Q = digits
    alpha = 0.02
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X, Q, gamma=GAMMA)
    values, U = np.linalg.eigh(gram)
    root = np.sqrt(values)
    right = root[:, None] * U.T, (U.T @ cross) / root[:, None]
    printed = U * root, (U / root) @ cross
    codes = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=alpha).fit(X).transform(Q)

    def solved(matrix, targets):
        return sparse_encode(targets.T, matrix.T, algorithm="lasso_lars", alpha=alpha)

    assert_allclose(right[0].T @ right[0], gram, atol=1e-12)
    assert_allclose(right[0].T @ right[1], cross, atol=1e-12)
    assert_allclose(solved(*right), codes, atol=1e-6)
    assert np.abs(printed[0].T @ printed[0] - gram).max() > 0.1
    assert_allclose(printed[0].T @ printed[1], cross, atol=1e-12)  # this half of it is right
    assert np.abs(solved(*printed) - codes).max() > 0.1


def test_locality_prior_penalises_far_atoms(digits):
    """Printed ``exp(-sigma dist)``; right ``exp(+sigma dist)``."""
    X, Q = digits
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    distances = np.sqrt(2.0 - 2.0 * cross)
    distances /= distances.max(axis=1, keepdims=True)
    sigma, alpha = 3.0, 1e4  # the prior decides

    def solved(sign):
        codes = []
        for k, dist in zip(cross, distances, strict=True):
            price = np.exp(sign * sigma * dist)
            centred = gram - k[:, None] - k + 1.0
            weights = np.linalg.solve(centred + 2 * alpha * np.diag(price**2), np.ones(len(X)))
            codes.append(weights / weights.sum())
        return np.array(codes)

    coder = kc.KernelLLC(Gaussian(gamma=GAMMA), n_neighbors=None, sigma=sigma, alpha=alpha)
    codes = coder.fit(X).transform(Q)
    assert_allclose(codes, solved(+1.0), atol=1e-9)
    assert np.abs(codes - solved(-1.0)).max() > 0.05

    def share_of_the_far_half(of):
        far = distances > np.median(distances, axis=1, keepdims=True)
        return np.abs(of * far).sum() / np.abs(of).sum()

    assert share_of_the_far_half(codes) < 0.25
    assert share_of_the_far_half(solved(-1.0)) > 0.5


def test_approximate_llc_is_symmetric_and_sums_to_one(digits):
    """Printed ``(K - k 1') y = 1`` over the l1 norm; right the centred Gram over the sum."""
    X, Q = digits
    size, ridge = 6, 1e-4
    coder = kc.KernelLLC(Gaussian(gamma=GAMMA), n_neighbors=size, regularization=ridge).fit(X)
    codes = coder.transform(Q)
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    broken_sums, negative = 0, 0
    for code, k in zip(codes, cross, strict=True):
        near = np.argsort(-k)[:size]
        local, own = gram[np.ix_(near, near)], k[near]
        centred = local - own[:, None] - own + 1.0
        weights = np.linalg.solve(centred + ridge * np.trace(centred) * np.eye(size), np.ones(size))
        assert_allclose(code[near], weights / weights.sum(), rtol=1e-6)
        printed = np.linalg.solve(local - own[:, None], np.ones(size))
        printed /= np.abs(printed).sum()
        broken_sums += abs(printed.sum() - 1.0) > 1e-6
        negative += weights.min() < 0
        best = ((code[near] @ centred) * code[near]).sum()
        sloppy = printed / printed.sum()
        assert best <= ((sloppy @ centred) * sloppy).sum() + 1e-3
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12)
    assert negative > 0  # the case that breaks the printed normalisation does occur
    assert broken_sums > 0


def test_dictionary_update_is_the_pseudo_inverse(rng):
    """Printed ``A = (YY')^-1 Y`` (N x M); right ``A = Y'(YY')^-1 = pinv(Y)`` (M x N)."""
    n_samples, n_atoms = 25, 6
    X = rng.normal(size=(n_samples, 3))
    samples = PointDictionary(Gaussian(gamma=0.3), X)
    codes = rng.normal(size=(n_samples, n_atoms))  # rows; the paper's Y is their transpose
    Y = codes.T
    right = Y.T @ np.linalg.inv(Y @ Y.T)
    printed = np.linalg.inv(Y @ Y.T) @ Y
    assert_allclose(right, np.linalg.pinv(Y), atol=1e-10)
    assert right.shape == (n_samples, n_atoms)
    assert printed.shape == (n_atoms, n_samples)

    def error(weights):
        dictionary = CombinationDictionary(samples, weights)
        return dictionary.problem(X).squared_error(codes).sum()

    residual = np.eye(n_samples) - right @ Y
    assert_allclose(error(right), np.trace(residual.T @ samples.gram @ residual), rtol=1e-9)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert error(right + scale * rng.normal(size=right.shape)) > error(right)
    with pytest.raises(ValueError, match="mismatch"):  # the printed weights fit no landmark
        error(printed)


def test_squared_distance_adds_both_norms(rng):
    """Printed ``k_ii - 2 k_ij - k_jj``; right ``k_ii - 2 k_ij + k_jj``."""
    X, Q = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    problem = PointDictionary(Linear(), X).problem(Q)
    explicit = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    assert_allclose(problem.squared_distances(), explicit, atol=1e-12)
    printed = problem.self_similarity[:, None] - 2 * problem.cross - np.diag(problem.gram)
    assert printed.min() < 0  # no distance at all
    assert np.abs(printed - explicit).max() > 1.0


def test_gaussian_kernel_takes_the_difference(rng):
    """Printed ``||x_i, x_j||``, a norm of the pair; right ``||x_i - x_j||``."""
    X = rng.normal(size=(6, 4))
    gram = kc.KernelSparseCoder(kernel=Gaussian(gamma=0.3)).fit(X).dictionary_.gram
    by_loops = np.array([[np.exp(-0.3 * np.sum((a - b) ** 2)) for b in X] for a in X])
    of_pairs = np.array([[np.exp(-0.3 * np.sum(np.r_[a, b] ** 2)) for b in X] for a in X])
    assert_allclose(gram, by_loops, atol=1e-14)
    assert_allclose(np.diag(gram), 1.0)
    assert np.abs(gram - of_pairs).max() > 0.1


def test_the_ratio_of_multiple_kernel_coding_is_best_at_one_kernel(digits, rng):
    """A ratio of two functions linear in the weights has its minimum at a vertex."""
    X, Q = digits
    kernels = [Gaussian(gamma=0.5), Gaussian(gamma=5.0), Polynomial(degree=2), Linear()]
    codes = kc.KernelSparseCoder(kernel=MultipleKernel(kernels), alpha=0.05).fit(X).transform(Q)

    def ratio(weights):
        dictionary = PointDictionary(MultipleKernel(kernels, weights=list(weights)), X)
        loss = dictionary.problem(Q).squared_error(codes).mean()
        gram = dictionary.gram
        spread = (np.diag(gram)[:, None] - 2 * gram + np.diag(gram)).mean()
        return loss / spread

    vertices = [ratio(vertex) for vertex in np.eye(len(kernels))]
    mixtures = [ratio(weights) for weights in rng.dirichlet(np.ones(len(kernels)), size=300)]
    assert min(mixtures) >= min(vertices) - 1e-12
    assert max(mixtures) <= max(vertices) + 1e-12
    assert np.ptp(vertices) > 0.01
    # Both parts are linear in the weights, by explicit sums of the base kernels.
    weights = rng.dirichlet(np.ones(len(kernels)))
    by_hand = (
        weights[0] * rbf_kernel(X, gamma=0.5)
        + weights[1] * rbf_kernel(X, gamma=5.0)
        + weights[2] * polynomial_kernel(X, degree=2, gamma=1.0)
        + weights[3] * (X @ X.T)
    )
    assert_allclose(
        PointDictionary(MultipleKernel(kernels, weights=list(weights)), X).gram, by_hand, atol=1e-12
    )
