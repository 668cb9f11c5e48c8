"""Weights of samples: two is as good as the sample twice, zero as if it were absent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import kernelcoding as kc
from helpers.learning import digits
from kernelcoding.classification import LinearRule
from kernelcoding.constraints import NonNegative, SumToOne
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel
from kernelcoding.priors import ElasticNet, Locality, Ridge

X, Y = digits(48, labels=True)
Y, Q = np.array(["nil", "one", "two"])[Y % 3], digits(60)[48:]
KERNEL = Gaussian(1.0)
TIGHT = {"tol": 1e-10}
COUNTS = 1 + np.arange(48) % 3
SOME = np.arange(48) % 4 != 1
LEARNING = {
    "sparse": (kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT), {}),
    "closed form": (kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT), {"update": "pinv"}),
    "one by one": (
        kc.KernelCoder(KERNEL, prior=ElasticNet(), constraint=NonNegative(), **TIGHT),
        {"update": "coordinate"},
    ),
    "means": (kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT), {"init": "kernel-k-means"}),
    "affine": (kc.KernelCoder(KERNEL, prior=Ridge(), constraint=SumToOne()), {}),
    "LLC": (kc.KernelLLC(KERNEL, n_neighbors=3), {}),
    "exact LLC": (kc.KernelLLC(KERNEL, n_neighbors=None), {}),
    "local": (kc.KernelCoder(KERNEL, prior=Locality(), constraint=NonNegative(), **TIGHT), {}),
    "LCC": (kc.KernelLCC(KERNEL, alpha=0.05, **TIGHT), {}),
    "hard": (kc.KernelBagOfWords(KERNEL, assignment="hard"), {}),
    "soft": (kc.KernelBagOfWords(KERNEL, sigma=3.0), {}),
    "local soft": (kc.KernelBagOfWords(KERNEL, sigma=3.0, n_neighbors=3), {}),
    "pursuit": (kc.KernelMatchingPursuit(KERNEL, n_nonzero=2), {}),
    "K-SVD": (kc.KernelMatchingPursuit(KERNEL, n_nonzero=2), {"update": "ksvd"}),
    "approximate": (kc.KernelMatchingPursuit(KERNEL, n_nonzero=2), {"update": "aksvd"}),
    "points": (kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT), {"update": "points"}),
}
EACH = pytest.mark.parametrize(("coder", "changes"), LEARNING.values(), ids=LEARNING.keys())
LABELS = pytest.mark.parametrize("labels", [False, True], ids=["", "labels"])


def learning(coder, changes):
    return kc.KernelDictionaryLearning(coder, n_atoms=6, max_iter=3, tol=0.0, **changes)


def same(one, other, atol=1e-6):
    assert_allclose(one.objective_history_, other.objective_history_, rtol=1e-7)
    codes = one.transform(Q), other.transform(Q)
    assert_allclose(*map(np.abs, codes), atol=atol)  # an atom of K-SVD may be its opposite
    assert_allclose(one.reconstruction_error(Q), other.reconstruction_error(Q), atol=atol)


@LABELS
@EACH
def test_an_integer_is_that_many_samples(coder, changes, labels):
    y, repeated = (Y, np.repeat(Y, COUNTS)) if labels else (None, None)
    by_weight = learning(coder, changes).fit(X, y, sample_weight=COUNTS)
    by_copies = learning(coder, changes).fit(np.repeat(X, COUNTS, axis=0), repeated)
    same(by_weight, by_copies)
    plain = learning(coder, changes).fit(X, y)  # weights do something
    ends = plain.objective_history_[-1], by_weight.objective_history_[-1]
    assert abs(ends[0] - ends[1]) > 1e-5 * ends[0]


@LABELS
@EACH
def test_zero_is_absence(coder, changes, labels):
    y = Y if labels else None
    by_weight = learning(coder, changes).fit(X, y, sample_weight=SOME)
    absent = learning(coder, changes).fit(X[SOME], y[SOME] if labels else None)
    same(by_weight, absent)


@EACH
def test_only_ratios_of_weights_count(coder, changes):
    one, other = (learning(coder, changes).fit(X, sample_weight=s * COUNTS) for s in (1.0, 8.0))
    same(one, other)


@pytest.mark.parametrize("choice", ["k-means++", "random", "leverage"])
def test_landmarks_are_samples_that_count(choice):
    coder = LEARNING["sparse"][0]
    model = learning(coder, {"n_landmarks": 20, "landmarks": choice})
    model.fit(X, sample_weight=SOME)
    assert SOME[model.dictionary_.landmarks.index].all()
    absent = learning(coder, {"n_landmarks": 20, "landmarks": choice}).fit(X[SOME])
    if choice == "k-means++":
        same(model, absent)


def test_given_landmarks_and_widths_are_those_of_the_samples_that_count():
    coder = kc.KernelSparseCoder("rbf", alpha=0.05, **TIGHT)
    by_weight = learning(coder, {"landmarks": X[:20]}).fit(X, sample_weight=SOME)
    absent = learning(coder, {"landmarks": X[:20]}).fit(X[SOME])
    assert by_weight.kernel_.gamma == absent.kernel_.gamma
    same(by_weight, absent)


@pytest.mark.parametrize("name", ["sparse", "affine", "LCC", "soft"])
def test_batches_have_weights_too(name):
    coder, changes = LEARNING[name]
    by_weight, by_copies = (learning(coder, {**changes, "landmarks": X[:12]}) for _ in range(2))
    for part in (slice(0, 24), slice(24, 48)):
        by_weight.partial_fit(X[part], sample_weight=COUNTS[part])
        by_copies.partial_fit(np.repeat(X[part], COUNTS[part], axis=0))
    same(by_weight, by_copies)


@pytest.mark.parametrize("classifier", ["linear", "bilinear", "max-margin", "logistic"])
@pytest.mark.parametrize("weight", [COUNTS, SOME.astype(float)], ids=["integers", "zeros"])
def test_supervised_coding_counts_alike(classifier, weight):
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT)
    settings = {"n_atoms": 6, "max_iter": 2, "eta": 0.05, "rho": 1e-3, "tol": 0.0}
    model = kc.SupervisedKernelCoding(coder, classifier=classifier, **settings)
    copies = weight.astype(int)
    scores = model.fit(X, Y, sample_weight=weight).decision_function(Q)
    history = model.objective_history_
    model.fit(np.repeat(X, copies, axis=0), np.repeat(Y, copies))
    assert_allclose(history, model.objective_history_, rtol=1e-5)
    assert_allclose(scores, model.decision_function(Q), atol=1e-4)


@pytest.mark.parametrize("class_weight", ["balanced", {"two": 3.0}], ids=["balanced", "named"])
@pytest.mark.parametrize("weight", [COUNTS, SOME.astype(float)], ids=["integers", "zeros"])
def test_classes_are_weighed_by_what_their_samples_count(class_weight, weight):
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT)
    rule = LinearRule(rho=1e-3, class_weight=class_weight)
    settings = {"n_atoms": 6, "max_iter": 2, "eta": 0.05, "tol": 0.0}
    model = kc.SupervisedKernelCoding(coder, classifier=rule, **settings)
    labels = np.where(COUNTS < 3, Y, "two")  # weights change the shares of classes
    copies = weight.astype(int)
    scores = model.fit(X, labels, sample_weight=weight).decision_function(Q)
    model.fit(np.repeat(X, copies, axis=0), np.repeat(labels, copies))
    assert_allclose(scores, model.decision_function(Q), atol=1e-4)


def test_a_class_may_be_without_weight():
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT)
    rule = LinearRule(rho=1e-3, class_weight="balanced")
    model = kc.SupervisedKernelCoding(coder, n_atoms=6, classifier=rule, max_iter=2, eta=0.05)
    some = Y != "two"
    scores = model.fit(X, Y, sample_weight=some).decision_function(Q)
    model.fit(X[some], Y[some])
    assert_allclose(scores[:, 1] - scores[:, 0], model.decision_function(Q), atol=1e-4)


@pytest.mark.parametrize("classifier", ["linear", "bilinear", "max-margin", "logistic"])
@pytest.mark.parametrize("training", ["joint", "task-driven"])
def test_choices_do_not_look_at_samples_without_weight(classifier, training):
    """What "auto" stands for, judges of trials, probabilities: labels of the others are noise."""
    coder = kc.KernelSparseCoder(KERNEL, alpha=0.05, **TIGHT)
    settings = {"n_atoms": 6, "max_iter": 2, "classifier": classifier, "training": training}
    model = kc.SupervisedKernelCoding(coder, **settings, random_state=0)
    noise = np.where(SOME, Y, np.random.default_rng(0).permutation(Y))
    by_weight = clone(model).fit(X, noise, sample_weight=SOME)
    absent = clone(model).fit(X[SOME], Y[SOME])
    assert by_weight.training_kept_ == absent.training_kept_
    assert_allclose(by_weight.eta_, absent.eta_, rtol=1e-6)
    assert_allclose(by_weight.rho_, absent.rho_, rtol=1e-6)
    assert_allclose(by_weight.predict_proba(Q), absent.predict_proba(Q), atol=1e-4)


@pytest.mark.parametrize("weights", ["alignment", "ratio"])
@pytest.mark.parametrize("per_class", [False, True])
def test_kernels_are_learned_from_samples_that_count(weights, per_class):
    kernels = MultipleKernel([Gaussian(1.0), Linear(), Gaussian(0.1)])
    coder = kc.KernelSparseCoder(kernels, alpha=0.05, **TIGHT)
    learn = {"learn_kernel": kc.KernelLearning(weights=weights), "per_class": per_class}
    model, rng, some = learning(coder, learn), np.random.default_rng(0), np.arange(48) % 2 == 0
    noise = np.where(some[:, None], X, rng.normal(size=X.shape))
    by_weight = clone(model).fit(noise, np.where(some, Y, rng.permutation(Y)), sample_weight=some)
    absent = clone(model).fit(X[some], Y[some])
    assert_allclose(by_weight.kernel_.weights_, absent.kernel_.weights_, rtol=1e-5, atol=1e-8)


def test_dead_points_are_not_replaced_by_samples_without_weight():
    rng = np.random.RandomState(0)
    points, weight = rng.randn(200, 3), np.zeros(200)
    weight[150:170] = 1.0
    points[150:170] = np.repeat(points[150:155], 4, axis=0)
    coder = kc.KernelMatchingPursuit("rbf", n_nonzero=1)
    model = kc.KernelDictionaryLearning(coder, n_atoms=12, max_iter=3, update="points")
    model.fit(points, sample_weight=weight)
    atoms = np.asarray(model.dictionary_.points)
    assert not (atoms[:, None] == points[None, weight == 0]).all(axis=2).any()


WRONG = {
    "too few": (np.ones(5), r"sample_weight.shape == \(5,\)"),
    "negative": (np.where(np.arange(48) == 3, -1.0, 1.0), "Negative values"),
    "not a number": (np.where(np.arange(48) == 3, np.nan, 1.0), "NaN"),
    "nothing": (np.zeros(48), "sample_weight must be positive for some|at least one non-zero"),
    "too few that count": (np.arange(48) < 4, "number of training samples of positive weight"),
}


@pytest.mark.parametrize(("weight", "message"), WRONG.values(), ids=WRONG.keys())
def test_weights_that_make_no_sense_are_refused(weight, message):
    coder = LEARNING["sparse"][0]
    for model in (learning(coder, {}), kc.SupervisedKernelCoding(coder, n_atoms=6)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        learning(coder, {}).partial_fit(X, sample_weight=weight)


def test_an_iterator_has_no_weights():
    with pytest.raises(ValueError, match="cannot go with an iterator of batches"):
        learning(LEARNING["sparse"][0], {}).fit(iter([X]), sample_weight=np.ones(48))
