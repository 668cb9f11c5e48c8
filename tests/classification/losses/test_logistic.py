"""Logistic classifiers against a general minimiser, finite differences and bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression

import kernelcoding as kc
from kernelcoding.classification import LogisticRule
from kernelcoding.classification.losses import logistic


def problem(rng, n=60, n_atoms=7, n_classes=3):
    codes = rng.normal(size=(n, n_atoms)) * (rng.uniform(size=(n, n_atoms)) < 0.6)
    labels = (codes @ rng.normal(size=(n_atoms, n_classes)) + rng.normal(size=(n, n_classes))) > 0
    return codes, 2.0 * labels - 1.0, rng.uniform(0.3, 2.0, size=n)


def value(codes, signs, sample_weight, regularization, weights, bias):
    """Spelled out, summed over classes."""
    total = 0.5 * regularization * np.sum(weights**2)
    for s in range(signs.shape[1]):
        scores = codes @ weights[:, s] + bias[s]
        total += 4.0 * np.sum(sample_weight * np.log1p(np.exp(-signs[:, s] * scores)))
    return total


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("regularization", [0.05, 3.0])
def test_the_minimum_is_that_of_a_general_method(regularization, intercept, rng):
    codes, signs, sample_weight = problem(rng)
    weights, bias = logistic.fit(codes, signs, sample_weight, regularization, intercept)
    shape = weights.shape

    def objective(flat):
        found = flat[: weights.size].reshape(shape)
        biases = flat[weights.size :] if intercept else np.zeros(shape[1])
        return value(codes, signs, sample_weight, regularization, found, biases)

    start = np.zeros(weights.size + (shape[1] if intercept else 0))
    expected = minimize(objective, start, method="BFGS", options={"gtol": 1e-5})
    mine = value(codes, signs, sample_weight, regularization, weights, bias)
    assert mine <= expected.fun * (1.0 + 1e-7)
    assert_allclose(weights.ravel(), expected.x[: weights.size], atol=2e-4)
    if not intercept:
        assert_allclose(bias, 0.0)


def test_surrogate_targets_bound_the_loss_and_touch_it(rng):
    scores, signs = rng.normal(size=(40, 3)) * 4, np.sign(rng.normal(size=(40, 3)))
    targets = logistic.surrogate_targets(scores, signs)

    def bound(at):
        gap = 0.5 * np.sum((at - targets) ** 2 - (scores - targets) ** 2, axis=1)
        return logistic.loss(scores, signs) + gap

    for size in (1e-3, 0.1, 1.0, 10.0):
        moved = scores + size * rng.normal(size=scores.shape)
        assert np.all(logistic.loss(moved, signs) <= bound(moved) + 1e-12)
    slope = approx_fprime(scores[0], lambda f: logistic.loss(f[None], signs[:1])[0], 1e-7)
    assert_allclose(scores[0] - targets[0], slope, atol=1e-5)


def test_rough_steps_lower_the_objective_towards_the_minimum(rng):
    codes, signs, sample_weight = problem(rng)
    best = value(
        codes, signs, sample_weight, 0.1, *logistic.fit(codes, signs, sample_weight, 0.1, True)
    )
    given, before = None, np.inf
    for _ in range(6):
        given = logistic.fit(codes, signs, sample_weight, 0.1, True, given, exact=False)
        now = value(codes, signs, sample_weight, 0.1, *given)
        assert best * (1.0 - 1e-9) <= now <= before
        before = now
    assert now <= best * 1.05


def test_the_joint_objective_never_rises(rng):
    X = rng.normal(size=(80, 6))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0).astype(int) + (X[:, 2] > 1.0)
    coder = kc.KernelSparseCoder("rbf", alpha=0.05)
    model = kc.SupervisedKernelCoding(
        coder, n_atoms=20, classifier="logistic", max_iter=6, tol=0
    ).fit(X, y)  # fmt: skip
    history = model.objective_history_
    assert np.all(np.diff(history) <= 1e-9 * history[0])
    assert model.score(X, y) > 0.8


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 3))
    return X, (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.2)


def test_the_last_classifier_is_that_of_all_classes_at_once(three_classes):
    """Four times the loss, and the weights of the joint objective: scikit-learn's minimum."""
    X, y = three_classes
    eta, rho = 0.3, 0.01
    coder = kc.KernelSparseCoder("rbf", alpha=0.05)
    model = kc.SupervisedKernelCoding(
        coder, n_atoms=12, classifier=LogisticRule(rho=rho), eta=eta, max_iter=3
    ).fit(X, y)
    codes = model.transform(X)
    peer = LogisticRegression(C=4.0 * eta / (len(X) * rho), tol=1e-10, max_iter=10_000)
    peer.fit(codes, y)
    found = model.classifier_.weights
    assert_allclose(found - found.mean(axis=1, keepdims=True), peer.coef_.T, atol=2e-2)
    assert np.mean(model.predict(X) == peer.predict(codes)) == 1.0


def test_the_classifier_of_the_loop_is_one_class_against_the_rest(three_classes):
    """Which is what codes have looked at; it stays where nothing is fitted again."""
    X, y = three_classes
    coder = kc.KernelSparseCoder("rbf", alpha=0.05)
    model = kc.SupervisedKernelCoding(
        coder, n_atoms=12, classifier=LogisticRule(rho=0.01, refit=False), eta=0.3, max_iter=3
    ).fit(X, y)
    assert model.classifier_ is model.joint_classifier_


def test_several_labels_per_sample_have_a_sigmoid_each(three_classes):
    X, y = three_classes
    members = np.stack([y == 0, y > 0, y == 2], axis=1).astype(int)
    eta, rho = 0.3, 0.01
    model = kc.SupervisedKernelCoding(
        kc.KernelSparseCoder("rbf", alpha=0.05), 12, LogisticRule(rho=rho), eta, max_iter=3
    ).fit(X, members)
    codes = model.transform(X)
    for j in range(3):
        peer = LogisticRegression(C=4.0 * eta / (len(X) * rho), tol=1e-10, max_iter=10_000)
        peer.fit(codes, members[:, j])
        assert_allclose(model.classifier_.weights[:, j], peer.coef_[0], atol=2e-2)
