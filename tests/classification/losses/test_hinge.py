"""Classifiers of largest margin against scikit-learn's, scipy's, and their own objective."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from helpers.learning import world
from helpers.supervised import one_hot, sparse_codes, training_codes
from kernelcoding.classification.losses import hinge, one_vs_rest
from kernelcoding.classification.rules import MaxMarginRule
from reference.supervised import hinge_loss, hinge_objective, square_loss

N, N_ATOMS, N_CLASSES = 30, 5, 3
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


@pytest.fixture
def codes(rng):
    return sparse_codes(rng, N, N_ATOMS)


@pytest.fixture
def signs(rng):
    return 2.0 * one_hot(rng, N, N_CLASSES) - 1.0


@pytest.fixture
def sample_weight(rng):
    return rng.uniform(0.2, 3.0, size=N)


@pytest.mark.parametrize("regularization", [1e-3, 0.1, 10.0])
def test_largest_margins_are_those_of_linear_svc(regularization, codes, signs, sample_weight):
    weights, bias = hinge.fit(codes, signs, sample_weight, regularization, False)
    assert_array_equal(bias, 0.0)
    for s in range(N_CLASSES):
        peer = LinearSVC(
            C=0.5 / regularization, loss="squared_hinge", fit_intercept=False, dual=False,
            tol=1e-10, max_iter=100_000,
        )  # fmt: skip
        peer.fit(codes, signs[:, s], sample_weight)
        assert_allclose(weights[:, s], peer.coef_[0], atol=1e-6)


@pytest.mark.parametrize("n", [4, N], ids=["few samples", "many samples"])
@pytest.mark.parametrize("regularization", [1e-3, 1.0])
def test_margins_with_an_intercept_minimise_the_objective(
    regularization, n, codes, signs, sample_weight, monkeypatch
):
    monkeypatch.setattr(one_vs_rest, "ROUGH", 1)  # the exact steps must do the work
    codes, signs, sample_weight = codes[:n], signs[:n], sample_weight[:n]
    weights, bias = hinge.fit(codes, signs, sample_weight, regularization, True)

    def flat(unknowns, s):
        slack = np.maximum(0.0, 1.0 - signs[:, s] * (codes @ unknowns[:-1] + unknowns[-1]))
        value = (
            0.5 * regularization * unknowns[:-1] @ unknowns[:-1] + 0.5 * sample_weight @ slack**2
        )
        pull = sample_weight * slack * signs[:, s]
        return value, np.append(regularization * unknowns[:-1] - codes.T @ pull, -pull.sum())

    for s in range(N_CLASSES):
        start = np.zeros(N_ATOMS + 1)
        peer = minimize(flat, start, (s,), jac=True, method="BFGS", options={"gtol": 1e-9})
        ours, gradient = flat(np.append(weights[:, s], bias[s]), s)
        assert ours <= peer.fun * (1 + 1e-9) + 1e-15
        assert_allclose(gradient, 0.0, atol=1e-6)
        assert_allclose(weights[:, s], peer.x[:-1], atol=1e-5)


@INTERCEPT
@pytest.mark.parametrize("n_atoms", [5, 40], ids=["few atoms", "many atoms"])
def test_newtons_method_needs_no_good_start(n_atoms, intercept, signs, sample_weight, rng):
    codes, regularization = rng.normal(size=(N, n_atoms)), 3.0
    expected, biases = hinge.fit(codes, signs, sample_weight, regularization, intercept)
    for s in range(N_CLASSES):
        weights, bias = hinge._one_against_rest(
            codes, signs[:, s], sample_weight, regularization, intercept, np.zeros(n_atoms), 0.0
        )
        slack = np.maximum(0.0, 1.0 - signs[:, s] * (codes @ weights + bias))
        pull = sample_weight * slack * signs[:, s]
        assert_allclose(regularization * weights, codes.T @ pull, atol=1e-6)
        if intercept:
            assert_allclose(pull.sum(), 0.0, atol=1e-6)
        assert_allclose(weights, expected[:, s], atol=1e-6)
        assert_allclose(bias, biases[s], atol=1e-6)


@INTERCEPT
def test_cheap_steps_never_raise_the_objective(intercept, codes, signs, sample_weight, rng):
    regularization = 0.05
    given = (rng.normal(size=(N_ATOMS, N_CLASSES)), rng.normal(size=N_CLASSES) * intercept)
    least = hinge_objective(
        *hinge.fit(codes, signs, sample_weight, regularization, intercept),
        codes, signs, sample_weight, regularization,
    )  # fmt: skip
    history = [hinge_objective(*given, codes, signs, sample_weight, regularization)]
    for _ in range(40):
        given = hinge.fit(
            codes, signs, sample_weight, regularization, intercept, given, exact=False
        )
        history.append(hinge_objective(*given, codes, signs, sample_weight, regularization))
    assert np.all(np.diff(history) <= 1e-12 * history[0])
    assert history[1] < history[0]
    # Both end in the same minimum, where values differ by rounding only.
    assert least * (1 - 1e-12) <= history[-1] <= least * (1 + 1e-5)


def test_each_cheap_step_lowers_the_objective(codes, signs, sample_weight, rng, monkeypatch):
    monkeypatch.setattr(one_vs_rest, "ROUGH", 1)
    regularization = 0.05
    given = (rng.normal(size=(N_ATOMS, N_CLASSES)), np.zeros(N_CLASSES))
    history = [hinge_objective(*given, codes, signs, sample_weight, regularization)]
    for _ in range(60):
        given = hinge.fit(codes, signs, sample_weight, regularization, True, given, exact=False)
        history.append(hinge_objective(*given, codes, signs, sample_weight, regularization))
    assert np.all(np.diff(history) <= 1e-12 * history[0])


@INTERCEPT
def test_the_margin_rule_is_the_margin_of_the_mean_objective(
    intercept, codes, signs, sample_weight, rng
):
    eta, rho = 0.3, 0.02
    data = training_codes(None, sparse.csr_array(codes), signs, rng, sample_weight, eta, intercept)
    found = MaxMarginRule().fit(data, rho)

    def objective(weights, bias):
        losses = hinge_loss(codes @ weights + bias, signs)
        return eta * np.mean(sample_weight * losses) + 0.5 * rho * np.sum(weights**2)

    least = objective(found.weights, found.bias)
    mean_loss = eta * np.mean(sample_weight * MaxMarginRule().loss(found.scores(codes), signs))
    assert_allclose(mean_loss + found.penalty, least, rtol=1e-12)
    for _ in range(20):
        shift = 1e-3 * rng.normal(size=found.weights.shape)
        assert objective(found.weights + shift, found.bias) > least


def test_surrogate_targets_bound_the_hinge_and_touch_it(rng):
    signs = np.sign(rng.normal(size=(200, 4)))
    now, other = (3.0 * rng.normal(size=(200, 4)) for _ in range(2))
    rule = MaxMarginRule()
    targets = rule.surrogate_targets(now, signs)
    assert_allclose(square_loss(now, targets), rule.loss(now, signs), rtol=1e-12)
    assert_allclose(rule.loss(other, signs), hinge_loss(other, signs))
    assert np.all(square_loss(other, targets) >= rule.loss(other, signs) - 1e-12)


def test_folds_left_out_are_scored_by_the_others(codes, signs, rng):
    """Noise labels: a classifier that saw them would beat chance, one that did not cannot."""
    known = world("linear, samples", rng, n=N)
    scattered = rng.normal(size=(N, 25))
    data = training_codes(known.frame, scattered, signs, rng)
    rule, rho = MaxMarginRule(), 1e-6
    fitted = rule.fit(data, rho)
    seen = rule.loss(fitted.scores(scattered), signs).mean()
    unseen = rule.loss(rule.left_out(data, rho), signs).mean()
    assert seen < 0.1 < 1.0 < unseen
