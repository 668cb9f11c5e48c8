"""The classifiers of codes against explicit features, refits, and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from helpers.learning import WORLDS, World, digits, world
from helpers.supervised import one_hot, rule, sparse_codes, supervised, training_codes
from kernelcoding.classification.classifiers import BilinearClassifier, LinearClassifier
from kernelcoding.classification.rules import RULES, BilinearRule, LinearRule, MaxMarginRule
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import LandmarkFrame, SampleFrame
from kernelcoding.kernels import Gaussian
from reference.supervised import (
    products,
    ridge_left_out,
    square_loss,
    subspace_ridge,
    weighted_ridge,
)

N, N_ATOMS, N_CLASSES = 30, 5, 3
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


@pytest.fixture
def codes(rng):
    return sparse_codes(rng, N, N_ATOMS)


@pytest.fixture
def targets(rng):
    return one_hot(rng, N, N_CLASSES)


@pytest.fixture
def sample_weight(rng):
    return rng.uniform(0.2, 3.0, size=N)


# Linear ----------------------------------------------------------------------------------------


@FORMS
def test_the_linear_classifier_is_the_papers_formula(form, codes, targets, rng):
    eta, rho = 0.7, 0.03
    data = training_codes(None, form(codes), targets, rng, eta=eta, intercept=False)
    found = LinearRule().fit(data, rho)
    # W = L Y'(YY' + (rho M / eta) I)^-1, with the paper's columns for our rows.
    Y, L = codes.T, targets.T
    W = L @ Y.T @ np.linalg.inv(Y @ Y.T + rho * N / eta * np.eye(N_ATOMS))
    assert_allclose(found.weights, W.T, atol=1e-12)
    assert_array_equal(found.bias, 0.0)
    assert_allclose(found.penalty, 0.5 * rho * np.linalg.norm(W) ** 2)
    assert_allclose(found.scores(form(codes)), (W @ Y).T, atol=1e-12)


@INTERCEPT
def test_the_linear_classifier_minimises_its_part_of_the_objective(
    intercept, codes, targets, sample_weight, rng
):
    eta, rho = 0.7, 0.05
    data = training_codes(None, codes, targets, rng, sample_weight, eta, intercept)
    found = LinearRule().fit(data, rho)

    def objective(weights, bias):
        losses = square_loss(codes @ weights + bias, targets)
        return eta * np.mean(sample_weight * losses) + 0.5 * rho * np.sum(weights**2)

    least = objective(found.weights, found.bias)
    mean_loss = eta * np.mean(sample_weight * LinearRule().loss(found.scores(codes), targets))
    assert_allclose(mean_loss + found.penalty, least, rtol=1e-12)
    for _ in range(20):
        shift = 1e-3 * rng.normal(size=found.weights.shape)
        tilt = 1e-3 * rng.normal(size=N_CLASSES) * intercept
        assert objective(found.weights + shift, found.bias + tilt) > least


# Bilinear --------------------------------------------------------------------------------------


def known_world(name, rng):
    """Every world, and a kernel whose features are rows of a Cholesky factor."""
    if name != "gaussian, samples":
        return world(name, rng, n=N)
    X = rng.normal(size=(N, 3))
    frame = SampleFrame(PointDictionary(Gaussian(gamma=1.0), X, np.arange(N)))
    factor = np.linalg.cholesky(frame.kernel_matrix)
    return World(frame, factor, factor, np.zeros(N))


def bilinear_regularization(data, rho):
    n, n_classes = data.targets.shape
    return rho * n / (data.eta * n_classes)


SAMPLES = ["linear, samples", "quadratic, samples", "gaussian, samples"]
LANDMARKS = ["linear, landmarks", "quadratic, landmarks"]


@FORMS
@INTERCEPT
@pytest.mark.parametrize("name", SAMPLES)
def test_the_bilinear_classifier_solves_the_papers_system(
    name, intercept, form, codes, targets, sample_weight, rng
):
    known, rho = known_world(name, rng), 0.05
    data = training_codes(known.frame, form(codes), targets, rng, sample_weight, 0.7, intercept)
    found = BilinearRule().fit(data, rho)
    features = products(known.samples, codes)
    regularization = bilinear_regularization(data, rho)
    W, bias = weighted_ridge(features, targets, sample_weight, regularization, intercept)
    assert_allclose(found.bias, bias, atol=1e-8)
    # W_j = sum_z C_zj phi(z) y_z'
    assert_allclose(features.T @ found.coefficients, W, atol=1e-8)
    assert_allclose(found.penalty, rho / (2 * N_CLASSES) * np.sum(W**2), rtol=1e-8)
    queries, new = rng.normal(size=(7, known.samples.shape[1])), rng.normal(size=(7, N_ATOMS))
    matrices = W.T.reshape(N_CLASSES, -1, N_ATOMS)
    expected = np.stack([((queries @ M) * new).sum(axis=1) for M in matrices], axis=1) + bias
    similarity = queries @ known.landmarks.T
    assert_allclose(found.scores(form(new), similarity), expected, atol=1e-8)


def test_the_papers_block_system_written_entry_by_entry(codes, targets, rng):
    """One class, a double sum over samples: the M * N unknowns of A in W = Phi(X) A."""
    n, n_atoms, rho, eta = 8, 3, 0.2, 0.5
    known, codes, targets = world("linear, samples", rng, n=n), codes[:n, :n_atoms], targets[:n]
    data = training_codes(known.frame, codes, targets, rng, eta=eta, intercept=False)
    found = BilinearRule().fit(data, rho)
    K = known.samples @ known.samples.T
    # f_i = k_i' A y_i; penalty rho/(2S) tr(A'KA): stationary in A, stacked row by row.
    rows = np.array([np.kron(K[i], codes[i]) for i in range(n)])
    system = eta / n * rows.T @ rows + rho / N_CLASSES * np.kron(K, np.eye(n_atoms))
    A = np.linalg.lstsq(system, eta / n * rows.T @ targets, rcond=None)[0]
    expected = rows @ A
    assert_allclose(found.scores(codes, K), expected, atol=1e-8)
    forms = [a.reshape(n, n_atoms) for a in A.T]
    penalty = rho / (2 * N_CLASSES) * sum(np.trace(a.T @ K @ a) for a in forms)
    assert_allclose(found.penalty, penalty, rtol=1e-7)


@INTERCEPT
@pytest.mark.parametrize("name", LANDMARKS)
def test_few_landmarks_are_regression_in_a_subspace(
    name, intercept, codes, targets, sample_weight, rng
):
    known, rho = known_world(name, rng), 0.05
    centres = sparse_codes(rng, 7, N_ATOMS)
    data = training_codes(known.frame, codes, targets, rng, sample_weight, 0.7, intercept, centres)
    found = BilinearRule().fit(data, rho)
    features, directions = products(known.samples, codes), products(known.landmarks, centres)
    regularization = bilinear_regularization(data, rho)
    W, bias = subspace_ridge(
        features, directions, targets, sample_weight, regularization, intercept
    )
    assert_allclose(found.bias, bias, atol=1e-7)
    assert_allclose(directions.T @ found.coefficients, W, atol=1e-7)
    assert_allclose(found.penalty, rho / (2 * N_CLASSES) * np.sum(W**2), rtol=1e-6)
    similarity = known.samples @ known.landmarks.T
    assert_allclose(found.scores(codes, similarity), features @ W + bias, atol=1e-7)


@INTERCEPT
def test_all_samples_as_landmarks_are_no_approximation(
    intercept, codes, targets, sample_weight, rng
):
    samples = PointDictionary(Gaussian(gamma=1.0), rng.normal(size=(N, 3)), np.arange(N))
    exact, few = SampleFrame(samples), LandmarkFrame(samples, samples.points)
    scores = []
    for frame in (exact, few):
        data = training_codes(frame, codes, targets, rng, sample_weight, 0.7, intercept, codes)
        scores.append(BilinearRule().fit(data, 0.02).scores(codes, exact.kernel_matrix))
    assert_allclose(scores[1], scores[0], atol=1e-6)


def test_blocks_of_samples_give_the_same_classifier(codes, targets, rng, monkeypatch):
    from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

    X = rng.normal(size=(N, 3))
    samples = PointDictionary(Gaussian(gamma=1.0), X[:8], np.arange(8))
    centres = sparse_codes(rng, 8, N_ATOMS)
    once = LandmarkFrame(samples, X)
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(landmark_frames, "BLOCK", 1)  # sixteen samples per block
    often = LandmarkFrame(samples, X)
    assert len(list(often.blocks(np.zeros((often.dimension, 0))))) == 2
    found = []
    for frame in (once, often):
        data = training_codes(frame, codes, targets, rng, centres=centres)
        found.append(BilinearRule().fit(data, 0.05))
    assert_allclose(found[1].coefficients, found[0].coefficients, rtol=1e-7, atol=1e-9)


@INTERCEPT
@pytest.mark.parametrize("name", SAMPLES)
def test_bilinear_scores_left_out_are_those_of_refits(
    name, intercept, codes, targets, sample_weight, rng
):
    known, rho = known_world(name, rng), 0.05
    data = training_codes(known.frame, codes, targets, rng, sample_weight, 0.7, intercept)
    found = BilinearRule().left_out(data, rho)
    features, regularization = products(known.samples, codes), bilinear_regularization(data, rho)
    expected = ridge_left_out(features, targets, sample_weight, regularization, intercept)
    assert_allclose(found, expected, atol=1e-7)


def test_folds_are_left_out_where_centres_are_few(codes, targets, rng):
    """Whoever is left out has no say: other labels for the fold give the fold the same scores."""
    known, rho = known_world("quadratic, landmarks", rng), 0.05
    centres = sparse_codes(rng, 7, N_ATOMS)
    data = training_codes(known.frame, codes, targets, rng, centres=centres)
    seed = data.rng.get_state()
    first = BilinearRule().left_out(data, rho)
    data.rng.set_state(seed)
    fold = data.rng.permutation(N) % 5 == 2
    data.rng.set_state(seed)
    data = replace(data, targets=np.where(fold[:, None], 1.0 - targets, targets))
    second = BilinearRule().left_out(data, rho)
    assert_allclose(second[fold], first[fold], atol=1e-6)
    assert np.abs(second - first)[~fold].max() > 1e-3


@INTERCEPT
@pytest.mark.parametrize("name", ["gaussian, samples", "linear, landmarks"])
def test_the_bilinear_penalty_is_the_best_when_each_sample_is_left_out(
    name, intercept, codes, sample_weight, rng
):
    known, eta, sample_weight = known_world(name, rng), 0.4, sample_weight**4
    features = products(known.samples, codes)
    # Those who count little follow another rule, so that it matters who counts.
    rules = rng.normal(size=(2, features.shape[1], N_CLASSES))
    targets = np.where(sample_weight[:, None] > 1.0, features @ rules[0], features @ rules[1])
    regularizations = np.logspace(-7, 1, 17) * np.mean(sample_weight * np.sum(features**2, axis=1))
    errors = [
        sample_weight
        @ ((targets - ridge_left_out(features, targets, sample_weight, s, intercept)) ** 2).sum(
            axis=1
        )
        for s in regularizations
    ]
    data = training_codes(known.frame, codes, targets, rng, sample_weight, eta, intercept)
    best = regularizations[np.argmin(errors)]
    assert_allclose(BilinearRule().choose_rho(data), best * eta * N_CLASSES / N, rtol=1e-9)


# Atoms that change their norm ------------------------------------------------------------------


@FORMS
def test_scaled_classifiers_score_scaled_codes_as_before(form, codes, targets, rng):
    known, norms = world("quadratic, samples", rng, n=N), rng.uniform(0.3, 3.0, size=N_ATOMS)
    data = training_codes(known.frame, form(codes), targets, rng)
    similarity = known.frame.kernel_matrix
    for name in RULES:
        before = rule(name).fit(data, 0.05)
        after = before.scaled(norms)
        assert_allclose(
            after.scores(form(codes * norms), similarity),
            before.scores(form(codes), similarity),
            atol=1e-10,
            err_msg=name,
        )
        if isinstance(after, LinearClassifier):
            W = after.weights
            expected = 0.5 * 0.05 * np.sum(W**2)
        else:
            assert isinstance(after, BilinearClassifier)
            W = products(known.samples, codes / norms).T @ after.coefficients
            expected = 0.05 / (2 * N_CLASSES) * np.sum(W**2)
        assert_allclose(after.penalty, expected, rtol=1e-9, err_msg=name)


def test_an_atom_of_norm_zero_has_no_say(codes, targets, rng):
    known, norms = world("linear, samples", rng, n=N), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    data = training_codes(known.frame, codes, targets, rng)
    for name in RULES:
        after = rule(name).fit(data, 0.05).scaled(norms)
        only = np.eye(N_ATOMS)[:1]
        assert_allclose(after.scores(only, known.frame.kernel_matrix[:1]), after.bias[None])


def test_every_world_is_covered():
    assert {*SAMPLES[:2], *LANDMARKS} == set(WORLDS)


# Rules as users give them ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def labelled_digits():
    X, y = digits(160, labels=True)
    return X[:100], y[:100], X[100:]


@pytest.mark.parametrize("name", RULES)
def test_a_name_stands_for_a_rule_with_its_defaults(name, labelled_digits):
    X, y, Q = labelled_digits
    named, given = supervised(classifier=name), supervised(classifier=rule(name))
    expected = named.fit(X, y).decision_function(Q)
    assert_array_equal(given.fit(X, y).decision_function(Q), expected)


@pytest.mark.parametrize("name", RULES)
def test_rho_may_be_given_with_the_rule_or_apart(name, labelled_digits):
    X, y, Q = labelled_digits
    apart = supervised(classifier=name, rho=1e-3).fit(X, y)
    within = supervised(classifier=rule(name, rho=1e-3)).fit(X, y)
    both = supervised(classifier=rule(name, rho=1e-3), rho=1e-3).fit(X, y)
    assert apart.rho_ == within.rho_ == both.rho_ == 1e-3
    assert_array_equal(within.decision_function(Q), apart.decision_function(Q))
    assert_array_equal(both.decision_function(Q), apart.decision_function(Q))
    left_open = supervised(classifier=name).fit(X, y)
    assert not np.allclose(left_open.decision_function(Q), apart.decision_function(Q), atol=1e-4)
    twice = supervised(classifier=rule(name, rho=1e-3), rho=2e-3)
    with pytest.raises(ValueError, match=r"rho is given twice: rho=0\.002 and .*rho=0\.001"):
        twice.fit(X, y)
    with pytest.raises(ValueError, match="rho is given twice: rho='auto'"):
        twice.set_params(rho="auto").fit(X, y)


def test_rules_are_parameters_that_are_copied_shown_and_left_alone(labelled_digits):
    X, y, Q = labelled_digits
    given = MaxMarginRule(class_weight="balanced")
    model = supervised(classifier=given, rho=1e-3).fit(X, y)
    assert model.classifier is given
    assert given.rho == "auto"
    assert "classifier=MaxMarginRule(class_weight='balanced')" in repr(model)
    again = clone(model)
    assert again.classifier is not given
    assert repr(again) == repr(model)
    assert_array_equal(again.fit(X, y).decision_function(Q), model.decision_function(Q))
    assert model.get_params()["classifier__class_weight"] == "balanced"


@pytest.mark.parametrize("classifier", ["linear", LinearRule()], ids=["name", "rule"])
def test_a_grid_search_reaches_into_rules(classifier, labelled_digits):
    X, y, _ = labelled_digits
    grid = {"classifier__rho": [1e-4, 10.0]}
    search = GridSearchCV(supervised(classifier=classifier, max_iter=1), grid, cv=2).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    for rho, score in zip(grid["classifier__rho"], scores, strict=True):
        by_hand = supervised(rho=rho, max_iter=1)
        assert cross_val_score(by_hand, X, y, cv=2).mean() == score
    assert scores[0] > scores[1]
    assert search.best_estimator_.rho_ == 1e-4


@pytest.mark.parametrize("name", RULES)
def test_balanced_weights_matter_where_classes_differ_in_size(name, labelled_digits):
    X, y, Q = labelled_digits
    X, y = X[y < 2], y[y < 2]
    size = np.bincount(y).min()
    even = np.sort(np.concatenate([np.flatnonzero(y == label)[:size] for label in (0, 1)]))
    uneven = np.sort(np.append(np.flatnonzero(y == 0)[:size], np.flatnonzero(y == 1)[: size // 3]))
    for rows, same in ((even, True), (uneven, False)):
        plain, balanced = (
            supervised(classifier=rule(name, class_weight=weight), n_atoms=6).fit(X[rows], y[rows])
            for weight in (None, "balanced")
        )
        scores = plain.decision_function(Q), balanced.decision_function(Q)
        assert np.allclose(*scores, atol=1e-9) == same
