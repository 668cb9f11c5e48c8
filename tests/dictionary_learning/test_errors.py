"""Bad input to dictionary learning: what is refused, and in which words."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import kernelcoding as kc
from helpers.learning import digits, never_rises
from kernelcoding import constraints, memory, priors
from kernelcoding.kernels import Gaussian

X = digits(60)
KERNEL = Gaussian(gamma=1.5)


def learning(coder=None, n_atoms=8, **parameters):
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05) if coder is None else coder
    return kc.KernelDictionaryLearning(coder, n_atoms, **{"max_iter": 2, **parameters})


PARAMETERS = {
    "no atoms": ({"n_atoms": 0}, "n_atoms must be an integer"),
    "half an atom": ({"n_atoms": 2.5}, "n_atoms must be an integer"),
    "more atoms than samples": ({"n_atoms": 61}, "n_atoms=61 must be at most .* n_samples=60"),
    "no rounds": ({"max_iter": 0}, "max_iter must be an integer"),
    "tol": ({"tol": -1.0}, "tol must be a positive"),
    "tol, none": ({"tol": None}, "tol must be a positive"),
    "forgetting": ({"forgetting": 1.5}, "forgetting must be at most 1"),
    "no memory": ({"forgetting": 0.0}, "forgetting must be a positive"),
    "update": ({"update": "mod"}, "update must be one of .*pinv.*, got 'mod'"),
    "init": ({"init": "best"}, "init must be one of .*, got 'best'"),
    "landmarks": (
        {"n_landmarks": 20, "landmarks": "best"},
        "landmarks must be one of .* or points, got 'best'",
    ),
    "landmarks, unused": ({"landmarks": "best"}, "landmarks must be one of .* got 'best'"),
    "no landmarks": ({"n_landmarks": 0}, "n_landmarks must be an integer"),
    "few landmarks": ({"n_landmarks": 4}, "n_landmarks=4 must be at least n_atoms=8"),
    "other landmarks": ({"landmarks": X[:, :3]}, r"landmarks have shape \(3,\) each"),
    "empty landmarks": ({"landmarks": X[:0]}, "landmarks"),
    "infinite landmarks": ({"landmarks": np.full((9, 64), np.inf)}, "finite"),
    "ksvd of a lasso": ({"update": "ksvd"}, "greedy codes: use KernelMatchingPursuit"),
    "aksvd of a lasso": ({"update": "aksvd"}, "greedy codes"),
    "gradient of a lasso": ({"update": "gradient"}, "KernelBagOfWords"),
}


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_parameters_are_refused_in_words(parameters, message):
    with pytest.raises(ValueError, match=message):
        learning(**parameters).fit(X)


CODERS = {
    "number of atoms": (kc.KernelSparseCoder(atoms=5), "atoms are fixed"),
    "points": (kc.KernelLLC(atoms=X[:9]), "atoms are fixed .*nothing to learn"),
    "bad parameter": (kc.KernelSparseCoder(alpha=-1.0), "alpha must be a positive"),
    "groups that do not fit": (kc.KernelSparseCoder(groups=np.arange(5)), "groups"),
    "groups of labels": (kc.KernelSparseCoder(groups="y"), "groups"),
}


@pytest.mark.parametrize(("coder", "message"), CODERS.values(), ids=CODERS.keys())
def test_coders_that_cannot_learn_are_refused(coder, message):
    with pytest.raises(ValueError, match=message):
        learning(coder).fit(X)


@pytest.mark.parametrize("coder", ["kSC", kc.KernelSparseCoder, kc.ResidualClassifier()], ids=repr)
def test_what_is_no_coder_is_refused_by_name(coder):
    with pytest.raises((TypeError, ValueError), match="coder must be"):
        learning(coder).fit(X)


@pytest.mark.parametrize("kernel", ["linear", "chi2", "precomputed"])
def test_points_are_for_the_gaussian_kernel(kernel):
    coder = kc.KernelSparseCoder(kernel)
    with pytest.raises(ValueError, match="for the Gaussian kernel"):
        learning(coder, update="points").fit(X @ X.T)


def test_gradients_are_for_soft_words_over_all_atoms():
    for coder in (
        kc.KernelBagOfWords(KERNEL, assignment="hard"),
        kc.KernelBagOfWords(KERNEL, n_neighbors=3),
    ):
        with pytest.raises(ValueError, match="gradient"):
            learning(coder, update="gradient").fit(X)


# Samples ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_missing_values_are_refused(bad, method):
    broken = X.copy()
    broken[3, 4] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        getattr(learning(), method)(broken)


@pytest.mark.parametrize("kernel", [KERNEL, "linear"])
@pytest.mark.parametrize("init", ["random", "k-means++", "kernel-k-means"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_copies_of_one_sample_are_refused(kernel, init, method):
    dl = learning(kc.KernelSparseCoder(kernel), 3, init=init)
    with pytest.raises(ValueError, match="at least two distinct samples"):
        getattr(dl, method)(np.repeat(X[:1], 20, axis=0))


@pytest.mark.parametrize("init", ["random", "k-means++", "kernel-k-means"])
def test_two_distinct_samples_are_enough(init):
    mostly = np.vstack([np.repeat(X[:1], 50, axis=0), X[1:2]])
    dl = learning(n_atoms=2, init=init, max_iter=5).fit(mostly)
    assert never_rises(dl.objective_history_)


@pytest.mark.parametrize("update", ["auto", "points"])
def test_more_atoms_than_distinct_samples_are_no_harm(update):
    few = np.repeat(X[:4], 10, axis=0)
    dl = learning(n_atoms=9, update=update).fit(few)
    assert np.isfinite(dl.transform(few)).all()
    assert never_rises(dl.objective_history_)


def test_zero_samples_among_others_are_no_harm():
    some = X.copy()
    some[::2] = 0.0
    for coder in (kc.KernelSparseCoder("linear"), kc.KernelMatchingPursuit("linear")):
        dl = learning(coder, init="random").fit(some)
        assert np.isfinite(dl.dictionary_.gram).all()
        assert_array_equal(dl.transform(some)[::2], 0.0)


TOO_LARGE = {
    "kSC": kc.KernelSparseCoder(KERNEL),
    "positive kSC": kc.KernelSparseCoder("linear", positive=True),
    "group kSC": kc.KernelSparseCoder(KERNEL, groups=np.arange(8) % 3),
    "elastic net": kc.KernelCoder(
        KERNEL, prior=priors.ElasticNet(0.5), constraint=constraints.Free()
    ),
}
WAYS = {
    "fit": ({}, "fit"),
    "landmarks": ({"n_landmarks": 20}, "fit"),
    "points": ({"update": "points"}, "fit"),
    "online": ({"n_landmarks": 20}, "partial_fit"),
}


@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:.*codes.* are all zero:sklearn.exceptions.ConvergenceWarning")
def test_an_alpha_that_leaves_no_code_is_refused_with_the_largest_useful_one(name, way):
    parameters, method = WAYS[way]
    coder = clone(TOO_LARGE[name])
    if way == "points":
        coder = coder.set_params(kernel=KERNEL)
    with pytest.raises(ValueError, match="alpha=50 is too large") as caught:
        getattr(learning(coder.set_params(alpha=50.0), **parameters), method)(X)
    largest = float(re.search(r"uses any atom at all is ([\d.e+-]+);", str(caught.value)).group(1))
    dl = learning(coder.set_params(alpha=0.99 * largest), **parameters)
    assert np.any(getattr(dl, method)(X).transform(X) != 0)
    with pytest.raises(ValueError, match="too large"):
        getattr(learning(coder.set_params(alpha=1.01 * largest), **parameters), method)(X)


@pytest.mark.parametrize("way", WAYS)
def test_an_iteration_limit_is_not_blamed_on_alpha(way):
    parameters, method = WAYS[way]
    coder = kc.KernelSparseCoder(KERNEL, alpha=1e-4, max_iter=1)
    with pytest.raises(ValueError, match="zero, because the iteration limit was reached before"):
        getattr(learning(coder, **parameters), method)(X)


def test_labels_must_be_as_many_as_samples():
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            getattr(learning(), method)(X, [0, 1])


# Batches, memory, use --------------------------------------------------------------------------


def test_a_given_matrix_does_not_come_in_batches():
    gram = rbf_kernel(X, gamma=1.5)
    with pytest.raises(ValueError, match="partial_fit needs samples, not similarities"):
        learning(kc.KernelSparseCoder("precomputed")).partial_fit(gram)


@pytest.mark.parametrize(
    ("coder", "update"),
    [
        (kc.KernelMatchingPursuit(KERNEL), "ksvd"),
        (kc.KernelMatchingPursuit(KERNEL), "aksvd"),
        (kc.KernelSparseCoder(KERNEL), "points"),
    ],
)
def test_updates_that_need_codes_do_not_learn_from_batches(coder, update):
    with pytest.raises(ValueError, match=f"partial_fit keeps no codes.*{update}"):
        learning(coder, update=update).partial_fit(X)


@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_batches_of_other_features_are_refused_and_change_nothing(begin):
    dl = getattr(learning(), begin)(X)
    codes = dl.transform(X)
    with pytest.raises(ValueError, match=r"X has 10 features, but .* is expecting 64"):
        dl.partial_fit(X[:, :10])
    assert_array_equal(dl.transform(X), codes)
    with pytest.raises(ValueError, match="X has 10 features"):
        dl.transform(X[:, :10])
    assert dl.fit(X[:, :30]).n_features_in_ == 30  # fit begins anew


def test_a_small_first_batch_and_no_batch_at_all():
    with pytest.raises(ValueError, match=r"n_atoms=8 must be at most .* n_samples=5"):
        learning().partial_fit(X[:5])
    with pytest.raises(ValueError, match="iterator of batches was empty"):
        learning().fit(iter([]))


@pytest.mark.parametrize("free", [10_000, None])
def test_a_kernel_matrix_that_does_not_fit_says_what_to_do(free, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: free)
    if free is None:  # nobody knows: go ahead
        assert learning().fit(X).n_iter_ == 2
        return
    with pytest.raises(MemoryError, match=r"matrix of 60 samples .* Set n_landmarks .*linear"):
        learning().fit(X)
    assert learning(n_landmarks=20).fit(X).n_iter_ == 2


def test_a_kernel_matrix_of_much_memory_is_announced(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 5 * 2 * 60**2 * 8 // 2)
    with pytest.warns(
        UserWarning, match=r"matrix of 60 samples needs about .* n_landmarks"
    ) as told:
        learning().fit(X)
    assert [w.filename for w in told] == [__file__]
    learning(n_landmarks=20).fit(X)


BEFORE_FIT = {
    "transform": lambda dl: dl.transform(X),
    "score": lambda dl: dl.score(X),
    "reconstruction_error": lambda dl: dl.reconstruction_error(X),
    "certify": lambda dl: dl.certify(X, X),
    "preimages": lambda dl: dl.preimages(),
    "representatives_": lambda dl: dl.representatives_,
}


@pytest.mark.parametrize("use", BEFORE_FIT.values(), ids=BEFORE_FIT.keys())
def test_nothing_works_before_fit(use):
    with pytest.raises(NotFittedError):
        use(learning())


def test_what_some_dictionaries_do_not_have():
    given = learning(kc.KernelSparseCoder("precomputed")).fit(X @ X.T)
    with pytest.raises(ValueError, match="no pre-images"):
        given.preimages()
    points = learning(update="points").fit(X)
    with pytest.raises(AttributeError, match="points, not combinations"):
        _ = points.representatives_
    assert not hasattr(points, "representatives_")
