"""Dictionary learning as users meet it: objectives fall, results repeat, parts plug together."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import kernelcoding as kc
from helpers.learning import digits, never_rises
from kernelcoding import constraints, priors
from kernelcoding.dictionary.candidates import Candidates
from kernelcoding.dictionary.choosing import spread_choice
from kernelcoding.dictionary_learning import base
from kernelcoding.kernel_learning import KernelLearning
from kernelcoding.kernels import (
    ChiSquared,
    Gaussian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Polynomial,
)
from reference.features import quadratic_features, squared_errors

GAMMA = 1.5
KERNEL = Gaussian(gamma=GAMMA)
N_ATOMS = 12


def learning(coder=None, n_atoms=N_ATOMS, **parameters):
    """Few rounds, all of them taken."""
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.02) if coder is None else clone(coder)
    return kc.KernelDictionaryLearning(
        coder, n_atoms, **{"max_iter": 4, "tol": 0, "random_state": 0, **parameters}
    )


# The objective ---------------------------------------------------------------------------------

EXACT = {
    "kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02),
    "positive kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02, positive=True),
    "group kSC": kc.KernelSparseCoder(KERNEL, alpha=0.02, groups=np.arange(N_ATOMS) % 4),
    "LCC": kc.KernelLCC(KERNEL, alpha=0.05),
    "simplex": kc.KernelCoder(KERNEL, alpha=0.02),
    "ridge": kc.KernelCoder(
        KERNEL, prior=priors.Ridge(), constraint=constraints.SumToOne(), alpha=0.05
    ),
    "elastic net": kc.KernelCoder(
        KERNEL, prior=priors.ElasticNet(), constraint=constraints.NonNegative(), alpha=0.02
    ),
    "exact LLC": kc.KernelLLC(KERNEL, n_neighbors=None),
    "exact LLC, dear": kc.KernelLLC(KERNEL, n_neighbors=None, alpha=1.0, sigma=3.0),
    "hard": kc.KernelBagOfWords(KERNEL, assignment="hard"),
    "soft": kc.KernelBagOfWords(KERNEL),
    "very soft": kc.KernelBagOfWords(KERNEL, sigma=1.0),
    "omp": kc.KernelMatchingPursuit(KERNEL, n_nonzero=3),
    "ols": kc.KernelMatchingPursuit(KERNEL, n_nonzero=3, selection="ols"),
}
EVERY_CODER = pytest.mark.parametrize("coder", EXACT.values(), ids=EXACT.keys())
BOTH_FRAMES = pytest.mark.parametrize("n_landmarks", [None, 40])


@EVERY_CODER
@BOTH_FRAMES
def test_the_objective_never_rises(coder, n_landmarks):
    X = digits(120)
    dl = learning(coder, n_landmarks=n_landmarks, max_iter=25).fit(X)
    history = dl.objective_history_
    assert never_rises(history)
    assert len(history) == 1 + 2 * dl.n_iter_
    if not isinstance(coder, kc.KernelMatchingPursuit):  # which may keep an older, better code
        assert_allclose(-dl.score(X), history[-1], rtol=1e-9)


@EVERY_CODER
@BOTH_FRAMES
def test_learning_gets_somewhere(coder, n_landmarks):
    dl = learning(coder, n_landmarks=n_landmarks, max_iter=8).fit(digits(120))
    assert dl.objective_history_[-1] < 0.85 * dl.objective_history_[0]


@BOTH_FRAMES
@pytest.mark.parametrize(
    ("name", "update"),
    [("kSC", update) for update in ("auto", "pinv", "coordinate", "points")]
    + [("omp", update) for update in ("auto", "pinv", "coordinate", "ksvd", "aksvd", "points")]
    + [("LCC", "points"), ("exact LLC", "points"), ("hard", "points"), ("hard", "coordinate")],
)
def test_no_update_raises_the_objective(name, update, n_landmarks):
    X = digits(120)
    dl = learning(EXACT[name], n_landmarks=n_landmarks, update=update, max_iter=25).fit(X)
    assert never_rises(dl.objective_history_)
    assert dl.objective_history_[-1] < 0.85 * dl.objective_history_[0]
    if name in ("kSC", "omp"):
        assert_allclose(np.diag(dl.dictionary_.gram), 1.0)


def covariances(rng, n, p):
    factors = rng.normal(size=(n, p, 2 * p))
    return factors @ factors.transpose(0, 2, 1) / (2 * p)


KERNELS = {
    "linear": (Linear(), lambda rng: digits(60)),
    "low rank": (Linear(), lambda rng: rng.normal(size=(60, 3))),
    "polynomial": (Polynomial(degree=3), lambda rng: digits(60)),
    "chi2": (ChiSquared(gamma=0.7), lambda rng: rng.dirichlet(np.ones(6), size=60)),
    "precomputed": ("precomputed", lambda rng: rbf_kernel(digits(60), gamma=GAMMA)),
    "stacks": (LogEuclideanGaussian(gamma=0.4), lambda rng: covariances(rng, 60, 3)),
    "several": (
        MultipleKernel([Gaussian(gamma="median"), Polynomial(degree=2)], weights=[0.7, 0.3]),
        lambda rng: digits(60),
    ),
}


@BOTH_FRAMES
@pytest.mark.parametrize("name", ["kSC", "LCC", "omp", "hard", "soft"])
@pytest.mark.parametrize(("kernel", "make"), KERNELS.values(), ids=KERNELS.keys())
def test_every_kernel_learns(kernel, make, name, n_landmarks, rng):
    X = make(rng)
    coder = clone(EXACT[name]).set_params(kernel=kernel)
    dl = learning(coder, n_landmarks=n_landmarks).fit(X)
    assert never_rises(dl.objective_history_)
    assert dl.transform(X[:5]).shape == (5, N_ATOMS)


@BOTH_FRAMES
def test_a_given_matrix_is_learned_like_its_kernel(n_landmarks, rng):
    X = 0.3 * rng.normal(size=(60, 6))  # k(x, x) differs from sample to sample
    by_points = learning(kc.KernelLCC(Polynomial(degree=3)), n_landmarks=n_landmarks).fit(X)
    gram = polynomial_kernel(X, degree=3, gamma=1.0)
    by_matrix = learning(kc.KernelLCC("precomputed"), n_landmarks=n_landmarks).fit(gram)
    assert_allclose(by_matrix.objective_history_, by_points.objective_history_, rtol=1e-6)


def test_the_score_is_the_objective_of_explicit_features(rng):
    X, Q = 0.7 * rng.normal(size=(50, 3)), 0.7 * rng.normal(size=(20, 3))
    dl = learning(kc.KernelSparseCoder(Polynomial(degree=2), alpha=0.1), 6).fit(X)
    atoms = dl.dictionary_.weights.T @ quadratic_features(X)
    assert_allclose(np.linalg.norm(atoms, axis=1), 1.0)
    for samples in (X, Q):
        codes = dl.transform(samples)
        errors = squared_errors(quadratic_features(samples), atoms, codes)
        assert_allclose(dl.reconstruction_error(samples), errors, atol=1e-9)
        expected = np.mean(0.5 * errors + 0.1 * np.abs(codes).sum(axis=1))
        assert_allclose(-dl.score(samples), expected, rtol=1e-9)
        assert dl.certify(samples, codes).max() < 1e-6


@pytest.mark.parametrize(
    "coder", [kc.KernelLLC(KERNEL), kc.KernelBagOfWords(KERNEL, n_neighbors=3)], ids=repr
)
def test_the_best_round_is_kept_where_the_objective_may_rise(coder):
    dl = learning(coder, max_iter=15).fit(digits(120))
    assert_allclose(-dl.score(digits(120)), dl.objective_history_[::2].min(), rtol=1e-9)


def test_hard_words_of_the_linear_kernel_are_k_means():
    X = digits(150)
    start = X[spread_choice(Candidates(Linear(), X), 8, np.random.RandomState(0))]
    lloyd = KMeans(8, init=start, n_init=1, algorithm="lloyd", tol=0, max_iter=100).fit(X)
    dl = learning(kc.KernelBagOfWords("linear", assignment="hard"), 8, max_iter=100).fit(X)
    assert dl.status_ == "converged"
    assert_allclose(dl.objective_history_[-1], 0.5 * lloyd.inertia_ / 150, rtol=1e-9)
    assert_allclose(dl.preimages(), lloyd.cluster_centers_, atol=1e-9)
    assert_array_equal(dl.transform(X).argmax(axis=1), lloyd.labels_)
    for atom, members in enumerate(dl.representatives_):
        cluster = np.flatnonzero(lloyd.labels_ == atom)
        assert set(members[: len(cluster)]) <= set(cluster)


# Stopping, watching, interrupting --------------------------------------------------------------


def test_learning_stops_when_a_round_gains_little():
    X = digits(120)
    dl = learning(tol=1e-2, max_iter=200).fit(X)
    assert dl.status_ == "converged"
    ends = dl.objective_history_[::2]
    gains = (ends[:-1] - ends[1:]) / ends[:-1]
    assert gains[-1] <= 1e-2
    assert np.all(gains[:-1] > 1e-2)
    assert learning(max_iter=2).fit(X).status_ == "max_iter"


def test_an_interrupted_fit_keeps_the_best_dictionary():
    def interrupt(progress):
        if progress.iteration == when and progress.step == step:
            raise KeyboardInterrupt

    X, when, step = digits(100), 3, "atoms"
    with pytest.warns(UserWarning, match="interrupted in round 3"):
        dl = learning(callback=interrupt, max_iter=9).fit(X)
    two_rounds = learning(max_iter=2).fit(X)
    assert (dl.status_, dl.n_iter_) == ("interrupted", 2)
    assert_array_equal(dl.dictionary_.weights, two_rounds.dictionary_.weights)
    assert_array_equal(dl.transform(X), two_rounds.transform(X))
    when, step = 0, "codes"  # before there is anything to keep
    with pytest.raises(KeyboardInterrupt):
        learning(callback=interrupt).fit(X)


def test_callbacks_see_every_half_step_and_can_stop():
    seen = []

    def watch(progress):
        seen.append(progress)
        return progress.iteration == 2

    dl = learning(callback=watch, max_iter=9).fit(digits(100))
    assert (dl.status_, dl.n_iter_) == ("callback", 2)
    assert [each.step for each in seen] == ["codes", "atoms", "codes", "atoms", "codes"]
    assert [each.iteration for each in seen] == [0, 1, 1, 2, 2]
    assert_array_equal([each.objective for each in seen], dl.objective_history_)
    assert np.all(np.diff([each.seconds for each in seen]) >= 0)


# The estimator ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kSC", "soft", "omp", "LCC"])
@BOTH_FRAMES
def test_results_repeat_whatever_the_number_of_threads(name, n_landmarks):
    X = digits(100)
    fits = [
        learning(EXACT[name], n_landmarks=n_landmarks, **given).fit(X)
        for given in ({"n_jobs": 1}, {"n_jobs": 2}, {}, {"random_state": 1})
    ]
    for other in fits[1:3]:
        assert_array_equal(other.dictionary_.weights, fits[0].dictionary_.weights)
        assert_array_equal(other.objective_history_, fits[0].objective_history_)
        assert_array_equal(other.transform(X), fits[0].transform(X))
    assert not np.array_equal(fits[3].dictionary_.weights, fits[0].dictionary_.weights)


@EVERY_CODER
def test_float32_in_float32_out(coder):
    X = digits(90)
    double, single = (learning(coder).fit(X.astype(dtype)) for dtype in (float, np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert double.transform(X).dtype == np.float64
    assert_allclose(single.objective_history_[-1], double.objective_history_[-1], rtol=2e-2)
    assert never_rises(single.objective_history_, 1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2)], ids=repr)
def test_learning_from_float32_never_rises(kernel):
    # Four features: rounded to float32, K has eigenvalues of either sign beyond the fourth.
    X = load_iris().data[::2].astype(np.float32)
    for alpha in (1e-6, 1e-3):
        coder = kc.KernelCoder(
            kernel, prior=priors.Ridge(), constraint=constraints.SumToOne(), alpha=alpha
        )
        for n_atoms in (4, 12, 30):
            dl = learning(coder, n_atoms, max_iter=15).fit(X)
            assert never_rises(dl.objective_history_, 1e-9)


@pytest.mark.parametrize("update", ["auto", "points"])
def test_the_dictionary_plugs_into_coders(update):
    X, Q = digits(100), digits(120)[100:]
    dl = learning(update=update).fit(X)
    codes = dl.transform(Q)
    same = kc.KernelSparseCoder(alpha=0.02, atoms=dl.dictionary_).fit(X)
    assert_array_equal(same.transform(Q), codes)
    other = kc.KernelLLC(atoms=dl.dictionary_, n_neighbors=3).fit(X)
    assert_allclose(other.transform(Q).sum(axis=1), 1.0)
    assert clone(dl).get_params()["coder"].atoms is None
    assert dl.coder.atoms is None  # the user's coder is left alone


def test_output_formats_names_clone_and_pickle():
    X = digits(80)
    names = [f"pixel{i}" for i in range(64)]
    dl = learning().set_output(transform="pandas").fit(pd.DataFrame(X, columns=names))
    codes = dl.transform(pd.DataFrame(X, columns=names))
    assert list(codes.columns) == [f"kerneldictionarylearning{i}" for i in range(N_ATOMS)]
    assert list(dl.feature_names_in_) == names
    thawed = pickle.loads(pickle.dumps(dl))
    pd.testing.assert_frame_equal(thawed.transform(pd.DataFrame(X, columns=names)), codes)
    again = clone(dl)
    assert not hasattr(again, "dictionary_")
    plain = learning().fit(X)
    assert_array_equal(plain.transform(X), codes.to_numpy())
    compact = learning(kc.KernelSparseCoder(KERNEL, alpha=0.02, sparse_output=True)).fit(X)
    assert sparse.issparse(compact.transform(X))
    assert_array_equal(compact.transform(X).toarray(), codes.to_numpy())
    assert_allclose(compact.score(X), plain.score(X))


def test_representatives_have_the_largest_weights():
    X = digits(100)
    for n_landmarks in (None, 30):
        dl = learning(n_landmarks=n_landmarks, landmarks="random").fit(X)
        index, size = dl.dictionary_.landmarks.index, np.abs(dl.dictionary_.weights)
        assert dl.representatives_.shape == (N_ATOMS, 10)
        for atom, chosen in enumerate(dl.representatives_):
            assert_array_equal(
                -np.sort(-size[:, atom])[:10], size[np.searchsorted(index, chosen), atom]
            )
    assert learning(n_atoms=3).fit(X[:5]).representatives_.shape == (3, 5)


def test_preimages_show_atoms():
    X = digits(100)
    linear = learning(kc.KernelSparseCoder("linear", alpha=0.05)).fit(X)
    images = linear.preimages()
    assert_allclose(images @ images.T, linear.dictionary_.gram, atol=1e-9)
    hidden = learning().fit(X)
    shown = hidden.dictionary_.cross(hidden.preimages())
    nearest = hidden.dictionary_.cross(X).max(axis=0)
    assert np.all(np.diag(shown) >= nearest - 1e-12)
    points = learning(update="points").fit(X)
    assert_allclose(rbf_kernel(points.preimages(), gamma=GAMMA), points.dictionary_.gram)
    cubic = learning(kc.KernelSparseCoder(Polynomial(degree=3), alpha=0.05)).fit(X)
    assert all(any(np.array_equal(row, x) for x in X) for row in cubic.preimages())


def test_labels_balance_the_first_atoms_and_targets_do_not():
    X, y = digits(100, labels=True)
    without, with_labels = learning().fit(X), learning().fit(X, y)
    assert not np.array_equal(with_labels.dictionary_.weights, without.dictionary_.weights)
    with_target = learning().fit(X, np.linspace(0.0, 1.0, 100) + 0.123)
    assert_array_equal(with_target.dictionary_.weights, without.dictionary_.weights)


def test_grid_search_through_a_pipeline():
    X, y = digits(120, labels=True)
    model = Pipeline([("dl", learning(max_iter=2)), ("knn", KNeighborsClassifier(1))])
    grid = {"dl__coder__alpha": [0.01, 0.1], "dl__n_atoms": [8, 16]}
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert scores.max() > 0.5
    for params, score in zip(search.cv_results_["params"], scores, strict=True):
        coder = kc.KernelSparseCoder(KERNEL, alpha=params["dl__coder__alpha"])
        by_hand = Pipeline(
            [
                ("dl", learning(coder, params["dl__n_atoms"], max_iter=2)),
                ("knn", KNeighborsClassifier(1)),
            ]
        )
        assert cross_val_score(by_hand, X, y, cv=2).mean() == score
    given = clone(model).set_params(dl__coder__kernel="precomputed")
    expected = cross_val_score(model, X, y, cv=3)
    assert_array_equal(cross_val_score(given, rbf_kernel(X, gamma=GAMMA), y, cv=3), expected)


def test_the_fitted_coder_knows_the_features_of_the_samples():
    frame = pd.DataFrame(digits(40)[:, 20:30], columns=[f"p{i}" for i in range(10)])
    dl = learning(n_atoms=4).fit(frame)
    assert_array_equal(dl.coder_.transform(frame), dl.transform(frame))  # and no warning
    assert_array_equal(dl.coder_.feature_names_in_, frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        dl.coder_.transform(frame.rename(columns={"p0": "q0"}))


def test_an_interrupt_while_the_kernel_is_learned_again_keeps_the_first_dictionary(monkeypatch):
    X, really, calls = digits(80), base.learn_kernel, []

    def learn_once(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return really(*arguments)

    settings = {"max_iter": 2, "random_state": 0}
    expected = learning(learn_kernel=KernelLearning(rounds=0), **settings).fit(X)
    monkeypatch.setattr(base, "learn_kernel", learn_once)
    with pytest.warns(
        UserWarning, match="interrupted while the kernel was learned again: the best"
    ):
        found = learning(learn_kernel=KernelLearning(rounds=3), **settings).fit(X)
    assert (found.status_, len(calls)) == ("interrupted", 2)
    assert found.kernel_.gamma == expected.kernel_.gamma
    assert_array_equal(found.dictionary_.weights, expected.dictionary_.weights)
    assert_array_equal(found.transform(X), expected.transform(X))
