"""What "auto" chooses in supervised coding, against refits that really leave samples out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.svm import LinearSVC

import kernelcoding as kc
from helpers.learning import digits, world
from helpers.supervised import CLASSIFIERS, rule, training_codes
from kernelcoding.classification.labels import Labels
from kernelcoding.classification.losses import one_vs_rest, ridge
from kernelcoding.classification.rules import LinearRule, MaxMarginRule
from kernelcoding.constraints import Free
from kernelcoding.kernels import Gaussian, Linear
from kernelcoding.priors import Ridge
from reference.supervised import hinge_loss, products, ridge_left_out

N, N_ATOMS, N_CLASSES, ETA = 60, 20, 3, 0.7
GRID = np.logspace(
    -7, 1, 17
)  # regularizations of squares that are tried, relative to the curvature
FACTORS = (1.0, 10.0, 100.0, 1e3, 1e4)  # of the hinge, from there upwards


# Slow and obvious ------------------------------------------------------------------------------


def best_for_squares(features, targets, sample_weight, unit, intercept):
    """Of all regularizations the one with the least error when each sample is really left out."""
    regularizations = GRID * unit
    errors = []
    for regularization in regularizations:
        scores = ridge_left_out(features, targets, sample_weight, regularization, intercept)
        errors.append(sample_weight @ ((targets - scores) ** 2).sum(axis=1))
    return regularizations[np.argmin(errors)]


def curvature(codes, sample_weight, intercept):
    """Mean eigenvalue of the weighted second moments."""
    moved = codes - (sample_weight @ codes / sample_weight.sum() if intercept else 0.0)
    return sample_weight @ (moved**2).sum(axis=1) / codes.shape[1]


def svm_left_out(codes, signs, sample_weight, regularization, folds):
    """Scores by scikit-learn's machines, each refitted without a fold."""
    scores = np.empty_like(signs)
    for fold in np.unique(folds):
        out = folds == fold
        for s in range(signs.shape[1]):
            peer = LinearSVC(
                C=0.5 / regularization, loss="squared_hinge", fit_intercept=False, dual=False,
                tol=1e-9, max_iter=100_000,
            )  # fmt: skip
            peer.fit(codes[~out], signs[~out, s], sample_weight[~out])
            scores[out, s] = codes[out] @ peer.coef_[0]
    return scores


def best_for_the_hinge(codes, signs, sample_weight, start, folds):
    """From a regularization upwards while the hinge of samples left out falls; and every loss."""
    losses = [
        sample_weight
        @ hinge_loss(svm_left_out(codes, signs, sample_weight, f * start, folds), signs)
        for f in FACTORS
    ]
    rises = np.flatnonzero(np.diff(losses) > 0.0)
    return FACTORS[rises[0] if rises.size else -1] * start, losses


def chosen_folds(seed, n):
    """The folds that all penalties are judged on, and those of the scores asked for afterwards."""
    rng = np.random.RandomState(seed)
    common = np.random.RandomState(rng.randint(2**31 - 1)).permutation(n) % 5
    return common, rng.permutation(n) % 5


# The penalty of a largest margin -----------------------------------------------------------------


