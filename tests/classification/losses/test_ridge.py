"""Ridge regression against scikit-learn's, and its choices against refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from helpers.supervised import one_hot, sparse_codes, training_codes
from kernelcoding.classification.losses import ridge
from kernelcoding.classification.rules import LinearRule
from reference.supervised import ridge_left_out

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


@FORMS
@INTERCEPT
def test_ridge_is_scikit_learns_with_sample_weights(form, intercept, codes, targets, sample_weight):
    weights, bias = ridge.fit(form(codes), targets, sample_weight, 0.3, intercept)
    peer = Ridge(alpha=0.3, fit_intercept=intercept, tol=1e-12).fit(codes, targets, sample_weight)
    assert_allclose(weights, peer.coef_.T, atol=1e-10)
    assert_allclose(bias, np.broadcast_to(peer.intercept_, N_CLASSES), atol=1e-10)


@FORMS
@INTERCEPT
def test_left_out_scores_are_those_of_refits(form, intercept, codes, targets, sample_weight):
    found = ridge.left_out(form(codes), targets, sample_weight, 0.2, intercept)
    expected = ridge_left_out(codes, targets, sample_weight, 0.2, intercept)
    assert_allclose(found, expected, atol=1e-9)


@INTERCEPT
@pytest.mark.parametrize("noise", [0.1, 10.0], ids=["clean", "noisy"])
def test_the_regularization_is_the_best_when_each_sample_is_left_out(
    intercept, noise, codes, sample_weight, rng
):
    targets = codes @ rng.normal(size=(N_ATOMS, 2)) + noise * rng.normal(size=(N, 2))
    offset = sample_weight @ codes / sample_weight.sum() if intercept else 0.0
    moved = codes - offset
    curvature = np.trace(moved.T @ (sample_weight[:, None] * moved)) / N_ATOMS
    regularizations = np.logspace(-7, 1, 17) * curvature
    errors = [
        sample_weight
        @ ((targets - ridge_left_out(codes, targets, sample_weight, s, intercept)) ** 2).sum(axis=1)
        for s in regularizations
    ]
    found = ridge.best_regularization(codes, targets, sample_weight, intercept, None)
    assert_allclose(found, regularizations[np.argmin(errors)], rtol=1e-9)
    eta = 0.4
    data = training_codes(None, codes, targets, rng, sample_weight, eta, intercept)
    assert_allclose(LinearRule().choose_rho(data), found * eta / N, rtol=1e-12)


def test_noise_asks_for_more_regularization(codes, rng):
    clean = codes @ rng.normal(size=(N_ATOMS, 2))
    alike = np.ones(N)
    little = ridge.best_regularization(codes, clean, alike, True, None)
    much = ridge.best_regularization(
        codes, clean + 10.0 * rng.normal(size=(N, 2)), alike, True, None
    )
    assert little < 1e-4 * much


def test_many_samples_are_judged_by_some(codes, targets, sample_weight, monkeypatch):
    some = np.sort(np.random.RandomState(3).choice(N, 20, replace=False))
    expected = ridge.best_regularization(
        codes[some], targets[some], sample_weight[some], True, None
    )
    monkeypatch.setattr(ridge, "JUDGED", 20)
    for form in (np.asarray, sparse.csr_array):
        rng = np.random.RandomState(3)
        found = ridge.best_regularization(form(codes), targets, sample_weight, True, rng)
        assert_allclose(found, expected, rtol=1e-12)


def test_samples_without_weight_do_not_judge(codes, targets, sample_weight, monkeypatch):
    monkeypatch.setattr(ridge, "JUDGED", N // 2)
    there = np.arange(N) % 5 == 0
    light = np.where(there, sample_weight, ridge.NOTHING)
    found = ridge.best_regularization(codes, targets, light, True, np.random.RandomState(0))
    alone = codes[there], targets[there], sample_weight[there]
    assert found == ridge.best_regularization(*alone, True, None)


def test_singular_systems_are_solved(rng):
    half = rng.normal(size=(4, 2))
    half = np.vstack([half, np.zeros((1, 2)), half[:1]])  # an unused row, a twin
    matrix, right = half @ half.T, half @ rng.normal(size=(2, 3))
    solved = ridge.solve_definite(matrix, right)
    assert_allclose(matrix @ solved, right, atol=1e-7)
    assert np.abs(solved).max() < 1e3
    assert_array_equal(solved[4], 0.0)
