"""Where atoms come from: every sample, some of them, means in the Hilbert space, or the user."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics.pairwise import rbf_kernel

import kernelcoding as kc
from kernelcoding import memory
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.dictionary import candidates as candidates_module
from kernelcoding.dictionary.building import build_dictionary
from kernelcoding.dictionary.candidates import Candidates, KnownCandidates
from kernelcoding.dictionary.choosing import greedy_choice, leverage_choice, named_choice
from kernelcoding.kernels import Gaussian, Linear, LogEuclideanGaussian, Precomputed


def built(kernel, X, atoms, init="k-means++", seed=0):
    return build_dictionary(kernel, X, atoms, init, np.random.RandomState(seed))


@pytest.fixture
def samples(rng):
    return rng.normal(size=(40, 3))


def test_every_sample_is_an_atom_by_default(samples):
    coder = kc.KernelSparseCoder(kernel=Gaussian(gamma=0.3)).fit(samples)
    assert_array_equal(coder.dictionary_.points, samples)
    assert_allclose(coder.dictionary_.gram, rbf_kernel(samples, gamma=0.3))
    assert_allclose(coder.dictionary_.cross(samples[:4]), rbf_kernel(samples[:4], samples, 0.3))


@pytest.mark.parametrize("init", ["random", "k-means++", "leverage", "greedy"])
def test_sampled_atoms_are_different_samples(init, samples):
    for n_atoms in (1, 7, 40):
        dictionary = built(Gaussian(gamma=0.3), samples, n_atoms, init)
        assert len(set(dictionary.index)) == n_atoms
        assert_array_equal(dictionary.points, samples[dictionary.index])


def test_spreading_draws_in_proportion_to_squared_distance():
    """With one far group, the second atom nearly always lies there; by chance it would not."""
    X = np.zeros((50, 2))
    X[:45] = 1e-3 * np.arange(45)[:, None]
    X[45:] = 10.0
    second = [built(Linear(), X, 2, seed=seed).index for seed in range(100)]
    both = [len(np.unique(index >= 45)) == 2 for index in second]
    assert np.mean(both) > 0.99
    by_chance = [built(Linear(), X, 2, "random", seed).index for seed in range(100)]
    assert np.mean([len(np.unique(index >= 45)) == 2 for index in by_chance]) < 0.5


def test_spreading_survives_copies():
    X = np.repeat(np.eye(3), 4, axis=0)
    for seed in range(20):
        dictionary = built(Gaussian(), X, 5, seed=seed)
        assert len(set(dictionary.index)) == 5
        assert len(np.unique(dictionary.points[:3], axis=0)) == 3  # one of each before any copy


def labels_of(dictionary):
    """Cluster of each sample, from the weights of the means."""
    assert_array_equal(np.count_nonzero(dictionary.weights, axis=1), 1)
    return dictionary.weights.argmax(axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_kernel_k_means_ends_at_a_fixed_point_of_lloyd(seed, samples):
    dictionary = built(Linear(), samples, 6, "kernel-k-means", seed)
    labels = labels_of(dictionary)
    means = np.array([samples[labels == j].mean(axis=0) for j in range(6)])
    assert_allclose(dictionary.weights.T @ samples, means, atol=1e-12)
    assert_allclose(dictionary.gram, means @ means.T, atol=1e-12)
    distances = ((samples[:, None] - means[None]) ** 2).sum(axis=2)
    assert_array_equal(distances.argmin(axis=1), labels)


def test_kernel_k_means_in_a_gaussian_space_is_a_fixed_point(samples):
    dictionary = built(Gaussian(gamma=0.5), samples, 5, "kernel-k-means", 1)
    labels, gram = labels_of(dictionary), rbf_kernel(samples, gamma=0.5)
    distances = np.empty((40, 5))
    for j in range(5):
        own = labels == j
        within = gram[np.ix_(own, own)].mean()
        distances[:, j] = 1.0 - 2.0 * gram[:, own].mean(axis=1) + within
    assert_array_equal(distances.argmin(axis=1), labels)


def test_kernel_k_means_finds_clusters():
    X, groups = make_blobs([20] * 4, 2, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    labels = labels_of(built(Linear(), X, 4, "kernel-k-means"))
    assert len(set(zip(labels, groups, strict=True))) == 4


def test_kernel_k_means_separates_rings():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    X = np.vstack([circle, 6 * circle])
    ring = np.arange(80) >= 40
    squared_norms = (X**2).sum(axis=1)

    def by_radius(left, right):  # a kernel in which the rings are two points
        return np.outer((left**2).sum(axis=1), (right**2).sum(axis=1))

    labels = labels_of(built(kc.kernels.as_kernel(by_radius), X, 2, "kernel-k-means"))
    assert len(set(zip(labels, ring, strict=True))) == 2
    assert squared_norms.max() > 30


@pytest.mark.parametrize("seed", range(10))
def test_no_cluster_stays_empty_when_samples_repeat(seed):
    X = np.repeat(np.eye(3), 4, axis=0)
    dictionary = built(Gaussian(), X, 6, "kernel-k-means", seed)
    assert np.all((dictionary.weights > 0).sum(axis=0) >= 1)
    assert_allclose(dictionary.weights.sum(axis=0), 1.0)
    assert np.isfinite(dictionary.gram).all()
    labels = labels_of(dictionary)
    means = dictionary.weights.T @ X
    assert_allclose(X, means[labels])  # no mixture of different samples is left


def test_as_many_means_as_samples_are_the_samples(samples):
    dictionary = built(Linear(), samples, 40, "kernel-k-means")
    assert_allclose(np.sort(dictionary.weights.T @ samples, axis=0), np.sort(samples, axis=0))


def test_points_of_the_user(samples, rng):
    atoms = rng.normal(size=(5, 3))
    coder = kc.KernelBagOfWords(kernel="linear", atoms=atoms).fit(samples)
    assert_array_equal(coder.dictionary_.points, atoms)
    assert coder.dictionary_.index is None
    as_list = kc.KernelBagOfWords(kernel="linear", atoms=atoms.tolist()).fit(samples)
    assert_array_equal(as_list.transform(samples), coder.transform(samples))
    # The width of the kernel is measured on the samples, not on the atoms.
    named = kc.KernelBagOfWords(kernel="rbf", atoms=atoms).fit(samples)
    assert named.kernel_.gamma == kc.KernelBagOfWords(kernel="rbf").fit(samples).kernel_.gamma


def test_matrices_as_atoms(rng):
    factors = rng.normal(size=(12, 3, 6))
    X = factors @ factors.transpose(0, 2, 1)
    given = kc.KernelSparseCoder(kernel=LogEuclideanGaussian(gamma=0.1), atoms=X[:4]).fit(X)
    whole = kc.KernelSparseCoder(kernel=LogEuclideanGaussian(gamma=0.1)).fit(X[:4])
    assert_allclose(given.transform(X), whole.transform(X), atol=1e-12)


def test_a_dictionary_made_elsewhere_brings_its_kernel(samples, rng):
    landmarks = PointDictionary(Gaussian(gamma=0.7), samples[:10])
    weights = rng.normal(size=(10, 4))
    coder = kc.KernelSparseCoder(kernel="linear", atoms=CombinationDictionary(landmarks, weights))
    coder.fit(samples)
    assert repr(coder.kernel_) == "Gaussian(gamma=0.7)"
    assert_allclose(
        coder.dictionary_.cross(samples), rbf_kernel(samples, samples[:10], gamma=0.7) @ weights
    )
    assert coder.transform(samples).shape == (40, 4)
    factors = rng.normal(size=(6, 3, 6))
    stack = factors @ factors.transpose(0, 2, 1)
    matrices = PointDictionary(LogEuclideanGaussian(), stack)
    assert kc.KernelSparseCoder(atoms=matrices).fit(stack).transform(stack).shape == (6, 6)


def test_learned_atoms_serve_another_coder(samples):
    learned = kc.KernelLLC(atoms=8, init="kernel-k-means", random_state=0).fit(samples)
    other = kc.KernelSparseCoder(atoms=learned.dictionary_, alpha=0.05).fit(samples)
    assert other.dictionary_ is learned.dictionary_
    assert other.certify(samples, other.transform(samples)).max() < 1e-6


@pytest.mark.parametrize("atoms", [None, 9, [3, 1, 30], np.array([3, 1, 30], dtype=np.int32)])
def test_precomputed_atoms_are_training_indices(atoms, samples, rng):
    Q = rng.normal(size=(6, 3))
    gram, cross = rbf_kernel(samples, gamma=0.4), rbf_kernel(Q, samples, gamma=0.4)
    outside = kc.KernelSparseCoder(kernel="precomputed", atoms=atoms, random_state=2).fit(gram)
    index = outside.dictionary_.index
    points = samples[index]
    inside = kc.KernelSparseCoder(kernel=Gaussian(gamma=0.4), atoms=points).fit(samples)
    assert_allclose(outside.dictionary_.gram, rbf_kernel(points, gamma=0.4))
    assert_allclose(outside.transform(cross), inside.transform(Q), atol=1e-9)
    if isinstance(atoms, int):  # the same draw, whether the kernel is computed inside or outside
        drawn = kc.KernelSparseCoder(kernel=Gaussian(gamma=0.4), atoms=atoms, random_state=2)
        assert_array_equal(drawn.fit(samples).dictionary_.index, index)


def test_precomputed_means(samples, rng):
    Q = rng.normal(size=(6, 3))
    settings = {"atoms": 5, "init": "kernel-k-means", "random_state": 0}
    inside = kc.KernelSparseCoder(kernel=Gaussian(gamma=0.4), **settings).fit(samples)
    outside = kc.KernelSparseCoder(kernel="precomputed", **settings)
    outside.fit(rbf_kernel(samples, gamma=0.4))
    assert_allclose(
        outside.transform(rbf_kernel(Q, samples, gamma=0.4)), inside.transform(Q), atol=1e-9
    )


def test_more_atoms_explain_more():
    X = load_digits(return_X_y=True)[0][:200] / 16.0
    errors = {
        init: [
            kc.KernelMatchingPursuit("linear", n, n_nonzero=1, init=init, random_state=0)
            .fit(X)
            .reconstruction_error(X)
            .mean()
            for n in (4, 16, 64)
        ]
        for init in ("random", "k-means++", "kernel-k-means")
    }
    for values in errors.values():
        assert values == sorted(values, reverse=True)
    assert errors["kernel-k-means"][1] < errors["random"][1]  # means fit better than samples


def test_one_table_of_names_for_atoms_and_landmarks(samples):
    assert named_choice("leverage", "landmarks") == "leverage"
    assert named_choice("kernel-k-means", "init", means=True) == "kernel-k-means"
    with pytest.raises(ValueError, match=r"landmarks must be one of .*'random'\] or points, got"):
        named_choice("kernel-k-means", "landmarks")
    with pytest.warns(FutureWarning, match='landmarks="uniform" is now called "random"'):
        assert named_choice("uniform", "landmarks") == "random"
    coder = kc.KernelSparseCoder(kernel=Gaussian(0.3), alpha=0.05)
    fixed = {"n_atoms": 4, "n_landmarks": 9, "max_iter": 2}
    with pytest.warns(FutureWarning):
        old = kc.KernelDictionaryLearning(coder, landmarks="uniform", **fixed).fit(samples)
    new = kc.KernelDictionaryLearning(coder, landmarks="random", **fixed).fit(samples)
    assert_array_equal(old.objective_history_, new.objective_history_)


def test_results_repeat_by_default(samples):
    atoms = [kc.KernelLLC(atoms=7).fit(samples).dictionary_.index for _ in range(3)]
    assert_array_equal(atoms[0], atoms[1])
    drawn = [kc.KernelLLC(atoms=7, random_state=None).fit(samples).dictionary_ for _ in range(4)]
    assert len({tuple(one.index) for one in drawn}) > 1


def test_some_candidates_of_a_given_matrix_know_their_columns(rng):
    X = rng.normal(size=(9, 3))
    some = Candidates(Precomputed(), X @ X.T).take(np.array([7, 2, 5])).take(np.array([2, 0]))
    truth = X[[5, 7]] @ X[[5, 7]].T
    assert_allclose(some.facts().gram, truth)
    assert_allclose(some.similarity_to(np.array([1])), truth[:, [1]])
    diagonal, similarity_to = some.columns()
    assert_allclose(diagonal, np.diag(truth))
    assert_allclose(similarity_to(1), truth[:, 1])


def test_leverage_by_parts_draws_the_same(samples, monkeypatch):
    kernel = Gaussian(gamma=0.3)
    gram = rbf_kernel(samples, gamma=0.3)
    weight = np.linspace(0.5, 2.0, len(samples))
    for given in (Candidates(kernel, samples, None, weight), KnownCandidates(gram, weight)):
        whole = leverage_choice(given, 9, np.random.RandomState(3))
        with monkeypatch.context() as patch:
            patch.setattr(candidates_module, "TILE", 9 * 7)  # seven rows at a time
            parts = leverage_choice(given, 9, np.random.RandomState(3))
        assert_array_equal(parts, whole)


def test_leverage_keeps_no_row_of_every_sample(rng, monkeypatch):
    monkeypatch.setattr(candidates_module, "TILE", 2**15)
    n, m = 6000, 150
    given = Candidates(Gaussian(gamma=0.3), rng.normal(size=(n, 3)))
    leverage_choice(given.take(np.arange(200)), 5, np.random.RandomState(0))  # compiles
    tracemalloc.start()
    try:
        leverage_choice(given, m, np.random.RandomState(0))
        assert tracemalloc.get_traced_memory()[1] < 8 * n * m / 2
    finally:
        tracemalloc.stop()


def test_the_factor_of_a_greedy_choice_is_announced(samples, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 8 * 10 * 40 - 1)
    with pytest.warns(UserWarning, match=r"greedy choice of 10 among 40 samples .*k-means\+\+"):
        greedy_choice(Candidates(Gaussian(gamma=0.3), samples), 10, np.random.RandomState(0))
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 8 * 10 * 40)
    greedy_choice(Candidates(Gaussian(gamma=0.3), samples), 10, np.random.RandomState(0))