def noisy_data(noise, seed=5):
    """Three classes of codes, samples that count differently."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(N) % N_CLASSES)
    centres = rng.normal(size=(N_CLASSES, N_ATOMS))
    codes = centres[labels] + 2.0 * noise * rng.normal(size=(N, N_ATOMS))
    signs, sample_weight = 2.0 * np.eye(N_CLASSES)[labels] - 1.0, rng.uniform(0.2, 3.0, size=N)
    frame = world("linear, samples", rng, n=N).frame
    given = training_codes(frame, codes, signs, rng, sample_weight, ETA, intercept=False)
    return replace(given, rng=np.random.RandomState(seed))


@pytest.mark.parametrize("regularization", [10.0, 300.0])
def test_folds_are_scored_by_machines_that_never_saw_them(regularization, monkeypatch):
    monkeypatch.setattr(one_vs_rest, "ROUGH", 1000)  # cheap steps, until they are exact
    data = noisy_data(0.7)
    folds = np.random.RandomState(5).permutation(N) % 5
    expected = svm_left_out(data.codes, data.targets, data.sample_weight, regularization, folds)
    found = MaxMarginRule().left_out(data, regularization * data.per_sample)
    assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_the_penalty_of_the_margin_starts_at_the_best_for_squares(noise):
    data = noisy_data(noise)
    codes, signs, sample_weight = data.codes, data.targets, data.sample_weight
    unit = curvature(codes, sample_weight, False)
    start = best_for_squares(codes, signs, sample_weight, unit, False)
    best, _ = best_for_the_hinge(codes, signs, sample_weight, start, chosen_folds(5, N)[0])
    assert_allclose(MaxMarginRule().choose_rho(data), best * ETA / N, rtol=1e-9)


@pytest.mark.parametrize(
    ("noise", "start", "factor"),
    [
        (1.0, 0.1, 1.0),
        (1.0, 1e-2, 10.0),
        (1.0, 1e-3, 100.0),
        (1.0, 1e-4, 1e3),
        (2.0, 1e-4, 1e4),
    ],
)
def test_the_penalty_of_the_margin_rises_while_the_hinge_of_others_falls(
    noise, start, factor, monkeypatch
):
    monkeypatch.setattr(ridge, "REGULARIZATIONS", np.array([start]))  # so that there is a way to go
    data = noisy_data(noise)
    start = start * curvature(data.codes, data.sample_weight, False)
    best, losses = best_for_the_hinge(
        data.codes, data.targets, data.sample_weight, start, chosen_folds(5, N)[0]
    )
    assert best == factor * start
    others = np.delete(losses, FACTORS.index(factor))
    assert min(losses) < 0.95 * others.min()  # no matter of rounding
    assert_allclose(MaxMarginRule().choose_rho(data), best * ETA / N, rtol=1e-9)


def test_samples_that_count_nothing_have_no_say_in_the_penalty(rng, monkeypatch):
    """Half of the samples have noise for labels; the penalty is theirs if they count."""
    monkeypatch.setattr(ridge, "REGULARIZATIONS", np.array([1e-3]))
    data = noisy_data(0.3)
    bad = np.arange(N) % 2 == 0
    data.targets[bad] = rng.permutation(data.targets[bad])
    penalties = []
    for counts in (1e-9, 1.0):
        sample_weight = np.where(bad, counts, 1.0)
        data = replace(data, sample_weight=sample_weight, rng=np.random.RandomState(5))
        unit = curvature(data.codes, data.sample_weight, False)
        penalties.append(MaxMarginRule().choose_rho(data) / unit)
    assert penalties[0] < 0.2 * penalties[1]


# How predictable labels are --------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_skill_is_the_share_of_avoidable_errors_that_are_avoided(n_classes, rng):
    rare = rng.integers(1, n_classes, size=40)
    y = np.where(rng.random(40) < 0.6, 0, rare)
    scores = 0.8 * np.eye(n_classes)[y] + rng.normal(size=(len(y), n_classes)) * 0.5
    chance = DummyClassifier(strategy="most_frequent").fit(scores, y).score(scores, y)
    correct = accuracy_score(y, scores.argmax(axis=1))
    assert 0.5 < chance < correct < 1.0
    assert_allclose(Labels.of(y).skill(scores), (correct - chance) / (1.0 - chance))
    assert Labels.of(y).skill(np.eye(n_classes)[y]) == 1.0
    assert Labels.of(y).skill(-np.eye(n_classes)[y]) == 0.0  # worse than chance is no skill
    largest = np.bincount(y).argmax()
    assert Labels.of(y).skill(np.tile(np.eye(n_classes)[largest], (len(y), 1))) == 0.0


def test_skill_of_several_labels_is_the_root_of_the_explained_variance(rng):
    y = (rng.random((50, 4)) < [0.1, 0.3, 0.5, 0.9]).astype(int)
    signs = 2.0 * y - 1.0
    for noise in (0.0, 0.3, 3.0):
        scores = signs + noise * rng.normal(size=signs.shape)
        explained = r2_score(signs, scores, multioutput="variance_weighted")
        found = Labels.of(y).skill(scores)
        assert_allclose(found, np.sqrt(max(explained, 0.0)), atol=1e-12)
    assert Labels.of(y).skill(np.tile(signs.mean(axis=0), (50, 1))) == 0.0


# The weight of the loss ------------------------------------------------------------------------


def four_digits(wrong=0.0, n=48):
    """Images of four digits, some with other labels."""
    X, y = digits(200, labels=True)
    X, y = X[y < 4][:n], y[y < 4][:n]
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(n) < wrong, rng.permutation(y), y)


def at_first_codes(X, y, coder=None, **parameters):
    """An estimator that stops when it has chosen: its atoms are the first ones."""
    coder = kc.KernelSparseCoder(Linear(), alpha=0.05) if coder is None else coder
    return kc.SupervisedKernelCoding(
        coder, n_atoms=10, callback=lambda progress: True, **parameters
    ).fit(X, y)


def weight_without_caution(X, targets):
    """A tenth of the mean k(x, x) of a linear kernel over the mean squared norm of targets."""
    return 0.1 * np.mean(np.sum(X**2, axis=1)) / np.mean(np.sum(targets**2, axis=1))


def skill_of(y, scores):
    correct, chance = np.mean(scores.argmax(axis=1) == y), np.bincount(y).max() / len(y)
    return max(correct - chance, 0.0) / (1.0 - chance)


@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 4.0, 2: 2.0, 3: 1.0}], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classifier", ["linear", "bilinear"])
def test_eta_is_the_fourth_power_of_the_skill_of_refits(classifier, intercept, class_weight):
    X, y = four_digits(wrong=0.2)
    model = at_first_codes(
        X, y, classifier=rule(classifier, fit_intercept=intercept, class_weight=class_weight)
    )
    codes, targets = model.transform(X), np.eye(4)[y]
    sample_weight = (
        np.ones(len(y)) if class_weight is None else np.array(list(class_weight.values()))[y]
    )
    sample_weight = sample_weight / sample_weight.mean()
    if classifier == "linear":
        features, unit, share = codes, curvature(codes, sample_weight, intercept), 1
    else:
        features, share = products(X, codes), 4
        unit = np.mean(sample_weight * (features**2).sum(axis=1))
    regularization = best_for_squares(features, targets, sample_weight, unit, intercept)
    scores = ridge_left_out(features, targets, sample_weight, regularization, intercept)
    skill = skill_of(y, scores)
    assert 0.2 < skill < 0.9
    eta = weight_without_caution(X, targets) * skill**4
    assert_allclose(model.eta_, eta, rtol=1e-9)
    assert_allclose(model.rho_, share * regularization * eta / len(y), rtol=1e-6)


def test_eta_of_a_margin_is_the_fourth_power_of_the_skill_of_refits():
    X, y = four_digits(wrong=0.2)
    model = at_first_codes(X, y, classifier=MaxMarginRule(fit_intercept=False), random_state=3)
    codes, signs, alike = model.transform(X), 2.0 * np.eye(4)[y] - 1.0, np.ones(len(y))
    start = best_for_squares(codes, signs, alike, curvature(codes, alike, False), False)
    common, folds = chosen_folds(3, len(y))
    regularization, _ = best_for_the_hinge(codes, signs, alike, start, common)
    skill = skill_of(y, svm_left_out(codes, signs, alike, regularization, folds))
    assert 0.2 < skill < 0.9
    eta = weight_without_caution(X, signs) * skill**4
    assert_allclose(model.eta_, eta, rtol=1e-9)
    assert_allclose(model.rho_, regularization * eta / len(y), rtol=1e-6)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_labels_that_are_noise_hardly_count_and_clear_ones_fully(classifier, rng):
    y = np.arange(60) % 3
    clear = 8.0 * np.eye(6)[y] + 0.1 * rng.normal(size=(60, 6))
    signs = 2.0 if classifier in ("max-margin", "logistic") else 1.0
    targets = signs * np.eye(3)[y] - (signs - 1.0)
    shares = []
    for X in (clear, rng.normal(size=(60, 6))):
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        model = at_first_codes(X, y, classifier=classifier)
        shares.append(model.eta_ / weight_without_caution(X, targets))
    assert shares[0] > 0.95
    assert shares[1] == 0.0 or 1e-4 * (1 - 1e-9) <= shares[1] < 5e-3


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_codes_that_follow_any_label_make_the_loss_count_less(gamma):
    """Codes of the ridge have closed forms, with labels and without."""
    (X, y), alpha = four_digits(wrong=0.1), 0.01
    coder = kc.KernelCoder(Gaussian(gamma), prior=Ridge(), constraint=Free(), alpha=alpha)
    model = at_first_codes(X, y, coder, classifier=LinearRule(fit_intercept=False))
    codes, targets, alike = model.transform(X), np.eye(4)[y], np.ones(len(y))
    regularization = best_for_squares(codes, targets, alike, curvature(codes, alike, False), False)
    skill = skill_of(y, ridge_left_out(codes, targets, alike, regularization, False))
    eta = 0.1 * skill**4  # k(x, x) = 1, and so is the squared norm of targets

    weights = np.linalg.solve(codes.T @ codes + regularization * np.eye(10), codes.T @ targets)
    cross = model.dictionary_.cross(X)
    normal = model.dictionary_.gram + alpha * np.eye(10)
    assert_allclose(codes, np.linalg.solve(normal, cross.T).T, rtol=1e-6, atol=1e-9)
    labelled = np.linalg.solve(
        normal + eta * weights @ weights.T, (cross + eta * targets @ weights.T).T
    ).T
    plain, followed = (np.sum((targets - part @ weights) ** 2) for part in (codes, labelled))
    excess = np.sqrt(plain / followed) - 1.0
    assert excess < 0.9 if gamma == 1.0 else excess > 1.3
    assert_allclose(model.eta_, eta / max(excess, 1.0), rtol=1e-6)
    assert_allclose(model.rho_, regularization * model.eta_ / len(y), rtol=1e-6)


@pytest.mark.parametrize("how", ["kernel", "samples"])
@pytest.mark.parametrize(
    ("classifier", "power"), [("linear", 2), ("bilinear", 3), ("max-margin", 2)]
)
def test_eta_goes_with_the_scale_of_the_kernel(classifier, power, how):
    """Atoms have unit norm: k -> c k makes codes sqrt(c) times as long if alpha is, too.

    Squared errors are c times as large, and so must eta be. The classifier's features are c (or,
    bilinear, c^2) times as long in squares, and so is the regularization: rho is eta times that.
    """
    X, y = four_digits(wrong=0.2)
    found = []
    for c in (1.0, 9.0):
        kernel = c * Gaussian(gamma=2.0) if how == "kernel" else Linear()
        coder = kc.KernelSparseCoder(kernel, alpha=0.05 * np.sqrt(c), tol=1e-10)
        samples = X if how == "kernel" else np.sqrt(c) * X
        found.append(at_first_codes(samples, y, coder, classifier=classifier))
    before, after = found
    assert 1e-3 < before.eta_ / weight_without_caution(X, np.eye(4)[y]) < 0.9
    assert_allclose(after.eta_, 9.0 * before.eta_, rtol=1e-9)
    assert_allclose(after.rho_, 9.0**power * before.rho_, rtol=1e-5)
