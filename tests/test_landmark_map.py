"""Landmark maps: inner products of vectors against the kernel, and against peers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from kernelcoding import LandmarkMap, landmark_map
from kernelcoding.dictionary.candidates import Candidates
from kernelcoding.dictionary.choosing import greedy_choice
from kernelcoding.kernels import Gaussian, Linear, LogEuclideanGaussian, Polynomial
from reference import landmarks as truth

GAMMA = 2.0
CHOICES = ["random", "k-means++", "leverage", "greedy"]
EVERY_CHOICE = pytest.mark.parametrize("choice", CHOICES)


@parametrize_with_checks(
    [
        LandmarkMap(),
        LandmarkMap("linear", n_landmarks=2, landmarks="greedy", n_jobs=2),
        LandmarkMap("chi2", landmarks="leverage"),
        LandmarkMap(Gaussian(gamma="scale") + Polynomial(degree=2), landmarks="random"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return normalize(load_digits(return_X_y=True)[0][:150])


@pytest.fixture(scope="module")
def Q():
    return normalize(load_digits(return_X_y=True)[0][150:190])


def covariances(rng, n):
    factors = rng.normal(size=(n, 3, 8))
    return factors @ factors.transpose(0, 2, 1) / 8


def subspaces(rng, n):
    return np.linalg.qr(rng.normal(size=(n, 5, 2)))[0]


def histograms(rng, n):
    return rng.dirichlet(np.ones(6), size=n)


def vectors(rng, n):
    return rng.normal(size=(n, 4))


KINDS = {
    "rbf": vectors,
    "linear": vectors,
    "poly": vectors,
    "laplacian": vectors,
    "chi2": histograms,
    "intersection": histograms,
    "log-euclidean": covariances,
    "stein": covariances,
    "projection": subspaces,
    "projection-gaussian": subspaces,
}


@pytest.mark.parametrize(("kernel", "draw"), KINDS.items(), ids=KINDS.keys())
def test_all_samples_as_landmarks_reproduce_the_kernel(kernel, draw, rng):
    X, Q = draw(rng, 25), draw(rng, 6)
    mapped = LandmarkMap(kernel, n_landmarks=25).fit(X)
    k = mapped.kernel_
    f, g = mapped.transform(X), mapped.transform(Q)
    assert f.shape == (25, 25)
    assert_allclose(f @ f.T, k(X), atol=1e-9 * np.abs(k(X)).max())
    # Exact also where one of the two is a landmark.
    assert_allclose(g @ f.T, k(Q, X), atol=1e-9 * np.abs(k(X)).max())
    assert_array_equal(mapped.landmark_indices_, np.arange(25))
    assert_array_equal(mapped.landmarks_, X)


def test_a_function_and_a_given_matrix_are_the_same_kernel(X, Q):
    inside = LandmarkMap(Gaussian(gamma=GAMMA), 20).fit(X)
    function = LandmarkMap(lambda A, B: rbf_kernel(A, B, gamma=GAMMA), 20).fit(X)
    given = LandmarkMap("precomputed", 20).fit(rbf_kernel(X, gamma=GAMMA))
    assert_array_equal(inside.landmark_indices_, given.landmark_indices_)
    assert_array_equal(inside.landmark_indices_, function.landmark_indices_)
    expected = inside.transform(Q)
    assert_allclose(function.transform(Q), expected, atol=1e-10)
    assert_allclose(given.transform(rbf_kernel(Q, X, gamma=GAMMA)), expected, atol=1e-10)


@EVERY_CHOICE
def test_the_same_as_scikit_learn_for_the_same_landmarks(choice, X, Q):
    ours = LandmarkMap(Gaussian(gamma=GAMMA), 20, landmarks=choice).fit(X)
    peer = Nystroem(kernel="rbf", gamma=GAMMA, n_components=20).fit(ours.landmarks_)
    theirs, mine = peer.transform(Q), ours.transform(Q)
    assert_allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-10)
    rotation = ours.transform(ours.landmarks_)[peer.component_indices_].T @ np.linalg.inv(
        peer.transform(peer.components_).T
    )
    assert_allclose(rotation @ rotation.T, np.eye(20), atol=1e-7)
    assert_allclose(theirs @ rotation.T, mine, atol=1e-7)


@EVERY_CHOICE
def test_inner_products_are_those_of_projections(choice, X, Q):
    mapped = LandmarkMap(Gaussian(gamma=GAMMA), 30, landmarks=choice, random_state=3).fit(X)
    gram = rbf_kernel(np.vstack([X, Q]), gamma=GAMMA)
    left = truth.residual(gram, mapped.landmark_indices_)
    f = mapped.transform(np.vstack([X, Q]))
    assert_allclose(f @ f.T, gram - left, atol=1e-9)
    assert_allclose(mapped.reconstruction_error(Q), np.diag(left)[150:], atol=1e-9)


@EVERY_CHOICE
def test_more_landmarks_approximate_better(choice, X):
    gram = rbf_kernel(X, gamma=GAMMA)
    errors = []
    for count in (5, 15, 45, 135):
        f = LandmarkMap(Gaussian(gamma=GAMMA), count, landmarks=choice).fit(X).transform(X)
        errors.append(np.linalg.norm(gram - f @ f.T, 2))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.2 * errors[0]


# Greedy ---------------------------------------------------------------------------------------


def test_greedy_is_pivoted_cholesky(X):
    gram = rbf_kernel(X, gamma=GAMMA)
    chosen, traces = truth.greedy(gram, 25)
    candidates = Candidates(Gaussian(gamma=GAMMA), X)
    assert_array_equal(greedy_choice(candidates, 25, np.random.RandomState(0)), chosen)
    for count in (1, 10, 25):
        mapped = LandmarkMap(Gaussian(gamma=GAMMA), count, "greedy", n_candidates=150).fit(X)
        assert set(mapped.landmark_indices_) == set(chosen[:count])
        assert_allclose(mapped.reconstruction_error(X).sum(), traces[count - 1], rtol=1e-9)


def test_greedy_leaves_no_sample_far_away(X):
    """The worst explained sample is what it looks at; sums may be smaller by chance."""

    def left(choice, seed=0):
        given = {"n_landmarks": 50, "landmarks": choice, "random_state": seed}
        return LandmarkMap(Gaussian(gamma=GAMMA), **given).fit(X).reconstruction_error(X).max()

    assert left("greedy") < min(left("random", seed) for seed in range(5))


def test_greedy_spans_everything_as_soon_as_possible(rng):
    """Three directions, each found before any copy; then whatever is left."""
    X = np.repeat(np.diag([3.0, 2.0, 1.0]), 4, axis=0)
    chosen = greedy_choice(Candidates(Linear(), X), 12, np.random.RandomState(0))
    assert_array_equal(chosen[:3], [0, 4, 8])
    assert_array_equal(np.sort(chosen), np.arange(12))
    zero = greedy_choice(Candidates(Linear(), np.zeros((4, 2))), 3, np.random.RandomState(0))
    assert len(set(zero)) == 3


def test_greedy_chooses_atoms_and_landmarks_of_dictionaries(X):
    chosen, _ = truth.greedy(rbf_kernel(X, gamma=GAMMA), 10)
    coder = kc.KernelSparseCoder(Gaussian(gamma=GAMMA), atoms=10, init="greedy").fit(X)
    assert_array_equal(coder.dictionary_.index, chosen)
    learned = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(Gaussian(gamma=GAMMA), init="greedy"),
        n_atoms=5,
        n_landmarks=20,
        landmarks="greedy",
        init="greedy",
        max_iter=2,
    ).fit(X)
    index = learned.dictionary_.landmarks.index
    assert_array_equal(index, np.sort(truth.greedy(rbf_kernel(X, gamma=GAMMA), 20)[0]))


# Rank -----------------------------------------------------------------------------------------


def test_directions_at_the_level_of_rounding_are_zero(rng):
    X = rng.normal(size=(30, 3))
    mapped = LandmarkMap("linear", 30).fit(X)
    f = mapped.transform(X)
    assert mapped.rank_ == np.linalg.matrix_rank(mapped.normalization_) == 3
    assert np.linalg.matrix_rank(f) == 3
    assert_allclose(f @ f.T, X @ X.T, atol=1e-12)
    assert np.abs(f).max() <= np.linalg.norm(X, axis=1).max() * (1 + 1e-12)


def test_copies_among_the_landmarks_do_no_harm(X, Q):
    twice = np.repeat(X[:10], 2, axis=0)
    plain = LandmarkMap(Gaussian(gamma=GAMMA), landmarks=X[:10]).fit(X)
    copies = LandmarkMap(Gaussian(gamma=GAMMA), landmarks=twice).fit(X)
    f, g = plain.transform(Q), copies.transform(Q)
    assert copies.rank_ == 10
    assert g.shape == (40, 20)
    assert_allclose(g @ g.T, f @ f.T, atol=1e-10)
    assert plain.landmark_indices_ is None


# Sizes, precision, forms ----------------------------------------------------------------------


def test_blocks_and_threads_change_nothing(X, Q, monkeypatch):
    mapped = LandmarkMap("rbf", 12).fit(X)
    expected, errors = mapped.transform(Q), mapped.reconstruction_error(Q)
    monkeypatch.setattr(landmark_map, "BLOCK_SIZE", 1)
    for n_jobs in (None, 2):
        mapped.set_params(n_jobs=n_jobs)
        assert_allclose(mapped.transform(Q), expected, atol=1e-12)
        assert_allclose(mapped.reconstruction_error(Q), errors, atol=1e-12)


def test_float32_in_float32_out(X, Q):
    double = LandmarkMap(Gaussian(gamma=GAMMA), 30).fit(X)
    single = LandmarkMap(Gaussian(gamma=GAMMA), landmarks=double.landmarks_).fit(X.astype("f4"))
    f, g = double.transform(Q), single.transform(Q.astype("f4"))
    assert g.dtype == np.float32
    assert_allclose(g @ g.T, f @ f.T, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "chi2", Gaussian(gamma="scale")], ids=repr)
def test_sparse_samples_give_the_vectors_of_dense_ones(kernel, X, Q):
    dense, given = LandmarkMap(kernel, 15), LandmarkMap(kernel, 15)
    dense.fit(X), given.fit(sparse.csr_array(X))
    assert_array_equal(dense.landmark_indices_, given.landmark_indices_)
    assert_allclose(given.transform(sparse.csc_matrix(Q)), dense.transform(Q), atol=1e-12)
    assert_allclose(
        given.reconstruction_error(sparse.csr_array(Q)), dense.reconstruction_error(Q), atol=1e-12
    )


def test_widths_of_many_sparse_rows_are_those_of_dense_ones(rng):
    X = rng.normal(size=(2500, 3)) * (rng.random((2500, 3)) < 0.5)
    dense, given = LandmarkMap("rbf", 5).fit(X), LandmarkMap("rbf", 5).fit(sparse.csr_array(X))
    assert dense.kernel_.gamma == given.kernel_.gamma


def test_sparse_matrices_are_no_stacks_of_matrices():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        LandmarkMap("precomputed").fit(sparse.eye_array(4).tocsr())


def test_covariances_in_a_pipeline(rng):
    X = np.concatenate([covariances(rng, 40), 2.0 * covariances(rng, 40)])
    y = np.repeat([0, 1], 40)
    model = make_pipeline(LandmarkMap(LogEuclideanGaussian("median"), 30), LinearSVC())
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8


def test_grid_search_reaches_the_width(X):
    y = load_digits(return_X_y=True)[1][:150]
    pipeline = make_pipeline(LandmarkMap(n_landmarks=30), LinearSVC())
    search = GridSearchCV(pipeline, {"landmarkmap__kernel__gamma": [1e-3, 2.0]}, cv=2).fit(X, y)
    assert (
        search.best_estimator_[0].kernel_.gamma == search.best_params_["landmarkmap__kernel__gamma"]
    )


# Choices --------------------------------------------------------------------------------------


def test_random_state_repeats_and_matters(X):
    def chosen(seed):
        return LandmarkMap("rbf", 10, random_state=seed).fit(X).landmark_indices_

    assert_array_equal(chosen(0), chosen(0))
    assert not np.array_equal(chosen(0), chosen(1))


def test_uniform_is_random(X):
    one, other = (LandmarkMap("rbf", 9, landmarks=name).fit(X) for name in ("uniform", "random"))
    assert_array_equal(one.landmark_indices_, other.landmark_indices_)


def test_candidates_bound_what_is_looked_at(X):
    few = LandmarkMap("rbf", 10, "greedy", n_candidates=10).fit(X)
    all_of_them = LandmarkMap("rbf", 10, "greedy", n_candidates=150).fit(X)
    assert all_of_them.reconstruction_error(X).sum() < few.reconstruction_error(X).sum()
    assert len(few.landmark_indices_) == 10


def test_fewer_samples_than_landmarks(X):
    mapped = LandmarkMap("rbf", 100).fit(X[:7])
    assert mapped.transform(X).shape == (150, 7)
    assert list(mapped.get_feature_names_out()[:2]) == ["landmarkmap0", "landmarkmap1"]


def test_landmarks_are_a_dictionary(X, Q):
    mapped = LandmarkMap(Gaussian(gamma=GAMMA), 12).fit(X)
    coder = kc.KernelLLC(atoms=mapped.dictionary_).fit(X)
    assert coder.transform(Q).shape == (40, 12)


def test_an_indefinite_kernel_is_clipped(rng):
    X = rng.normal(size=(20, 3))

    def indefinite(A, B):
        return A[:, :2] @ B[:, :2].T - 0.5 * A[:, 2:] @ B[:, 2:].T

    with pytest.warns(UserWarning, match="indefinite on these atoms"):
        mapped = LandmarkMap(indefinite, 20).fit(X)
    values, axes = np.linalg.eigh(indefinite(X, X))
    positive = axes[:, values > 1e-9] * values[values > 1e-9] @ axes[:, values > 1e-9].T
    f = mapped.transform(X)
    assert_allclose(f @ f.T, positive, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be an integer of at least 1"),
        ({"n_candidates": 1.5}, "n_candidates must be an integer of at least 1"),
        ({"landmarks": "best"}, "landmarks must be one of .*'greedy'.* or points, got 'best'"),
        ({"landmarks": np.ones((2, 3))}, r"landmarks have shape \(3,\) each"),
        ({"kernel": "unknown"}, "unknown kernel name"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message, X):
    with pytest.raises(ValueError, match=message):
        clone(LandmarkMap()).set_params(**parameters).fit(X)
