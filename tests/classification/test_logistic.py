"""Logistic classifiers against a general minimiser, finite differences and bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize

import kernelcoding as kc
from kernelcoding.classification import logistic


def problem(rng, n=60, n_atoms=7, n_classes=3):
    codes = rng.normal(size=(n, n_atoms)) * (rng.uniform(size=(n, n_atoms)) < 0.6)
    labels = (codes @ rng.normal(size=(n_atoms, n_classes)) + rng.normal(size=(n, n_classes))) > 0
    return codes, 2.0 * labels - 1.0, rng.uniform(0.3, 2.0, size=n)


def value(codes, signs, sample_weight, regularization, weights, bias):
    """Spelled out, summed over classes."""
    total = 0.5 * regularization * np.sum(weights**2)
    for i, code in enumerate(codes):
        for s in range(signs.shape[1]):
            score = code @ weights[:, s] + bias[s]
            total += 4.0 * sample_weight[i] * np.log1p(np.exp(-signs[i, s] * score))
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
