"""Dictionary pair learning: against primal formulas, in any kernel, with landmarks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelcoding import KernelDictionaryPairLearning as PairLearning
from kernelcoding.classification import pair_learning
from kernelcoding.kernels import Gaussian, Linear
from reference import pair_learning as truth

GAMMA = 1.5


@parametrize_with_checks(
    [
        PairLearning(n_atoms=4, max_iter=3),
        PairLearning("rbf", n_atoms=4, n_landmarks=3, max_iter=3),
        PairLearning("chi2", n_atoms=4, max_iter=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    return X[:200], y[:200], X[200:320], y[200:320]


@pytest.fixture
def exact(monkeypatch):
    monkeypatch.setattr(pair_learning, "SMALL", 1e-15)
    monkeypatch.setattr(pair_learning, "SWEEPS", 3000)


def atoms_of(model):
    """Atoms of a linear model as columns."""
    return model.dictionary_.landmarks.points.T @ model.dictionary_.weights


def first_atoms(model, X, y):
    """Atoms at the start, as columns of each class: learning is stopped before the first round."""
    start = clone(model).set_params(callback=lambda progress: True).fit(X, y)
    assert start.n_iter_ == 0
    atoms = atoms_of(start)
    return [atoms[:, start.atom_classes_ == k] for k in range(len(start.classes_))]


# The published method --------------------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [60, 80], ids=["fewer samples", "fewer features"])
@pytest.mark.parametrize("separation", [0.0, 0.01, 0.3])
def test_the_linear_kernel_gives_the_published_method(separation, n_samples, exact, digits):
    X, y, Q, _ = digits
    few = y < 4
    X, y = X[few][:n_samples], y[few][:n_samples]
    given = {"tau": 0.1, "separation": separation, "regularization": 1e-3}
    model = PairLearning(Linear(), n_atoms=12, max_iter=3, tol=0, **given)
    unit = np.mean((X**2).sum(axis=1))
    D, P, history = truth.learn(X, y, first_atoms(model, X, y), 3, 0.1, separation, 1e-3 * unit)
    model.fit(X, y)
    assert_allclose(model.objective_history_, history / len(X), rtol=1e-6)
    assert_allclose(model.transform(Q), (np.vstack(P) @ Q.T).T, atol=1e-5)
    assert_allclose(atoms_of(model), np.hstack(D), atol=1e-5)
    scores = truth.scores(Q, D, P) + (Q**2).sum(axis=1)[:, None]
    assert_allclose(model.decision_function(Q), scores, atol=1e-5)
    assert_array_equal(model.predict(Q), np.unique(y)[scores.argmax(axis=1)])


def test_a_kernel_is_the_published_method_on_its_vectors(exact, digits):
    """Coordinates in H from the kernel matrix of everything: samples and queries."""
    X, y, Q, _ = digits
    X, y, Q = X[:80], y[:80] % 3, Q[:30]
    values, axes = np.linalg.eigh(rbf_kernel(np.vstack([X, Q]), gamma=GAMMA))
    vectors = axes * np.sqrt(np.maximum(values, 0.0))
    F, G = vectors[:80], vectors[80:]
    given = {"n_atoms": 9, "max_iter": 3, "tol": 0}
    model = PairLearning(Gaussian(GAMMA), **given).fit(X, y)
    start = first_atoms(PairLearning(Linear(), **given), F, y)
    D, P, history = truth.learn(F, y, start, 3, 0.05, 0.003, 1e-4)
    assert_allclose(model.objective_history_, history / 80, rtol=1e-6)
    assert_allclose(model.transform(Q), (np.vstack(P) @ G.T).T, atol=1e-5)
    assert_allclose(model.decision_function(Q), truth.scores(G, D, P) + 1.0, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_the_objective_never_rises(kernel, n_landmarks, digits):
    X, y, _, _ = digits
    model = PairLearning(kernel, n_atoms=40, n_landmarks=n_landmarks, tol=0, max_iter=8).fit(X, y)
    history = model.objective_history_
    assert len(history) == 1 + 3 * 8
    assert np.all(np.diff(history) <= 1e-12 * history[:-1])
    assert history[-1] < 0.9 * history[0]
    assert list(model.objective_steps_[:4]) == ["codes", "analysis", "atoms", "codes"]
    norms = np.sqrt(np.diag(model.dictionary_.gram))
    assert norms.max() <= 1 + 1e-9


def test_maps_and_atoms_cannot_be_improved(digits):
    """At the end no step of any size in the maps lowers the objective, computed in the primal."""
    X, y, _, _ = digits
    X, y = X[:60], y[:60] % 3
    model = PairLearning(n_atoms=6, max_iter=5).fit(X, y)
    D = [atoms_of(model)[:, model.atom_classes_ == k] for k in range(3)]
    maps = model.dictionary_.landmarks.points.T @ model.analysis_
    P = [maps[:, model.atom_classes_ == k].T for k in range(3)]
    A = []
    for k in range(3):
        own, others = X[y == k].T, X[y != k].T
        # The codes that the maps were made of: P = tau A X' inv(M).
        M = 0.05 * own @ own.T + 0.003 * others @ others.T + 1e-4 * np.eye(64)
        A.append(np.linalg.lstsq((0.05 * own.T).T, (P[k] @ M).T, rcond=None)[0].T)
    given = 0.05, 0.003, 1e-4
    best = truth.objective(X, y, range(3), D, P, A, *given)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-4):
        moved = [p + size * rng.normal(size=p.shape) for p in P]
        assert truth.objective(X, y, range(3), D, moved, A, *given) > best


# Landmarks -------------------------------------------------------------------------------------


def test_all_samples_as_landmarks_change_nothing(digits):
    X, y, Q, _ = digits
    given = {"n_atoms": 30, "max_iter": 4, "tol": 0}
    plain = PairLearning("linear", **given).fit(X, y)
    spanned = PairLearning("linear", landmarks=X, **given).fit(X, y)
    assert_allclose(spanned.objective_history_, plain.objective_history_, rtol=1e-5)
    assert_allclose(spanned.decision_function(Q), plain.decision_function(Q), atol=1e-3)


def test_landmarks_are_the_published_method_on_their_coordinates(exact, digits):
    X, y, Q, _ = digits
    y = y % 3
    given = {"n_atoms": 9, "max_iter": 3, "tol": 0}
    model = PairLearning(Gaussian(GAMMA), landmarks=X[:20], **given).fit(X, y)
    values, axes = np.linalg.eigh(rbf_kernel(X[:20], gamma=GAMMA))
    F, G = (rbf_kernel(part, X[:20], gamma=GAMMA) @ axes / np.sqrt(values) for part in (X, Q))
    start = clone(model).set_params(callback=lambda progress: True).fit(X, y)
    atoms = np.sqrt(values)[:, None] * (axes.T @ start.dictionary_.weights)
    D, P, history = truth.learn(
        F, y, [atoms[:, start.atom_classes_ == k] for k in range(3)], 3, 0.05, 0.003, 1e-4
    )
    assert_allclose(model.objective_history_, history / 200, rtol=1e-6)
    assert_allclose(model.transform(Q), (np.vstack(P) @ G.T).T, atol=1e-5)
    assert_allclose(
        model.decision_function(Q), truth.scores(G, D, P) + (G**2).sum(axis=1)[:, None], atol=1e-5
    )


def test_few_features_need_no_matrix_of_all_samples(digits):
    X, y, _, _ = digits
    model = PairLearning(n_atoms=20, max_iter=2).fit(X, y)
    assert model.analysis_.shape == model.dictionary_.weights.shape == (64, 20)
    wide = PairLearning(n_atoms=20, max_iter=2).fit(X[:60], y[:60])
    assert wide.analysis_.shape == (60, 20)


def test_blocks_change_nothing(digits, monkeypatch):
    X, y, Q, _ = digits
    model = PairLearning("rbf", n_atoms=20, n_landmarks=30, max_iter=3)
    whole = model.fit(X, y).decision_function(Q)
    monkeypatch.setattr(pair_learning, "BLOCK_SIZE", 1)
    assert_allclose(model.fit(X, y).decision_function(Q), whole, atol=1e-8)


# What users do ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [PairLearning(n_atoms=50), PairLearning("rbf", n_atoms=50), PairLearning("rbf", n_atoms=50,
     n_landmarks=100)],
    ids=["linear", "rbf", "landmarks"],
)  # fmt: skip
def test_digits_are_told_apart(model, digits):
    X, y, Q, labels = digits
    assert model.fit(X, y).score(Q, labels) > 0.88


def test_a_given_matrix_is_the_same_kernel(digits):
    X, y, Q, _ = digits
    given = {"n_atoms": 20, "max_iter": 3}
    inside = PairLearning(Gaussian(GAMMA), **given).fit(X, y)
    outside = PairLearning("precomputed", **given).fit(rbf_kernel(X, gamma=GAMMA), y)
    assert_allclose(
        outside.decision_function(rbf_kernel(Q, X, gamma=GAMMA)),
        inside.decision_function(Q),
        atol=1e-8,
    )
    scores = [
        cross_val_score(PairLearning(k, **given), data, y, cv=2)
        for k, data in ((Gaussian(GAMMA), X), ("precomputed", rbf_kernel(X, gamma=GAMMA)))
    ]
    assert_array_equal(*scores)


def test_covariances(rng):
    factors = rng.normal(size=(80, 3, 8))
    X = factors @ factors.transpose(0, 2, 1) / 8
    y = np.repeat(["narrow", "wide"], 40)
    X[40:] *= 3.0
    model = PairLearning("log-euclidean", n_atoms=10).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.85
    assert set(model.classes_) == {"narrow", "wide"}
    assert model.decision_function(X).shape == (80,)
    assert_array_equal(model.predict(X) == "wide", model.decision_function(X) > 0)


def test_texts_are_the_vectors_of_their_letters(rng):
    letters = np.array(list("abcd"))
    y = np.repeat(["first", "last"], 20)
    words = ["".join(rng.choice(letters[s : s + 3], 6)) for s in np.repeat([0, 1], 20)]
    counts = np.array([[word.count(letter) for letter in letters] for word in words], float)

    def common(X, Z):
        return np.array([[sum(x.count(a) * z.count(a) for a in letters) for z in Z] for x in X])

    texts = PairLearning(common, n_atoms=6, n_landmarks=12).fit(words, y)
    vectors = PairLearning("linear", n_atoms=6, n_landmarks=12).fit(counts, y)
    assert texts.transform(words).dtype == np.float64
    assert_allclose(texts.decision_function(words), vectors.decision_function(counts), atol=1e-8)


def test_classes_of_different_sizes_and_of_one_sample(digits):
    X, y, _, _ = digits
    kept = np.flatnonzero((y == 0) | (y == 1))
    kept = np.append(kept, np.flatnonzero(y == 2)[0])
    model = PairLearning("rbf", n_atoms=15, max_iter=4).fit(X[kept], y[kept])
    assert list(np.bincount(model.atom_classes_)) == [7, 7, 1]
    assert model.predict(X[kept[-1:]])[0] == 2
    assert np.all(np.diff(model.objective_history_) <= 1e-12)


def test_the_scale_of_the_samples_does_not_matter(digits):
    X, y, Q, _ = digits
    one = PairLearning(n_atoms=30, max_iter=4).fit(X, y)
    other = PairLearning(n_atoms=30, max_iter=4).fit(100.0 * X, y)
    assert_allclose(other.decision_function(100.0 * Q), 1e4 * one.decision_function(Q), rtol=1e-5)


def test_random_state_and_threads(digits):
    X, y, Q, _ = digits

    def scores(**given):
        return PairLearning("rbf", n_atoms=30, max_iter=2, **given).fit(X, y).decision_function(Q)

    assert_array_equal(scores(), scores())
    assert not np.allclose(scores(), scores(random_state=1))
    assert_allclose(scores(n_jobs=2), scores(), atol=1e-10)


def test_codes_are_named_and_keep_their_precision(digits):
    X, y, Q, _ = digits
    model = PairLearning("rbf", n_atoms=10, max_iter=2).fit(X.astype("f4"), y)
    codes = model.transform(Q.astype("f4"))
    assert codes.dtype == np.float32
    assert codes.shape == (120, 10)
    assert model.get_feature_names_out()[0] == "kerneldictionarypairlearning0"
    double = PairLearning("rbf", n_atoms=10, max_iter=2).fit(X, y)
    assert_allclose(codes, double.transform(Q), atol=1e-2)


def test_callbacks_stop_learning(digits):
    X, y, _, _ = digits
    model = PairLearning(n_atoms=20, callback=lambda progress: progress.iteration == 2, tol=0)
    assert model.fit(X, y).n_iter_ == 2
    assert model.status_ == "callback"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_atoms": 3}, "n_atoms=3 must be at least the number of classes, 10"),
        ({"n_atoms": 201}, "at most the number of training samples, n_samples=200"),
        ({"n_atoms": 0}, "n_atoms must be an integer of at least 1"),
        ({"tau": 0.0}, "tau must be a positive number"),
        ({"separation": -1.0}, "separation must be a positive number"),
        ({"regularization": 0}, "regularization must be a positive number"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer of at least 1"),
        ({"landmarks": "best", "n_landmarks": 9}, "landmarks must be one of"),
    ],
)
def test_parameters_that_make_no_sense(given, message, digits):
    X, y, _, _ = digits
    with pytest.raises(ValueError, match=message):
        PairLearning(**{"n_atoms": 20, **given}).fit(X, y)


def test_zero_samples_are_refused():
    with pytest.raises(ValueError, match="All samples are zero"):
        PairLearning(n_atoms=2).fit(np.zeros((4, 2)), [0, 0, 1, 1])
