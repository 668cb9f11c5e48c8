"""What kernel learning refuses, and what it says; learning inside dictionary learning."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND, followed
from helpers.learning import digits, never_rises
from helpers.names import stable
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernel_learning.ratio import NotFinite
from kernelcoding.kernels import (
    CallableKernel,
    Fixed,
    Gaussian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
    Stein,
)


@pytest.fixture
def samples(rng):
    return rng.normal(size=(30, 3))


def sparse(**params):
    return kc.KernelSparseCoder(**({"learn_kernel": True, "random_state": 0} | params))


@pytest.mark.parametrize(
    "kernel", [Linear(), "linear", "cosine", CallableKernel(lambda X, Z: X @ Z.T)], ids=stable
)
def test_a_kernel_without_parameters(kernel, samples):
    with pytest.raises(ValueError, match="has no parameter to learn"):
        sparse(kernel=kernel).fit(samples)
    dl = kc.KernelDictionaryLearning(kc.KernelSparseCoder(kernel), n_atoms=5, learn_kernel=True)
    with pytest.raises(ValueError, match="has no parameter to learn"):
        dl.fit(samples)


def test_a_given_matrix(samples):
    with pytest.raises(ValueError, match="has no parameter to learn"):
        sparse(kernel=Precomputed()).fit(samples @ samples.T)


@pytest.mark.parametrize("value", ["yes", 2.5, kc.KernelLearning, {"tol": 1}], ids=str)
def test_learn_kernel_is_a_bool_or_settings(value, samples):
    with pytest.raises(ValueError, match="learn_kernel must be a bool or KernelLearning"):
        sparse(learn_kernel=value).fit(samples)
    dl = kc.KernelDictionaryLearning(n_atoms=5, learn_kernel=value)
    with pytest.raises(ValueError, match="learn_kernel must be a bool or KernelLearning"):
        dl.fit(samples)


def test_bools_of_numpy_are_bools(samples):
    """They come out of grids of parameters."""
    learned = sparse(learn_kernel=np.True_).fit(samples)
    assert len(learned.kernel_history_) >= 1
    assert not hasattr(sparse(learn_kernel=np.False_).fit(samples), "kernel_history_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (1.0, 2.0)}, r"bounds .* of gamma exclude its start 0.5"),
        ({"bounds": {"gamma": (0.01, 0.1)}}, r"bounds .* of gamma exclude its start 0.5"),
        ({"bounds": {"width": (0.01, 0.1)}}, "bounds name 'width', but the kernel's parameters"),
        ({"bounds": (0.0, 1.0)}, "bounds"),
        ({"bounds": (-1.0, 1.0)}, "bounds"),
        ({"bounds": (1.0, 0.1)}, "bounds"),
        ({"bounds": (0.1, np.nan)}, "bounds"),
        ({"bounds": 3.0}, "bounds"),
        ({"bounds": (0.1, 1.0, 2.0)}, "bounds"),
        ({"n_samples_kernel": 0}, "n_samples_kernel"),
        ({"n_samples_kernel": 2.5}, "n_samples_kernel"),
        ({"n_folds": 1}, "n_folds"),
        ({"n_folds": 0}, "n_folds"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"rounds": -1}, "rounds"),
        ({"regularization": -0.1}, "regularization"),
        ({"weights": "align"}, "weights must be"),
        ({"criterion": "labels"}, "criterion must be one of"),
        ({"criterion": None}, "criterion must be one of"),
        ({"rule": "svm"}, "rule must be one of"),
    ],
    ids=str,
)
def test_settings_are_refused_by_name(options, message, samples):
    with pytest.raises(ValueError, match=message):
        sparse(kernel=Gaussian(0.5), learn_kernel=kc.KernelLearning(**options)).fit(samples)


def test_alignment_needs_labels(samples):
    kernel = MultipleKernel([Linear(), Gaussian(0.5)])
    coder = sparse(kernel=kernel, learn_kernel=kc.KernelLearning(weights="alignment"))
    with pytest.raises(ValueError, match="needs labels"):
        coder.fit(samples)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        coder.fit(samples, np.arange(5))
    dl = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(kernel), n_atoms=5, learn_kernel=coder.learn_kernel
    )
    with pytest.raises(ValueError, match="needs labels"):
        dl.fit(samples)


def test_a_dictionary_made_elsewhere_brings_its_kernel(samples):
    atoms = PointDictionary(Gaussian(0.5), samples[:5])
    with pytest.raises(ValueError, match="needs atoms of this coder's own"):
        sparse(atoms=atoms).fit(samples)


def test_identical_atoms(samples):
    same = np.tile(samples[:1], (6, 1))
    with pytest.raises(ValueError, match="All atoms are the same point"):
        sparse(kernel=Gaussian(0.5), atoms=same).fit(samples)
    with pytest.raises(ValueError, match="same point"):
        sparse(kernel=Gaussian(0.5)).fit(same)


def test_one_atom_has_no_discrepancy(samples):
    with pytest.raises(ValueError, match="atom"):
        sparse(kernel=Gaussian(0.5), atoms=1).fit(samples)
    with pytest.raises(ValueError, match="atom"):
        sparse(kernel=Gaussian(0.5), atoms=samples[:1]).fit(samples)


def test_two_samples_are_enough(samples):
    coder = sparse(kernel=Gaussian(0.5)).fit(samples[:2])
    assert np.isfinite(coder.kernel_.gamma)


def test_an_objective_that_is_not_finite_keeps_the_start(samples):
    class Broken(Gaussian):
        """Fine as a kernel, useless to learn from."""

        def derivative(self, S, weights):
            return np.full(1, np.nan)

    with pytest.warns(UserWarning, match="objective of kernel learning is not finite"):
        coder = sparse(kernel=Broken(0.5)).fit(samples)
    assert coder.kernel_.gamma == 0.5
    assert np.isfinite(coder.transform(samples)).all()


def test_what_was_found_before_the_objective_broke_is_kept():
    """Widths beyond a wall give no number; the best lies behind it."""
    X = digits(80)
    best = sparse(kernel=Gaussian(1.0), alpha=0.05).fit(X).kernel_.gamma

    class Walled(Gaussian):
        def profile(self, S, *, overwrite=False):
            beyond = self.gamma > 0.7 * best
            return np.full(S.shape, np.nan) if beyond else super().profile(S, overwrite=overwrite)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The objective of kernel learning is not finite")
        coder = sparse(kernel=Walled(0.15 * best), alpha=0.05).fit(X)
    assert 0.3 * best < coder.kernel_.gamma <= 0.7 * best
    assert never_rises(coder.kernel_history_)


def test_overflow_on_the_way_is_no_failure(samples):
    """Large degrees overflow somewhere within the bounds, not at the start."""
    kernel = Polynomial(degree=60, gamma=0.1, coef0=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        coder = sparse(kernel=kernel, learn_kernel=kc.KernelLearning(max_iter=5)).fit(samples)
    assert np.isfinite(coder.kernel_.theta).all()
    assert np.isfinite(coder.dictionary_.gram).all()
    assert never_rises(coder.kernel_history_)


def test_a_failed_fit_does_not_look_learned(samples):
    coder = sparse(kernel=Gaussian(0.5), learn_kernel=kc.KernelLearning(bounds=(1.0, 2.0)))
    with pytest.raises(ValueError, match="exclude"):
        coder.fit(samples)
    assert not hasattr(coder, "kernel_history_")


# Inside dictionary learning --------------------------------------------------------------------


def learner(**params):
    given = {"n_atoms": 15, "learn_kernel": True, "max_iter": 5, "random_state": 0} | params
    coder = given.pop("coder", kc.KernelSparseCoder(alpha=0.05))
    return kc.KernelDictionaryLearning(coder, **given)


@AT_A_BOUND
@pytest.mark.parametrize("n_landmarks", [None, 40])
@pytest.mark.parametrize("rounds", [0, 1])
@pytest.mark.parametrize(
    "coder",
    [kc.KernelSparseCoder(alpha=0.05), kc.KernelBagOfWords(), kc.KernelMatchingPursuit()],
    ids=str,
)
def test_dictionary_and_kernel(coder, n_landmarks, rounds):
    X = digits(120)
    start = Gaussian("median").resolve(X).gamma
    coder = clone(coder).set_params(kernel=Gaussian(30 * start))
    bounds = {"gamma": (1e-2 * start, 1e2 * start)}
    settings = kc.KernelLearning(rounds=rounds, bounds=bounds)
    dl = learner(coder=coder, n_landmarks=n_landmarks, learn_kernel=settings).fit(X)
    assert dl.kernel_.gamma < 15 * start
    assert dl.kernel_ is dl.dictionary_.kernel
    assert dl.coder_.kernel_.gamma == dl.kernel_.gamma
    first = learner(coder=coder, n_landmarks=n_landmarks, learn_kernel=kc.KernelLearning(
        bounds=bounds)).fit(X)  # fmt: skip
    n_first = len(first.kernel_history_)
    assert_array_equal(dl.kernel_history_[:n_first], first.kernel_history_)
    assert never_rises(dl.kernel_history_[:n_first])
    assert never_rises(dl.kernel_history_[n_first:])
    assert (len(dl.kernel_history_) > n_first) == (rounds == 1)
    codes = dl.transform(X[:7])
    weights = dl.dictionary_.weights
    landmarks = dl.dictionary_.landmarks.points
    assert_allclose(dl.dictionary_.cross(X[:7]), dl.kernel_(X[:7], landmarks) @ weights)
    again = clone(dl.coder_).set_params(atoms=dl.dictionary_, learn_kernel=False).fit(X)
    assert_allclose(again.transform(X[:7]), codes, atol=1e-7)


def test_more_rounds_learn_the_kernel_of_learned_atoms():
    """The ratio of the second round is that of the learned combinations, written out."""
    X = digits(100)
    first = learner(learn_kernel=kc.KernelLearning()).fit(X)
    both = learner(learn_kernel=kc.KernelLearning(rounds=1)).fit(X)
    codes, gram = first.transform(X), first.dictionary_.gram
    errors = first.coder_.reconstruction_error(X, codes)
    L = np.mean(0.5 * errors + 0.05 * np.abs(codes).sum(axis=1))
    J = 2.0 * (np.trace(gram) * 15 - gram.sum()) / (15 * 14)
    second = both.kernel_history_[len(first.kernel_history_) :]
    assert second[0] <= L / J * (1 + 1e-6)
    assert second[-1] > 0.1 * L / J


def test_dictionary_learning_repeats_and_pickles():
    X = digits(100)
    dl = learner().fit(X)
    again = clone(dl).fit(X)
    assert again.kernel_.gamma == dl.kernel_.gamma
    assert_array_equal(again.transform(X[:3]), dl.transform(X[:3]))
    threads = clone(dl).set_params(n_jobs=2).fit(X)
    assert_allclose(threads.kernel_.gamma, dl.kernel_.gamma, rtol=1e-9)
    loaded = pickle.loads(pickle.dumps(dl))
    assert_array_equal(loaded.transform(X[:3]), dl.transform(X[:3]))


def test_the_coders_own_wish_to_learn_is_answered():
    """Either the kernel is learned or the user is told where to ask for it."""
    X = digits(60)
    dl = learner(coder=kc.KernelSparseCoder(alpha=0.05, learn_kernel=True), learn_kernel=False)
    with pytest.raises(ValueError, match="learn_kernel"):
        dl.fit(X)


def test_partial_fit_learns_on_the_first_batch():
    X = digits(200)
    whole = learner(learn_kernel=True).fit(X[:100]).kernel_.gamma
    dl = learner().partial_fit(X[:100])
    first = dl.kernel_.gamma
    dl.partial_fit(X[100:])
    assert dl.kernel_.gamma == first
    assert_allclose(first, whole, rtol=0.5)


def test_several_kernels_and_labels_inside_dictionary_learning():
    X, y = digits(100, labels=True)
    kernel = MultipleKernel([Linear(), Gaussian("median")])
    for weights in ("ratio", "alignment"):
        settings = kc.KernelLearning(weights=weights)
        dl = learner(coder=kc.KernelSparseCoder(kernel, alpha=0.05), learn_kernel=settings)
        found = dl.fit(X, y).kernel_.weights_
        assert_array_equal(dl.dictionary_.kernel.current_weights, found)
        online = clone(dl).partial_fit(X, y).kernel_
        assert_allclose(online.weights_, found, rtol=0.3)


def test_stacks_of_matrices(rng):
    A = rng.normal(size=(60, 3, 5))
    X = A @ A.transpose(0, 2, 1) + 0.5 * np.eye(3)
    kernel = LogEuclideanGaussian("median")
    for n_landmarks in (None, 30):
        dl = learner(coder=kc.KernelSparseCoder(kernel, alpha=0.05), n_landmarks=n_landmarks)
        assert len(dl.fit(X).kernel_history_) >= 1


@pytest.mark.parametrize(
    "prior",
    [
        kc.priors.WeightedL1(np.linspace(0.5, 2.0, 30)),
        kc.priors.GroupL1(np.arange(30) % 7, weights=np.linspace(1.0, 2.0, 7)),
        kc.priors.SparseGroupL1(np.arange(30) // 5),
    ],
    ids=["weighted", "group", "sparse group"],
)
def test_priors_of_single_atoms_follow_the_folds(prior, rng):
    X = rng.normal(size=(30, 3))
    coder = kc.KernelCoder("rbf", prior=prior, constraint=kc.constraints.Free(), alpha=0.01)
    coder.set_params(learn_kernel=True, random_state=0).fit(X)
    assert np.all(np.diff(coder.kernel_history_) <= 0)
    assert coder.transform(X[:3]).shape == (3, 30)


# Parameters that a kernel does not admit, and trials that fail ---------------------------------


def spd(n, p=3):
    factors = np.random.default_rng(5).normal(size=(n, p, 2 * p))
    return factors @ factors.transpose(0, 2, 1) / (2 * p)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 1.5, "median"])
def test_a_learned_stein_kernel_is_admissible(gamma):
    """Half integers up to (p - 1) / 2 are apart: no search can walk between them."""
    X = spd(50)
    coder = kc.KernelSparseCoder(Stein(gamma), alpha=0.05, learn_kernel=True).fit(X)
    assert coder.kernel_.gamma > 1.0
    assert np.isfinite(coder.transform(X)).all()  # refused where gamma is not admissible
    assert never_rises(coder.kernel_history_)


def test_several_kernels_stay_admissible():
    X = spd(50)
    members = [LogEuclideanGaussian(0.3), 2.0 * Stein(1.5), Fixed(Stein(0.5))]
    coder = kc.KernelSparseCoder(MultipleKernel(members), alpha=0.05, learn_kernel=True).fit(X)
    assert coder.kernel_.children[1].kernel.gamma > 1.0
    assert coder.kernel_.children[2].kernel.gamma == 0.5
    assert np.isfinite(coder.transform(X)).all()


def test_bounds_below_what_is_admissible_are_refused():
    learning = kc.KernelLearning(bounds=(0.1, 0.9))
    with pytest.raises(ValueError, match=r"gamma must be above 1 for these samples.*end at 0\.9"):
        kc.KernelSparseCoder(Stein(0.5), learn_kernel=learning).fit(spd(30))


def test_a_bad_trial_is_no_end():
    """A sigmoid with a large offset maps everything to one: some trials of the scan do."""
    X = digits(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an indefinite kernel says so
        coder = kc.KernelSparseCoder(Sigmoid(1.0, 1.0), alpha=0.05, learn_kernel=True).fit(X)
        ratio = followed(coder, X, 0)
    assert never_rises(coder.kernel_history_)
    with pytest.raises(NotFinite, match="same point"):
        ratio.value(np.log([1e-9, 50.0]))  # a trial that no kernel survives
