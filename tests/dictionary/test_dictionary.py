"""What a dictionary answers: inner products, nearest atoms, and the clipping of indefinite ones."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel

import kernelcoding as kc
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.kernels import Gaussian, Linear, Normalized, Polynomial, Sigmoid
from kernelcoding.selection import smallest


@pytest.fixture
def points(rng):
    return rng.normal(size=(14, 3)), rng.normal(size=(9, 3))


def test_combinations_are_combinations_of_features(points, rng):
    Z, Q = points
    weights = rng.normal(size=(len(Z), 5))
    dictionary = CombinationDictionary(PointDictionary(Linear(), Z), weights)
    atoms = weights.T @ Z
    own, cross = dictionary.similarities(Q)
    assert dictionary.n_atoms == 5
    assert_allclose(dictionary.gram, atoms @ atoms.T, atol=1e-12)
    assert_array_equal(dictionary.gram, dictionary.gram.T)
    assert_allclose(cross, Q @ atoms.T, atol=1e-12)
    assert_allclose(dictionary.cross(Q), cross)
    assert_allclose(own, (Q**2).sum(axis=1))
    near = dictionary.nearest(Q, 3)
    distances = ((Q[:, None] - atoms[None]) ** 2).sum(axis=2)
    assert_array_equal(near.indices, np.argsort(distances, axis=1)[:, :3])
    assert_allclose(near.cross, np.take_along_axis(cross, near.indices, axis=1))


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(gamma=0.3), Linear(), Polynomial(degree=2), Normalized(Linear()), 2.0 * Gaussian()],
    ids=str,
)
def test_nearest_atoms_are_nearest_in_the_hilbert_space(kernel, points):
    Z, Q = points
    dictionary = PointDictionary(kernel, Z)
    for n_neighbors in (1, 4, 14, 50):
        near = dictionary.nearest(Q, n_neighbors)
        distances = dictionary.problem(Q).squared_distances()
        kept = min(n_neighbors, 14)
        chosen = np.take_along_axis(distances, near.indices, axis=1)
        assert_allclose(chosen, np.sort(distances, axis=1)[:, :kept], atol=1e-12)
        assert_allclose(
            near.cross, np.take_along_axis(kernel(Q, Z), near.indices, axis=1), atol=1e-12
        )
        assert_allclose(near.self_similarity, kernel.diagonal(Q), atol=1e-12)


def test_the_smallest_scores_prefer_the_lower_index():
    scores = np.array([[1.0, 0.0, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0]])
    assert_array_equal(smallest(scores, 3), [[1, 3, 0], [0, 1, 2]])
    assert_array_equal(smallest(scores, 1), [[1], [0]])
    assert_array_equal(smallest(scores, 9), [[1, 3, 0, 2, 4], [0, 1, 2, 3, 4]])


def test_errors_of_codes_are_never_negative(points):
    Z, _ = points
    problem = PointDictionary(Gaussian(), Z).problem(Z)
    assert_allclose(problem.squared_error(np.eye(len(Z))), 0.0, atol=1e-12)
    assert problem.squared_error(np.eye(len(Z))).min() >= 0
    assert problem.squared_distances().min() >= 0


# Indefinite kernels ---------------------------------------------------------------------------


@pytest.fixture
def clipped(points):
    with pytest.warns(UserWarning, match="indefinite"):
        return PointDictionary(Sigmoid(gamma=0.7, coef0=-0.5), points[0])


def test_an_indefinite_gram_is_clipped_to_its_positive_part(clipped, points):
    Z, Q = points
    raw = sigmoid_kernel(Z, gamma=0.7, coef0=-0.5)
    values, vectors = np.linalg.eigh(raw)
    assert values[0] < -0.1
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    assert_allclose(clipped.gram, positive, atol=1e-10)
    kept = vectors[:, values > 0]
    projected = sigmoid_kernel(Q, Z, gamma=0.7, coef0=-0.5) @ kept @ kept.T
    assert_allclose(clipped.cross(Q), projected, atol=1e-10)


def test_clipped_similarities_are_those_of_some_hilbert_space(clipped, points):
    _, Q = points
    own, cross = clipped.similarities(Q)
    for k_own, k in zip(own, cross, strict=True):
        bordered = np.block([[clipped.gram, k[:, None]], [k, k_own]])
        assert np.linalg.eigvalsh(bordered)[0] > -1e-9


def test_clipping_warns_once_at_fit_and_never_at_transform(points):
    X, Q = points
    coder = kc.KernelSparseCoder(kernel=Sigmoid(gamma=0.7, coef0=-0.5))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coder.fit(X)
    assert len(caught) == 1
    assert "clipped" in str(caught[0].message)
    codes = coder.transform(Q)  # warnings are errors
    assert np.isfinite(codes).all()
    assert coder.reconstruction_error(Q, codes).min() >= 0
    assert coder.certify(Q, codes).max() < 1e-6


def test_a_kernel_without_positive_part_is_refused(points):
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        kc.KernelSparseCoder(kernel=lambda X, Z: -rbf_kernel(X, Z)).fit(points[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_not_indefiniteness(dtype, rng):
    """A singular Gram matrix has tiny negative eigenvalues, the more so in single precision."""
    X = rng.normal(size=(60, 3)).astype(dtype)
    for kernel in (lambda X, Z: X @ Z.T, "precomputed"):
        data = X @ X.T if kernel == "precomputed" else X
        coder = kc.KernelSparseCoder(kernel=kernel, alpha=0.1).fit(data)  # warnings are errors
        assert_allclose(coder.dictionary_.gram, X @ X.T, rtol=1e-5)
        assert np.isfinite(coder.transform(data)).all()


def test_samples_too_large_for_their_own_similarity_are_refused():
    coder = kc.KernelSparseCoder("linear", alpha=0.1).fit(np.eye(3))
    with pytest.raises(ValueError, match=r"NaN or infinite similarities\. Rescale the samples"):
        coder.transform([[0.0, 0.0, 1e200]])
