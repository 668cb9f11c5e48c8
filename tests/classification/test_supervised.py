"""Supervised coding as users meet it: the contract, probabilities, labels, and other parts."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, recall_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from helpers.learning import digits, never_rises
from helpers.supervised import CLASSIFIERS, covariances, rule, supervised
from kernelcoding.classification import BilinearRule, LinearRule, MaxMarginRule
from kernelcoding.kernels import (
    Gaussian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    View,
)

EVERY_CLASSIFIER = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def data():
    X, y = digits(220, labels=True)
    return X[:120], y[:120], X[120:], y[120:]


# The scikit-learn contract ---------------------------------------------------------------------

SMALL = {"n_atoms": 4, "max_iter": 1}
# A median width and what "auto" leaves out look at single samples: copies are others. What weights
# promise with given numbers is in tests/laws/test_sample_weight.py.
MEDIAN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "medians and folds look at no weight"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        kc.SupervisedKernelCoding(**SMALL),
        kc.SupervisedKernelCoding(**SMALL, classifier=BilinearRule(class_weight="balanced")),
        kc.SupervisedKernelCoding(
            kc.KernelLCC(),
            **SMALL,
            classifier=MaxMarginRule(refit=False),
            n_landmarks=4,
            eta=0.1,
            rho=0.01,
        ),
    ],
    expected_failed_checks=lambda estimator: MEDIAN,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Labels ----------------------------------------------------------------------------------------


@EVERY_CLASSIFIER
def test_names_of_classes_are_the_users(classifier, data):
    X, y, Q, _ = data
    names = np.array([f"digit {9 - d}" for d in range(10)])
    by_number = supervised(classifier=classifier).fit(X, 9 - y)
    by_name = supervised(classifier=classifier).fit(X, names[y])
    assert_array_equal(by_name.classes_, np.sort(names))
    assert_array_equal(by_name.predict(Q), [f"digit {d}" for d in by_number.predict(Q)])
    assert_array_equal(by_name.decision_function(Q), by_number.decision_function(Q))
    as_object = supervised(classifier=classifier).fit(X, list(names[y]))
    assert_array_equal(as_object.predict(Q), by_name.predict(Q))


@EVERY_CLASSIFIER
def test_two_classes_have_one_score(classifier, data):
    X, y, Q, labels = data
    model = supervised(classifier=classifier).fit(X, y % 2 == 1)
    assert model.classes_.dtype == bool
    scores = model.decision_function(Q)
    assert scores.shape == (len(Q),)
    assert_array_equal(model.predict(Q), scores > 0)
    assert model.predict_proba(Q).shape == (len(Q), 2)
    assert_array_equal(model.predict_proba(Q)[:, 1] > 0.5, scores > 0)
    assert np.mean(model.predict(Q) == (labels % 2 == 1)) > 0.8


def indicators(y):
    """Odd, at least five, a multiple of three."""
    return np.stack([y % 2 == 1, y >= 5, y % 3 == 0], axis=1).astype(int)


@EVERY_CLASSIFIER
def test_several_labels_per_sample(classifier, data):
    X, y, Q, labels = data
    model = supervised(classifier=classifier, n_atoms=20).fit(X, indicators(y))
    assert_array_equal(model.classes_, [0, 1, 2])
    scores, truth = model.decision_function(Q), indicators(labels)
    assert scores.shape == truth.shape
    assert average_precision_score(truth, scores) > 0.75
    found = model.predict(Q)
    assert_array_equal(found, scores > 0)
    assert np.mean(found == truth) > 0.75
    probabilities = model.predict_proba(Q)
    for j in range(3):  # each sigmoid keeps the order
        order = np.argsort(scores[:, j])
        assert np.all(np.diff(probabilities[order, j]) >= 0.0)
    # Calibrated: about as many as were announced.
    assert_allclose(probabilities.mean(axis=0), truth.mean(axis=0), atol=0.12)
    for form in (sparse.csr_array, sparse.csr_matrix, pd.DataFrame, lambda Y: Y.astype(bool)):
        again = clone(model).fit(X, form(indicators(y)))
        assert_array_equal(again.decision_function(Q), scores)


def test_a_class_that_nobody_has_is_never_predicted(data):
    X, y, Q, _ = data
    for classifier in CLASSIFIERS:
        empty = np.column_stack([indicators(y), np.zeros(len(y), int), np.ones(len(y), int)])
        model = supervised(classifier=classifier).fit(X, empty)
        found = model.predict(Q)
        assert not found[:, 3].any()
        assert found[:, 4].all()
        assert_allclose(model.predict_proba(Q)[:, 3:], [[0.0, 1.0]] * len(Q), atol=1e-6)


@EVERY_CLASSIFIER
def test_balanced_weights_raise_the_recall_of_a_rare_class(classifier, rng):
    X = rng.normal(size=(240, 2)) + 1.2 * (np.arange(240) < 24)[:, None]
    y = (np.arange(240) < 24).astype(int)
    Q = rng.normal(size=(400, 2)) + 1.2 * (np.arange(400) < 200)[:, None]
    truth, recalls = (np.arange(400) < 200).astype(int), []
    for class_weight in (None, "balanced"):
        coder = kc.KernelSparseCoder(Gaussian(gamma=0.5), alpha=0.02)
        model = supervised(coder, classifier=rule(classifier, class_weight=class_weight))
        recalls.append(recall_score(truth, model.fit(X, y).predict(Q)))
    assert recalls[1] > recalls[0] + 0.1


def test_weights_of_classes_by_name(data):
    X, y, Q, _ = data
    names = np.array(list("abcdefghij"))
    by_number = supervised(classifier=LinearRule(class_weight={3: 4.0})).fit(X, y)
    by_name = supervised(classifier=LinearRule(class_weight={"d": 4.0})).fit(X, names[y])
    assert_array_equal(by_name.predict(Q), names[by_number.predict(Q)])
    assert not np.allclose(
        by_number.decision_function(Q), supervised().fit(X, y).decision_function(Q)
    )


# Other parts of the library --------------------------------------------------------------------


@EVERY_CLASSIFIER
@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_a_given_matrix_is_learned_like_its_kernel(classifier, n_landmarks, data):
    X, y, Q, _ = data
    shared = {"classifier": classifier, "n_landmarks": n_landmarks, "max_iter": 2}
    inside = supervised(**shared).fit(X, y)
    outside = supervised(kc.KernelSparseCoder("precomputed", alpha=0.05), **shared)
    assert get_tags(outside).input_tags.pairwise
    outside.fit(rbf_kernel(X, gamma=1.5), y)
    given = outside.decision_function(rbf_kernel(Q, X, gamma=1.5))
    assert_allclose(given, inside.decision_function(Q), atol=1e-5)


def test_cross_validation_slices_a_given_matrix(data):
    X, y, _, _ = data
    inside, outside = supervised(), supervised(kc.KernelSparseCoder("precomputed", alpha=0.05))
    gram = rbf_kernel(X, gamma=1.5)
    expected = cross_val_predict(inside, X, y, cv=2)
    assert_array_equal(cross_val_predict(outside, gram, y, cv=2), expected)


@EVERY_CLASSIFIER
def test_covariance_matrices_are_classified(classifier, rng):
    y = np.arange(80) % 2
    X = covariances(rng, 80, 3, stretch=1.0 + 1.5 * y)
    coder = kc.KernelSparseCoder(LogEuclideanGaussian(gamma=0.3), alpha=0.02)
    model = supervised(coder, classifier=classifier).fit(X[:50], y[:50])
    assert never_rises(model.objective_history_, 1e-9)
    assert model.score(X[50:], y[50:]) > 0.8


@EVERY_CLASSIFIER
def test_several_kernels_and_views(classifier, data):
    X, y, Q, _ = data
    gaussian = View(slice(0, 32), Gaussian(gamma=1.0))
    kernel = MultipleKernel([gaussian, View(slice(32, 64), Linear())], weights=[0.6, 0.4])

    def by_hand(left, right):
        return 0.6 * rbf_kernel(left[:, :32], right[:, :32], gamma=1.0) + 0.4 * (
            left[:, 32:] @ right[:, 32:].T
        )

    together = supervised(kc.KernelSparseCoder(kernel, alpha=0.05), classifier=classifier)
    outside = supervised(kc.KernelSparseCoder("precomputed", alpha=0.05), classifier=classifier)
    outside.fit(by_hand(X, X), y)
    found, expected = (
        together.fit(X, y).decision_function(Q),
        outside.decision_function(by_hand(Q, X)),
    )
    # Large scores of a classifier with hardly any penalty repeat the rounding of codes.
    assert_allclose(found, expected, atol=1e-4 if classifier == "logistic" else 1e-6)


@pytest.mark.filterwarnings("ignore:.*codes.* are all zero")  # those of the poor width
def test_the_kernel_is_learned_with_dictionary_and_classifier(data):
    X, y, Q, labels = data
    poor = kc.KernelSparseCoder(Gaussian(gamma=40.0), alpha=0.02)
    for classifier in CLASSIFIERS:
        fixed = supervised(poor, classifier=classifier).fit(X, y)
        learned = supervised(poor, classifier=classifier, learn_kernel=True).fit(X, y)
        assert learned.kernel_.gamma < 20.0
        assert learned.coder_.kernel_.gamma == learned.kernel_.gamma
        assert learned.dictionary_.kernel.gamma == learned.kernel_.gamma
        assert len(learned.kernel_history_) > 1
        assert learned.score(Q, labels) > fixed.score(Q, labels)


@EVERY_CLASSIFIER
def test_many_landmarks_decide_like_all_samples(classifier, data):
    X, y, Q, labels = data
    full = supervised(classifier=classifier).fit(X, y)
    most = supervised(classifier=classifier, n_landmarks=110).fit(X, y)
    few = supervised(classifier=classifier, n_landmarks=30).fit(X, y)
    assert np.mean(full.predict(Q) == most.predict(Q)) > 0.9
    assert few.dictionary_.weights.shape == (30, 12)
    assert few.score(Q, labels) > 0.6


@EVERY_CLASSIFIER
def test_single_precision(classifier, data):
    X, y, Q, _ = data
    double = supervised(classifier=classifier).fit(X, y)
    single = supervised(classifier=classifier).fit(X.astype(np.float32), y)
    assert_allclose(
        single.decision_function(Q.astype(np.float32)), double.decision_function(Q), atol=0.05
    )
    assert single.transform(Q.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("fitted_in", [np.float32, np.float64])
def test_samples_are_scored_by_the_codes_that_transform_gives(fitted_in, data):
    X, y, Q, _ = data
    model = supervised().fit(X.astype(fitted_in), y)
    single = Q.astype(np.float32)
    codes = model.transform(single)
    assert codes.dtype == np.float32
    scores = model.decision_function(single)
    assert_allclose(scores, model.classifier_.scores(codes), rtol=1e-12, atol=1e-12)
    # The same numbers in double precision have other codes.
    assert np.abs(scores - model.decision_function(single.astype(np.float64))).max() > 1e-10


UNFINISHED = {
    "simplex": kc.KernelCoder(Gaussian(gamma=1.5), alpha=0.01, max_iter=1),
    "LCC": kc.KernelLCC(Gaussian(gamma=1.5), alpha=0.01, max_iter=1),
}


@pytest.mark.parametrize("coder", UNFINISHED.values(), ids=UNFINISHED.keys())
@EVERY_CLASSIFIER
def test_codes_that_did_not_converge_are_told_of(coder, classifier, data):
    X, y, Q, _ = data
    model = supervised(coder, classifier=classifier)
    with pytest.warns(ConvergenceWarning, match="did not converge") as fitting:
        model.fit(X, y)
    assert len(fitting) == 1
    told = []
    for method in ("transform", "predict", "decision_function", "predict_proba"):
        with pytest.warns(ConvergenceWarning, match="did not converge") as using:
            getattr(model, method)(Q)
        told += [str(warning.message) for warning in using]
    assert len(told) == 4
    assert len(set(told)) == 1  # the same codes, and the same number of them unfinished


@EVERY_CLASSIFIER
def test_threads_and_repetition_change_nothing(classifier, data):
    X, y, Q, _ = data
    one = supervised(classifier=classifier, random_state=3, max_iter=2).fit(X, y)
    again, two = clone(one).fit(X, y), clone(one).set_params(n_jobs=2).fit(X, y)
    assert_array_equal(again.decision_function(Q), one.decision_function(Q))
    assert_array_equal(again.predict_proba(Q), one.predict_proba(Q))
    # Threads share the rows of matrix products, which may round differently.
    assert_allclose(two.decision_function(Q), one.decision_function(Q), atol=1e-10)
    other = clone(one).set_params(random_state=4).fit(X, y)
    assert not np.array_equal(other.dictionary_.weights, one.dictionary_.weights)
    thawed = pickle.loads(pickle.dumps(one))
    assert_array_equal(thawed.predict_proba(Q), one.predict_proba(Q))
    assert_array_equal(one.predict(Q[3:5]), one.predict(Q)[3:5])


def test_grid_search_finds_what_fitting_by_hand_finds(data):
    X, y, _, _ = data
    grid = {
        "eta": [0.01, 1.0],
        "rho": ["auto", 0.1],
        "coder__alpha": [0.05],
        "coder__kernel__gamma": [0.5, 2.0],
    }
    search = GridSearchCV(supervised(max_iter=1), grid, cv=2).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) > 2
    for params, score in list(zip(search.cv_results_["params"], scores, strict=True))[::3]:
        coder = kc.KernelSparseCoder(Gaussian(gamma=params["coder__kernel__gamma"]), alpha=0.05)
        by_hand = supervised(coder, max_iter=1, eta=params["eta"], rho=params["rho"])
        assert cross_val_score(by_hand, X, y, cv=2).mean() == score


def test_pipelines_and_frames(data):
    X, y, Q, labels = data
    coder = kc.KernelSparseCoder(Gaussian(gamma=0.01), alpha=0.05)
    model = make_pipeline(StandardScaler(), supervised(coder)).fit(X, y)
    assert model.score(Q, labels) > 0.7
    names = [f"pixel{i}" for i in range(64)]
    framed = supervised().set_output(transform="pandas").fit(pd.DataFrame(X, columns=names), y)
    codes = framed.transform(pd.DataFrame(Q, columns=names))
    assert list(codes.columns) == [f"supervisedkernelcoding{i}" for i in range(12)]
    assert_allclose(codes, supervised().fit(X, y).transform(Q))
    with pytest.raises(ValueError, match="feature names"):
        framed.predict(pd.DataFrame(Q, columns=names[::-1]))


@EVERY_CLASSIFIER
def test_a_warm_start_goes_on_where_the_last_fit_ended(classifier, data):
    X, y, _, _ = data
    # Numbers, so that both fits minimise the same: "auto" would choose anew.
    numbers = {"eta": 0.1, "rho": 1e-4}
    cold = supervised(classifier=classifier, max_iter=15, tol=1e-3, **numbers).fit(X, y)
    warm = clone(cold).set_params(warm_start=True).fit(X, y)
    assert_array_equal(warm.objective_history_, cold.objective_history_)
    before = warm.dictionary_.weights
    warm.fit(X, y)
    start, first, last = (
        warm.objective_history_[0], cold.objective_history_[0], cold.objective_history_[-1]
    )  # fmt: skip
    # The codes begin without labels, atoms do not; the bound of the logistic loss is loose.
    share = 0.3 if classifier == "logistic" else 0.1
    assert start - last < share * (first - last)
    assert warm.objective_history_[-1] <= last
    assert warm.n_iter_ < cold.n_iter_ or classifier == "logistic"
    assert not np.array_equal(warm.dictionary_.weights, before)


def test_an_interrupted_fit_keeps_the_best(data):
    def interrupt(progress):
        if progress.iteration == 2 and progress.step == "codes":
            raise KeyboardInterrupt

    X, y, Q, _ = data
    for classifier in CLASSIFIERS:
        model = supervised(classifier=classifier, callback=interrupt, max_iter=5)
        with pytest.warns(UserWarning, match="interrupted in round 2"):
            model.fit(X, y)
        assert model.status_ == "interrupted"
        assert model.n_iter_ == 1
        expected = supervised(classifier=classifier, max_iter=1).fit(X, y)
        assert_allclose(model.decision_function(Q), expected.decision_function(Q), atol=1e-9)


def test_callbacks_see_every_half_step(data):
    X, y, _, _ = data
    seen = []
    model = supervised(callback=lambda progress: seen.append(progress), max_iter=2).fit(X, y)
    names = ["codes"] + 2 * ["atoms", "codes", "classifier"]
    assert [progress.step for progress in seen] == names
    assert_array_equal([progress.objective for progress in seen], model.objective_history_)
