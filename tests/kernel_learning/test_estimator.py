"""What learning a kernel's parameters promises its users."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND, Setting, followed
from helpers.learning import digits, never_rises
from kernelcoding.coders.base import options_of
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernel_learning.held_out import held_out
from kernelcoding.kernel_learning.ratio import Part, RatioProblem
from kernelcoding.kernels import Gaussian, Laplacian, Polynomial
from reference.kernel_learning import best_width, distances_among


def iris():
    return StandardScaler().fit_transform(load_iris().data)[::2]


def cloud():
    return np.random.default_rng(1).normal(size=(70, 2))


def two_clouds():
    rng = np.random.default_rng(2)
    return np.vstack([rng.normal(size=(40, 5)), 3.0 + 0.3 * rng.normal(size=(40, 5))])


DATA = {"digits": lambda: digits(80), "iris": iris, "cloud": cloud, "two clouds": two_clouds}


def median_width(X):
    return Gaussian("median").resolve(X).gamma


def learning(coder, **params):
    return clone(coder).set_params(**({"learn_kernel": True, "random_state": 0} | params))


def data_bounds(points, start):
    """Three decades around the inverse of the median squared distance, written out."""
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    centre = 1.0 / np.median(squares[squares > 0])
    return min(1e-3 * centre, start), max(1e3 * centre, start)


SMOOTH = [
    (kc.KernelSparseCoder(alpha=0.05), "digits"),
    (kc.KernelSparseCoder(alpha=0.005), "iris"),
    (kc.KernelSparseCoder(alpha=0.02, positive=True), "two clouds"),
    (kc.KernelLLC(n_neighbors=None), "cloud"),
    (kc.KernelBagOfWords(), "digits"),
    (kc.KernelBagOfWords(sigma=3.0), "cloud"),
    (kc.KernelBagOfWords(n_neighbors=4, sigma=3.0), "digits"),
    (kc.KernelCoder(alpha=0.05), "iris"),
]
AT_THE_EDGE = [
    (kc.KernelLLC(n_neighbors=5), "iris"),
    (kc.KernelLLC(n_neighbors=5), "cloud"),
    (kc.KernelLCC(), "two clouds"),
    (kc.KernelBagOfWords(assignment="hard"), "digits"),
    (kc.KernelBagOfWords(assignment="hard"), "iris"),
]


STARTS = (1e-3, 1.0, 1e3)  # times the median width


@AT_A_BOUND
@pytest.mark.parametrize(("coder", "data"), SMOOTH + AT_THE_EDGE, ids=str)
def test_learned_width_is_the_best_of_a_fine_grid(coder, data):
    """With codes that sum to one the best is often the least width allowed."""
    X = DATA[data]()
    width = median_width(X)
    bounds = (5e-4 * width, 2e3 * width)
    coder = learning(coder, learn_kernel=kc.KernelLearning(bounds=bounds))
    expected = None
    for factor in STARTS:
        coder.set_params(kernel=Gaussian(factor * width)).fit(X)
        if expected is None:
            expected, value = best_width(followed(coder, X, 0), *bounds)
        assert_allclose(coder.kernel_.gamma, expected, rtol=0.02)
        assert_allclose(coder.kernel_history_[-1], value, rtol=1e-3)
        assert coder.kernel_objective_ == coder.kernel_history_[-1]


@pytest.mark.parametrize("factor", STARTS)
@pytest.mark.parametrize(("coder", "data"), [SMOOTH[1], SMOOTH[4]], ids=str)
def test_learned_width_for_chosen_atoms(coder, data, factor):
    """Bounds come from the data; which atoms are chosen depends on the start."""
    X = DATA[data]()
    start = factor * median_width(X)
    coder = learning(coder, kernel=Gaussian(start), atoms=20).fit(X)
    bounds = data_bounds(X[coder.dictionary_.index], start)
    width, value = best_width(followed(coder, X, 0), *bounds)
    assert_allclose(coder.kernel_.gamma, width, rtol=0.02)
    assert_allclose(coder.kernel_history_[-1], value, rtol=1e-3)


@AT_A_BOUND
@pytest.mark.parametrize("factor", [1e-2, 1.0, 1e2])
def test_greedy_codes_come_close_to_the_best_of_a_grid(factor):
    """Their objective jumps with the width; the value found is near the least."""
    X = two_clouds()
    start = factor * median_width(X)
    bounds = data_bounds(X, start)
    coder = learning(kc.KernelMatchingPursuit(n_nonzero=3), kernel=Gaussian(start))
    coder.set_params(learn_kernel=kc.KernelLearning(bounds=bounds)).fit(X)
    _, value = best_width(followed(coder, X, 0), *bounds)
    assert coder.kernel_history_[-1] <= 1.02 * value


EVERY_CODER = pytest.mark.parametrize(
    "coder",
    [coder for coder, _ in SMOOTH[:5]]
    + [
        kc.KernelLLC(n_neighbors=4),
        kc.KernelLCC(),
        kc.KernelBagOfWords(assignment="hard"),
        kc.KernelBagOfWords(n_neighbors=3),
        kc.KernelMatchingPursuit(n_nonzero=3),
        kc.KernelSparseCoder(groups="y", alpha=0.05),
        kc.KernelCoder(),
    ],
    ids=str,
)


@AT_A_BOUND
@EVERY_CODER
@pytest.mark.parametrize("atoms", [None, 20])
def test_history_never_rises_and_codes_are_those_of_the_learned_kernel(coder, atoms):
    X, y = digits(80, labels=True)
    settings = kc.KernelLearning(max_iter=8)
    coder = learning(coder, atoms=atoms, learn_kernel=settings).fit(X, y)
    assert len(coder.kernel_history_) >= 1
    assert never_rises(coder.kernel_history_)
    assert coder.kernel_.is_resolved
    codes = coder.transform(X[:5])
    plain = clone(coder).set_params(learn_kernel=False, kernel=coder.kernel_)
    plain.set_params(atoms=coder.dictionary_.points)
    if coder.get_params().get("groups") is not None:
        plain.set_params(groups=y[coder.dictionary_.index])
    assert_allclose(codes, plain.fit(X, y).transform(X[:5]), atol=1e-6)


@AT_A_BOUND
@pytest.mark.parametrize("kernel", [Polynomial(degree=2), Laplacian(1.0) + Gaussian(1.0)], ids=str)
def test_several_parameters_end_lower_than_they_start(kernel):
    X = digits(80)
    coder = learning(kc.KernelSparseCoder(alpha=0.05), kernel=kernel).fit(X)
    start = followed(coder, X, 0)(kernel.theta)[0]
    assert never_rises(coder.kernel_history_)
    assert coder.kernel_history_[-1] < 0.99 * start
    found = followed(coder, X, 0)(coder.kernel_.theta)[0]
    assert_allclose(coder.kernel_history_[-1], found, rtol=1e-5)


@pytest.mark.parametrize("atoms", ["points", "means"])
def test_atoms_that_are_no_samples_are_all_used(atoms, rng):
    """The ratio of given points and of combinations, from the formulas."""
    X = rng.normal(size=(60, 3))
    given = {"atoms": rng.normal(size=(15, 3))} if atoms == "points" else {
        "atoms": 15, "init": "kernel-k-means"}  # fmt: skip
    coder = learning(kc.KernelSparseCoder(alpha=0.05, tol=1e-9), kernel=Gaussian(0.3), **given)
    coder.fit(X)
    weights = getattr(coder.dictionary_, "weights", None)
    points = coder.dictionary_.points if weights is None else coder.dictionary_.landmarks.points
    plain = clone(coder).set_params(learn_kernel=False)
    here = Setting(plain, coder.kernel_, points, weights, X)
    assert_allclose(coder.kernel_objective_, here.ratio(coder.kernel_), rtol=1e-6)
    for factor in (0.5, 0.9, 1.1, 2.0):
        other = Gaussian(factor * coder.kernel_.gamma)
        assert here.ratio(other) > coder.kernel_objective_


def test_given_points_that_are_samples_do_not_code_themselves():
    """atoms=None and atoms=X say the same."""
    X = digits(100)
    coder = learning(kc.KernelSparseCoder(alpha=0.05))
    expected = coder.fit(X).kernel_.gamma
    assert_allclose(clone(coder).set_params(atoms=X).fit(X).kernel_.gamma, expected, rtol=0.1)


# Own atoms -------------------------------------------------------------------------------------


def test_with_its_own_atom_every_sample_wants_an_infinite_width():
    X = digits(100)
    coder = learning(kc.KernelSparseCoder(alpha=0.05)).fit(X)
    everything = Part(np.arange(100), np.arange(100))
    prepared = coder.kernel_.prepare(X)
    coding, given = (coder.formulation(), options_of(coder)), (prepared, None, prepared)
    ratio = RatioProblem(*coding, coder.kernel_, *given, [everything], kc.KernelLearning())
    gammas = coder.kernel_.gamma * np.logspace(-2, 3, 16)
    values = [ratio(np.array([np.log(gamma)]))[0] for gamma in gammas]
    assert (np.diff(values) < 0).all()
    held = followed(coder, X, 0)
    values = [held(np.array([np.log(gamma)]))[0] for gamma in gammas]
    assert 0 < np.argmin(values) < 9
    assert 0.1 < coder.kernel_.gamma / median_width(X) < 10


def test_exact_copies_share_a_fold(rng):
    X = rng.normal(size=(40, 3))
    X[20:] = X[:20]
    X[7] = X[3]
    rows, (folds, atoms) = held_out(X, X[:40], 40, 5, np.random.RandomState(0))
    assert_array_equal(rows, np.arange(40))
    assert_array_equal(folds, atoms)
    assert_array_equal(folds[:20][np.arange(20) != 7], folds[20:][np.arange(20) != 7])
    assert folds[7] == folds[3] == folds[23]
    sizes = np.unique(folds, return_counts=True)[1]
    assert len(sizes) == 5
    assert sizes.max() - sizes.min() <= 4


def test_copies_do_not_pull_the_width_up():
    X = digits(80)
    once = learning(kc.KernelSparseCoder(alpha=0.05)).fit(X).kernel_.gamma
    twice = learning(kc.KernelSparseCoder(alpha=0.05)).fit(np.vstack([X, X])).kernel_.gamma
    assert_allclose(twice, once, rtol=0.15)


def test_samples_that_are_atoms_are_not_followed():
    X = digits(120)
    coder = learning(kc.KernelSparseCoder(alpha=0.05, tol=1e-9), atoms=30).fit(X)
    outside = np.setdiff1d(np.arange(120), coder.dictionary_.index)
    codes = coder.transform(X[outside])
    L = np.mean(0.5 * coder.reconstruction_error(X[outside], codes) + 0.05 * np.abs(codes).sum(1))
    J = distances_among(coder.kernel_(coder.dictionary_.points))
    assert_allclose(coder.kernel_objective_, L / J, rtol=1e-6)


def test_the_objective_is_that_of_all_samples():
    X = digits(300)
    coder = kc.KernelSparseCoder(alpha=0.05, tol=1e-9)
    coder = learning(coder, atoms=30, learn_kernel=kc.KernelLearning(n_samples_kernel=60)).fit(X)
    outside = np.setdiff1d(np.arange(300), coder.dictionary_.index)
    codes = coder.transform(X[outside])
    L = np.mean(0.5 * coder.reconstruction_error(X[outside], codes) + 0.05 * np.abs(codes).sum(1))
    J = distances_among(coder.kernel_(coder.dictionary_.points))
    assert_allclose(coder.kernel_objective_, L / J, rtol=1e-6)
    assert abs(coder.kernel_history_[-1] / coder.kernel_objective_ - 1) > 1e-6
    all_of_them = learning(coder, learn_kernel=kc.KernelLearning(n_samples_kernel=1000)).fit(X)
    assert_allclose(coder.kernel_.gamma, all_of_them.kernel_.gamma, rtol=0.2)


# The paper's reading, bounds -------------------------------------------------------------------


def test_without_prior_the_error_alone_counts():
    """The width found is a fixed point: best for the codes that were found with it."""
    X = digits(100)
    settings = kc.KernelLearning(include_prior=False, tol=1e-4)
    coder = learning(kc.KernelSparseCoder(alpha=0.05, tol=1e-9), learn_kernel=settings, atoms=30)
    coder.fit(X)
    with_prior = learning(coder, learn_kernel=True).fit(X)
    assert coder.kernel_.gamma < 0.7 * with_prior.kernel_.gamma
    ratio = followed(coder, X, 0)
    theta = coder.kernel_.theta
    outside = np.setdiff1d(np.arange(100), coder.dictionary_.index)
    errors = 0.5 * coder.reconstruction_error(X[outside])
    J = distances_among(coder.kernel_(coder.dictionary_.points))
    assert_allclose(ratio(theta)[0], np.mean(errors) / J, rtol=1e-6)
    assert_allclose(coder.kernel_objective_, np.mean(errors) / J, rtol=1e-3)
    ratio.frozen = True
    width, _ = best_width(ratio, 0.3 * coder.kernel_.gamma, 3.0 * coder.kernel_.gamma)
    assert_allclose(coder.kernel_.gamma, width, rtol=0.05)


@AT_A_BOUND
def test_bounds_are_honoured():
    X = digits(80)
    free = learning(kc.KernelSparseCoder(alpha=0.05), kernel=Gaussian(1.0)).fit(X).kernel_.gamma
    for low, high in ((1.2 * free, 10 * free), (0.01 * free, 0.8 * free)):
        start = Gaussian(np.sqrt(low * high))
        for bounds in ((low, high), {"gamma": (low, high)}):
            settings = kc.KernelLearning(bounds=bounds)
            coder = learning(kc.KernelSparseCoder(alpha=0.05), kernel=start, learn_kernel=settings)
            gamma = coder.fit(X).kernel_.gamma
            assert low <= gamma <= high
            assert_allclose(gamma, low if low > free else high, rtol=0.02)


@AT_A_BOUND
def test_bounds_that_leave_no_room_hold_a_parameter():
    kernel = Laplacian(0.3) + Gaussian(0.5)
    settings = kc.KernelLearning(bounds={"0__gamma": (0.3, 0.3), "1__gamma": (0.4, 0.6)})
    coder = learning(kc.KernelSparseCoder(alpha=0.05), kernel=kernel, learn_kernel=settings)
    laplacian, gaussian = coder.fit(digits(80)).kernel_.children
    assert_allclose(laplacian.gamma, 0.3, rtol=1e-12)
    assert 0.4 * (1 - 1e-12) <= gaussian.gamma <= 0.6 * (1 + 1e-12)


@AT_A_BOUND
def test_bounds_of_one_of_several_parameters():
    kernel = Polynomial(degree=2, gamma=0.5, coef0=1.0)
    settings = kc.KernelLearning(bounds={"coef0": (0.9, 1.1)})
    coder = learning(kc.KernelSparseCoder(), kernel=kernel, learn_kernel=settings).fit(digits(60))
    assert 0.9 <= coder.kernel_.coef0 <= 1.1
    assert coder.kernel_.gamma != 0.5


# Conventions -----------------------------------------------------------------------------------


def test_seed_threads_and_copies_do_not_matter():
    X = digits(120)
    for atoms in (None, 30):
        coder = learning(kc.KernelSparseCoder(alpha=0.05), atoms=atoms)
        first = coder.fit(X)
        again = clone(first).fit(X)
        assert again.kernel_.gamma == first.kernel_.gamma
        assert_array_equal(again.kernel_history_, first.kernel_history_)
        threads = clone(first).set_params(n_jobs=2).fit(X)
        assert_allclose(threads.kernel_.gamma, first.kernel_.gamma, rtol=1e-9)
        loaded = pickle.loads(pickle.dumps(first))
        assert_array_equal(loaded.transform(X[:5]), first.transform(X[:5]))
        assert not hasattr(clone(first), "kernel_history_")


def test_the_given_kernel_and_settings_are_not_touched():
    kernel, settings = Gaussian(0.1), kc.KernelLearning(n_samples_kernel=50)
    coder = learning(kc.KernelSparseCoder(), kernel=kernel, learn_kernel=settings).fit(digits(60))
    assert kernel.gamma == 0.1
    assert coder.kernel is kernel
    assert coder.kernel_.gamma != 0.1
    assert coder.dictionary_.kernel is coder.kernel_
    assert repr(settings) == "KernelLearning(n_samples_kernel=50)"
    nested = clone(coder).set_params(learn_kernel__n_folds=3)
    assert nested.learn_kernel.n_folds == 3


@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplacian("median")], ids=str)
def test_single_precision_learns_the_same_width(kernel):
    X = digits(100)
    coder = learning(kc.KernelSparseCoder(alpha=0.05), kernel=kernel)
    double = coder.fit(X).kernel_.gamma
    single = clone(coder).fit(X.astype(np.float32))
    assert_allclose(single.kernel_.gamma, double, rtol=5e-3)
    assert single.transform(X[:3].astype(np.float32)).dtype == np.float32


def test_residual_classifier_with_a_learned_kernel():
    X, y = digits(300, labels=True)
    coder = learning(kc.KernelSparseCoder(alpha=0.01), kernel=Gaussian(1e-3))
    classifier = kc.ResidualClassifier(coder).fit(X[:200], y[:200])
    assert 0.3 < classifier.coder_.kernel_.gamma / median_width(X) < 3
    assert isinstance(classifier.coder_.dictionary_, PointDictionary)
    assert classifier.score(X[200:], y[200:]) > 0.9
