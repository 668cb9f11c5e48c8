"""Bad input to supervised coding: what is refused, in which words, and what is no harm."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

import kernelcoding as kc
from helpers.learning import digits, never_rises
from helpers.supervised import CLASSIFIERS, supervised
from kernelcoding import constraints, priors
from kernelcoding.classification import LinearRule, LogisticRule
from kernelcoding.kernels import Gaussian, Laplacian, Linear, Polynomial

X, y = digits(60, labels=True)
KERNEL = Gaussian(gamma=1.5)
EVERY_CLASSIFIER = pytest.mark.parametrize("classifier", CLASSIFIERS)

PARAMETERS = (
    {
        f"{name}={value!r}": ({name: value}, f"{name} must be a positive number")
        for name in ("eta", "rho")
        for value in (-1.0, 0, 0.0, np.nan, np.inf, "large", True, [1.0])
    }
    | {
        f"rho={value!r} of a rule": (
            {"classifier": LinearRule(value)},
            "rho must be a positive number",
        )
        for value in (-1.0, 0, np.nan, "large", None, True)
    }
    | {
        "eta=None": ({"eta": None}, "eta must be a positive number"),
        "classifier": (
            {"classifier": "svm"},
            r"classifier must be one of \['bilinear', .*got 'svm'",
        ),
        "no classifier": ({"classifier": None}, "classifier must be one of"),
        "a class of rules": ({"classifier": LogisticRule}, "classifier must be one of"),
        "rho twice": (
            {"classifier": LogisticRule(0.1), "rho": 0.2},
            r"rho is given twice: rho=0\.2 and classifier=LogisticRule\(rho=0\.1\)\. Give it once",
        ),
        "no atoms": ({"n_atoms": 0}, "n_atoms must be an integer"),
        "more atoms than samples": ({"n_atoms": 61}, "n_atoms=61 must be at most .* n_samples=60"),
        "no rounds": ({"max_iter": 0}, "max_iter must be an integer"),
        "tol": ({"tol": -1.0}, "tol must be a positive"),
        "init": ({"init": "best"}, "init must be one of .*, got 'best'"),
        "few landmarks": ({"n_landmarks": 4}, "n_landmarks=4 must be at least n_atoms=12"),
    }
    | {
        name: ({"classifier": LinearRule(class_weight=class_weight)}, message)
        for name, class_weight, message in (
            ("class weight", "even", "class_weight"),
            ("negative class weight", {0: -1.0}, "class_weight must be positive"),
            ("zero class weight", {0: 0.0}, "class_weight must be positive"),
            ("weight of a class that is not there", {77: 2.0}, "class"),
        )
    }
)


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_parameters_are_refused_in_words(parameters, message):
    with pytest.raises(ValueError, match=message):
        supervised(**parameters).fit(X, y)


def test_nothing_is_checked_before_fit():
    model = supervised(eta=-1.0, rho="large", classifier="svm", n_atoms=-3)
    assert clone(model).get_params()["rho"] == "large"


CODERS = {
    "bag of words": (kc.KernelBagOfWords(KERNEL), "KernelBagOfWords does not minimise"),
    "pursuit": (kc.KernelMatchingPursuit(KERNEL), "KernelMatchingPursuit does not minimise"),
    "pursuit by another name": (
        kc.KernelCoder(KERNEL, prior=priors.NoPrior(), constraint=constraints.AtMost(2)),
        "does not minimise",
    ),
    "fixed atoms": (kc.KernelSparseCoder(KERNEL, atoms=5), "atoms are fixed"),
    "alpha": (kc.KernelSparseCoder(KERNEL, alpha=-1.0), "alpha must be a positive"),
    "alpha too large": (kc.KernelSparseCoder(KERNEL, alpha=5.0), "alpha=5 is too large"),
    "one iteration": (
        kc.KernelSparseCoder(KERNEL, alpha=1e-4, max_iter=1),
        "All codes are zero, because the iteration limit was reached before .*increase max_iter",
    ),
    "any tolerance": (
        kc.KernelSparseCoder(KERNEL, alpha=1e-4, tol=1e6),
        r"All codes are zero: alpha=0\.0001 is not too large .* use a smaller tol",
    ),
    "groups that do not fit": (kc.KernelSparseCoder(KERNEL, groups=np.arange(5)), "groups"),
}


@EVERY_CLASSIFIER
@pytest.mark.parametrize(("coder", "message"), CODERS.values(), ids=CODERS.keys())
def test_coders_that_cannot_learn_are_refused(coder, message, classifier):
    with pytest.raises(ValueError, match=message):
        supervised(coder, classifier=classifier).fit(X, y)


@pytest.mark.parametrize("coder", ["kSC", kc.KernelSparseCoder, kc.ResidualClassifier()], ids=repr)
def test_what_is_no_coder_is_refused_by_name(coder):
    model = kc.SupervisedKernelCoding(coder, n_atoms=3)
    with pytest.raises((TypeError, ValueError), match="coder must be"):
        model.fit(X, y)


# Labels ----------------------------------------------------------------------------------------


def with_missing(labels, value):
    labels = list(labels)
    labels[7] = value
    return labels


NAMES = [f"digit {label}" for label in y]
INDICATORS = np.eye(10, dtype=int)[y]
LABELS = {
    "none at all": (None, "requires y to be passed"),
    "one class": (np.zeros(60), "at least two classes; got only one class"),
    "one class by name": (["a"] * 60, "at least two classes; got only one class"),
    "NaN": (with_missing(y.astype(float), np.nan), "NaN"),
    "infinite": (with_missing(y.astype(float), np.inf), "infinity"),
    "NaN among names": (with_missing(NAMES, np.nan), "y has missing labels .* in 1 place\\."),
    "None among names": (with_missing(NAMES, None), "y has missing labels .* in 1 place\\."),
    "None among numbers": (
        np.array(with_missing(y, None), dtype=object),
        "y has missing labels .* in 1 place\\.",
    ),
    "too short": (y[:-1], "inconsistent numbers of samples"),
    "too long": (np.append(y, 1), "inconsistent numbers of samples"),
    "short indicators": (INDICATORS[:-2], "inconsistent numbers of samples"),
    "short sparse indicators": (sparse.csr_array(INDICATORS[:-2]), "inconsistent numbers"),
    "continuous": (X[:, 20] + 0.5, "[Cc]ontinuous"),
    "continuous columns": (X[:, 20:23] + 0.5, "indicator matrix of zeros and ones"),
    "several classes a column": (np.column_stack([y, y]), "indicator matrix of zeros and ones"),
    "signs for zeros": (2 * INDICATORS - 1, "zeros and ones"),
    "twos for ones": (1 + INDICATORS, "zeros and ones"),
    "NaN indicators": (np.where(INDICATORS == 1, np.nan, 0.0), "NaN"),
    "three dimensions": (INDICATORS[:, :, None], "y"),
}


@pytest.mark.parametrize(("labels", "message"), LABELS.values(), ids=LABELS.keys())
def test_labels_are_refused_in_words(labels, message):
    with pytest.raises(ValueError, match=message):
        supervised().fit(X, labels)


def test_weights_of_classes_are_for_one_label_per_sample():
    with pytest.raises(ValueError, match="class_weight is for one label per sample"):
        supervised(classifier=LinearRule(class_weight="balanced")).fit(X, INDICATORS)


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = supervised().fit(X, y[:, None])
    assert_array_equal(model.predict(X), supervised().fit(X, y).predict(X))


@EVERY_CLASSIFIER
def test_a_class_with_one_sample_is_learned(classifier):
    labels = np.where(np.arange(60) == 17, 99, y)
    model = supervised(classifier=classifier, rho=1e-9, max_iter=5).fit(X, labels)
    assert 99 in model.classes_
    assert never_rises(model.objective_history_, 1e-9)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    scores = model.decision_function(X)[:, list(model.classes_).index(99)]
    assert np.argmax(scores) == 17


@EVERY_CLASSIFIER
def test_two_samples_of_two_classes_are_enough(classifier):
    model = supervised(classifier=classifier, n_atoms=2).fit(X[:2], ["a", "b"])
    assert_array_equal(model.predict(X[:2]), ["a", "b"])
    assert np.isfinite(model.predict_proba(X)).all()


# Samples ---------------------------------------------------------------------------------------


@EVERY_CLASSIFIER
@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_copies_of_samples_are_no_harm(classifier, n_landmarks):
    few, labels = np.repeat(X[:6], 10, axis=0), np.repeat(y[:6], 10)
    model = supervised(classifier=classifier, n_landmarks=n_landmarks, max_iter=5)
    model.fit(few, labels)
    assert never_rises(model.objective_history_, 1e-9)
    assert model.score(few, labels) == 1.0


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2), Laplacian(0.3)], ids=repr)
@pytest.mark.parametrize("classifier", ["linear", "logistic"])
def test_identical_atoms_are_told_apart_alike_in_fit_and_predict(classifier, kernel):
    few, labels = np.repeat(X[:6], 10, axis=0), np.repeat(y[:6], 10)
    coder = kc.KernelSparseCoder(kernel, alpha=0.05)
    for seed in range(3):
        model = supervised(coder, classifier=classifier, max_iter=5, random_state=seed)
        assert model.fit(few, labels).score(few, labels) == 1.0


@EVERY_CLASSIFIER
def test_copies_with_other_labels_are_no_harm(classifier):
    twice, labels = np.vstack([X, X]), np.append(y, (y + 1) % 10)
    model = supervised(classifier=classifier, max_iter=5).fit(twice, labels)
    assert never_rises(model.objective_history_, 1e-9)
    assert model.predict_proba(twice).max(axis=1).mean() < 0.8


@EVERY_CLASSIFIER
@pytest.mark.parametrize("rho", [1e-300, 1e-30, 1e-18, 1e12, 1e300])
def test_penalties_of_any_size_give_finite_scores(classifier, rho):
    twice, labels = np.vstack([X, X]), np.append(y, y)
    for n_landmarks in (None, 30):
        model = supervised(classifier=classifier, rho=rho, n_landmarks=n_landmarks, eta=1.0)
        model.fit(twice, labels)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.predict_proba(X)).all()


@EVERY_CLASSIFIER
@pytest.mark.parametrize("eta", [1e-200, 1e-30, 1e6, 1e12])
def test_weights_of_any_size_give_finite_scores(classifier, eta):
    model = supervised(classifier=classifier, eta=eta).fit(X, y)
    assert np.isfinite(model.objective_history_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.mean(model.predict(X) == y) > 0.5


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_twins_among_the_atoms_of_samples_in_blocks(classifier, monkeypatch):
    from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(landmark_frames, "BLOCK", 16)
    for coder in (kc.KernelLCC(KERNEL), kc.KernelLLC(KERNEL), kc.KernelLLC(KERNEL, None, None)):
        model = supervised(
            coder, classifier=classifier, init="random", n_landmarks=20, n_atoms=10, max_iter=4
        )
        model.fit(np.repeat(X[:12], 5, axis=0), np.repeat(y[:12], 5))
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_refused(bad):
    broken = X.copy()
    broken[3, 4] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        supervised().fit(broken, y)
    model = supervised().fit(X, y)
    for method in (model.predict, model.decision_function, model.predict_proba):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            method(broken)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "transform"])
def test_nothing_is_predicted_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(supervised(), method)(X)


def test_other_features_are_refused():
    with pytest.raises(ValueError, match="63 features"):
        supervised().fit(X, y).predict(X[:, :-1])


def test_a_warm_start_needs_the_same_samples():
    model = supervised(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True needs the samples"):
        model.fit(X[:50], y[:50])
    model = supervised(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"warm_start=True needs .*number of atoms"):
        model.set_params(n_atoms=9).fit(X, y)


def test_a_failed_fit_leaves_the_message_not_a_half_fitted_model():
    model = supervised()
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(60))
    with pytest.raises(NotFittedError):
        model.predict(X)
