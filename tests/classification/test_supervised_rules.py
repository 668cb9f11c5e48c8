"""The classifiers of codes against explicit features, refits, and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernels import Gaussian
from kernelcoding.learning import ridge
from kernelcoding.learning.frames import LandmarkFrame, SampleFrame
from kernelcoding.learning.rules import (
    RULES,
    BilinearClassifier,
    BilinearRule,
    LinearClassifier,
    LinearRule,
)
from reference.learning import WORLDS, World, world
from reference.supervised import (
    lesson_of,
    one_hot,
    products,
    ridge_left_out,
    sparse_codes,
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
def importance(rng):
    return rng.uniform(0.2, 3.0, size=N)


# Ridge regression ------------------------------------------------------------------------------


@FORMS
def test_the_linear_classifier_is_the_papers_formula(form, codes, targets, rng):
    eta, rho = 0.7, 0.03
    lesson = lesson_of(None, form(codes), targets, rng, eta=eta, intercept=False)
    found = LinearRule().fit(lesson, rho)
    # W = L Y'(YY' + (rho M / eta) I)^-1, with the paper's columns for our rows.
    Y, L = codes.T, targets.T
    W = L @ Y.T @ np.linalg.inv(Y @ Y.T + rho * N / eta * np.eye(N_ATOMS))
    assert_allclose(found.weights, W.T, atol=1e-12)
    assert_array_equal(found.bias, 0.0)
    assert_allclose(found.price, 0.5 * rho * np.linalg.norm(W) ** 2)
    assert_allclose(found.scores(form(codes)), (W @ Y).T, atol=1e-12)


@FORMS
@INTERCEPT
def test_ridge_is_scikit_learns_with_sample_weights(form, intercept, codes, targets, importance):
    weights, bias = ridge.fit(form(codes), targets, importance, 0.3, intercept)
    peer = Ridge(alpha=0.3, fit_intercept=intercept, tol=1e-12).fit(codes, targets, importance)
    assert_allclose(weights, peer.coef_.T, atol=1e-10)
    assert_allclose(bias, np.broadcast_to(peer.intercept_, N_CLASSES), atol=1e-10)


@INTERCEPT
def test_the_linear_classifier_minimises_its_part_of_the_objective(
    intercept, codes, targets, importance, rng
):
    eta, rho = 0.7, 0.05
    lesson = lesson_of(None, codes, targets, rng, importance, eta, intercept)
    found = LinearRule().fit(lesson, rho)

    def objective(weights, bias):
        losses = square_loss(codes @ weights + bias, targets)
        return eta * np.mean(importance * losses) + 0.5 * rho * np.sum(weights**2)

    least = objective(found.weights, found.bias)
    mean_loss = eta * np.mean(importance * LinearRule().loss(found.scores(codes), targets))
    assert_allclose(mean_loss + found.price, least, rtol=1e-12)
    for _ in range(20):
        shift = 1e-3 * rng.normal(size=found.weights.shape)
        tilt = 1e-3 * rng.normal(size=N_CLASSES) * intercept
        assert objective(found.weights + shift, found.bias + tilt) > least


@FORMS
@INTERCEPT
def test_left_out_scores_are_those_of_refits(form, intercept, codes, targets, importance):
    found = ridge.left_out(form(codes), targets, importance, 0.2, intercept)
    expected = ridge_left_out(codes, targets, importance, 0.2, intercept)
    assert_allclose(found, expected, atol=1e-9)


@INTERCEPT
@pytest.mark.parametrize("noise", [0.1, 10.0], ids=["clean", "noisy"])
def test_the_strength_is_the_best_when_each_sample_is_left_out(
    intercept, noise, codes, importance, rng
):
    targets = codes @ rng.normal(size=(N_ATOMS, 2)) + noise * rng.normal(size=(N, 2))
    offset = importance @ codes / importance.sum() if intercept else 0.0
    moved = codes - offset
    curvature = np.trace(moved.T @ (importance[:, None] * moved)) / N_ATOMS
    strengths = np.logspace(-7, 1, 17) * curvature
    errors = [
        importance
        @ ((targets - ridge_left_out(codes, targets, importance, s, intercept)) ** 2).sum(axis=1)
        for s in strengths
    ]
    found = ridge.best_strength(codes, targets, importance, intercept, None)
    assert_allclose(found, strengths[np.argmin(errors)], rtol=1e-9)
    eta = 0.4
    lesson = lesson_of(None, codes, targets, rng, importance, eta, intercept)
    assert_allclose(LinearRule().choose(lesson), found * eta / N, rtol=1e-12)


def test_noise_asks_for_more_strength(codes, rng):
    clean = codes @ rng.normal(size=(N_ATOMS, 2))
    alike = np.ones(N)
    little = ridge.best_strength(codes, clean, alike, True, None)
    much = ridge.best_strength(codes, clean + 10.0 * rng.normal(size=(N, 2)), alike, True, None)
    assert little < 1e-4 * much


def test_many_samples_are_judged_by_some(codes, targets, importance, monkeypatch):
    some = np.sort(np.random.RandomState(3).choice(N, 20, replace=False))
    expected = ridge.best_strength(codes[some], targets[some], importance[some], True, None)
    monkeypatch.setattr(ridge, "JUDGED", 20)
    for form in (np.asarray, sparse.csr_array):
        rng = np.random.RandomState(3)
        found = ridge.best_strength(form(codes), targets, importance, True, rng)
        assert_allclose(found, expected, rtol=1e-12)


def test_singular_systems_are_solved(rng):
    half = rng.normal(size=(4, 2))
    half = np.vstack([half, np.zeros((1, 2)), half[:1]])  # an unused row, a twin
    matrix, right = half @ half.T, half @ rng.normal(size=(2, 3))
    solved = ridge.solve_definite(matrix, right)
    assert_allclose(matrix @ solved, right, atol=1e-7)
    assert np.abs(solved).max() < 1e3
    assert_array_equal(solved[4], 0.0)


# Bilinear --------------------------------------------------------------------------------------


def known_world(name, rng):
    """Every world, and a kernel whose features are rows of a Cholesky factor."""
    if name != "gaussian, samples":
        return world(name, rng, n=N)
    X = rng.normal(size=(N, 3))
    frame = SampleFrame(PointDictionary(Gaussian(gamma=1.0), X, np.arange(N)))
    factor = np.linalg.cholesky(frame.kernel_matrix)
    return World(frame, factor, factor, np.zeros(N))


def bilinear_strength(lesson, rho):
    n, n_classes = lesson.targets.shape
    return rho * n / (lesson.eta * n_classes)


SAMPLES = ["linear, samples", "quadratic, samples", "gaussian, samples"]
LANDMARKS = ["linear, landmarks", "quadratic, landmarks"]


@FORMS
@INTERCEPT
@pytest.mark.parametrize("name", SAMPLES)
def test_the_bilinear_classifier_solves_the_papers_system(
    name, intercept, form, codes, targets, importance, rng
):
    known, rho = known_world(name, rng), 0.05
    lesson = lesson_of(known.frame, form(codes), targets, rng, importance, 0.7, intercept)
    found = BilinearRule().fit(lesson, rho)
    features = products(known.samples, codes)
    strength = bilinear_strength(lesson, rho)
    W, bias = weighted_ridge(features, targets, importance, strength, intercept)
    assert_allclose(found.bias, bias, atol=1e-8)
    # W_j = sum_z C_zj phi(z) y_z'
    assert_allclose(features.T @ found.coefficients, W, atol=1e-8)
    assert_allclose(found.price, rho / (2 * N_CLASSES) * np.sum(W**2), rtol=1e-8)
    queries, new = rng.normal(size=(7, known.samples.shape[1])), rng.normal(size=(7, N_ATOMS))
    matrices = W.T.reshape(N_CLASSES, -1, N_ATOMS)
    expected = np.stack([((queries @ M) * new).sum(axis=1) for M in matrices], axis=1) + bias
    similarity = queries @ known.landmarks.T
    assert_allclose(found.scores(form(new), similarity), expected, atol=1e-8)


def test_the_papers_block_system_written_entry_by_entry(codes, targets, rng):
    """One class, a double sum over samples: the M * N unknowns of A in W = Phi(X) A."""
    n, n_atoms, rho, eta = 8, 3, 0.2, 0.5
    known, codes, targets = world("linear, samples", rng, n=n), codes[:n, :n_atoms], targets[:n]
    lesson = lesson_of(known.frame, codes, targets, rng, eta=eta, intercept=False)
    found = BilinearRule().fit(lesson, rho)
    K = known.samples @ known.samples.T
    # f_i = k_i' A y_i; price rho/(2S) tr(A'KA): stationary in A, stacked row by row.
    rows = np.array([np.kron(K[i], codes[i]) for i in range(n)])
    system = eta / n * rows.T @ rows + rho / N_CLASSES * np.kron(K, np.eye(n_atoms))
    A = np.linalg.lstsq(system, eta / n * rows.T @ targets, rcond=None)[0]
    expected = rows @ A
    assert_allclose(found.scores(codes, K), expected, atol=1e-8)
    forms = [a.reshape(n, n_atoms) for a in A.T]
    price = rho / (2 * N_CLASSES) * sum(np.trace(a.T @ K @ a) for a in forms)
    assert_allclose(found.price, price, rtol=1e-7)


@INTERCEPT
@pytest.mark.parametrize("name", LANDMARKS)
def test_few_landmarks_are_regression_in_a_subspace(
    name, intercept, codes, targets, importance, rng
):
    known, rho = known_world(name, rng), 0.05
    centres = sparse_codes(rng, 7, N_ATOMS)
    lesson = lesson_of(known.frame, codes, targets, rng, importance, 0.7, intercept, centres)
    found = BilinearRule().fit(lesson, rho)
    features, directions = products(known.samples, codes), products(known.landmarks, centres)
    strength = bilinear_strength(lesson, rho)
    W, bias = subspace_ridge(features, directions, targets, importance, strength, intercept)
    assert_allclose(found.bias, bias, atol=1e-7)
    assert_allclose(directions.T @ found.coefficients, W, atol=1e-7)
    assert_allclose(found.price, rho / (2 * N_CLASSES) * np.sum(W**2), rtol=1e-6)
    similarity = known.samples @ known.landmarks.T
    assert_allclose(found.scores(codes, similarity), features @ W + bias, atol=1e-7)


@INTERCEPT
def test_all_samples_as_landmarks_are_no_approximation(intercept, codes, targets, importance, rng):
    samples = PointDictionary(Gaussian(gamma=1.0), rng.normal(size=(N, 3)), np.arange(N))
    exact, few = SampleFrame(samples), LandmarkFrame(samples, samples.points)
    scores = []
    for frame in (exact, few):
        lesson = lesson_of(frame, codes, targets, rng, importance, 0.7, intercept, codes)
        scores.append(BilinearRule().fit(lesson, 0.02).scores(codes, exact.kernel_matrix))
    assert_allclose(scores[1], scores[0], atol=1e-6)


def test_blocks_of_samples_give_the_same_classifier(codes, targets, rng, monkeypatch):
    from kernelcoding.learning import frames

    X = rng.normal(size=(N, 3))
    samples = PointDictionary(Gaussian(gamma=1.0), X[:8], np.arange(8))
    centres = sparse_codes(rng, 8, N_ATOMS)
    once = LandmarkFrame(samples, X)
    monkeypatch.setattr(frames, "KEPT", 0)
    monkeypatch.setattr(frames, "BLOCK", 1)  # sixteen samples a block
    often = LandmarkFrame(samples, X)
    assert len(list(often.blocks(np.zeros((often.dimension, 0))))) == 2
    found = []
    for frame in (once, often):
        lesson = lesson_of(frame, codes, targets, rng, centres=centres)
        found.append(BilinearRule().fit(lesson, 0.05))
    assert_allclose(found[1].coefficients, found[0].coefficients, rtol=1e-7, atol=1e-9)


@INTERCEPT
@pytest.mark.parametrize("name", SAMPLES)
def test_bilinear_scores_left_out_are_those_of_refits(
    name, intercept, codes, targets, importance, rng
):
    known, rho = known_world(name, rng), 0.05
    lesson = lesson_of(known.frame, codes, targets, rng, importance, 0.7, intercept)
    found = BilinearRule().left_out(lesson, rho)
    features, strength = products(known.samples, codes), bilinear_strength(lesson, rho)
    expected = ridge_left_out(features, targets, importance, strength, intercept)
    assert_allclose(found, expected, atol=1e-7)


def test_folds_are_left_out_where_centres_are_few(codes, targets, rng):
    """Whoever is left out has no say: other labels for the fold give the fold the same scores."""
    known, rho = known_world("quadratic, landmarks", rng), 0.05
    centres = sparse_codes(rng, 7, N_ATOMS)
    lesson = lesson_of(known.frame, codes, targets, rng, centres=centres)
    seed = lesson.rng.get_state()
    first = BilinearRule().left_out(lesson, rho)
    lesson.rng.set_state(seed)
    fold = lesson.rng.permutation(N) % 5 == 2
    lesson.rng.set_state(seed)
    lesson.targets = np.where(fold[:, None], 1.0 - targets, targets)
    second = BilinearRule().left_out(lesson, rho)
    assert_allclose(second[fold], first[fold], atol=1e-6)
    assert np.abs(second - first)[~fold].max() > 1e-3


@INTERCEPT
@pytest.mark.parametrize("name", ["gaussian, samples", "linear, landmarks"])
def test_the_bilinear_price_is_the_best_when_each_sample_is_left_out(
    name, intercept, codes, importance, rng
):
    known, eta, importance = known_world(name, rng), 0.4, importance**4
    features = products(known.samples, codes)
    # Those who count little follow another rule, so that it matters who counts.
    rules = rng.normal(size=(2, features.shape[1], N_CLASSES))
    targets = np.where(importance[:, None] > 1.0, features @ rules[0], features @ rules[1])
    strengths = np.logspace(-7, 1, 17) * np.mean(importance * np.sum(features**2, axis=1))
    errors = [
        importance
        @ ((targets - ridge_left_out(features, targets, importance, s, intercept)) ** 2).sum(axis=1)
        for s in strengths
    ]
    lesson = lesson_of(known.frame, codes, targets, rng, importance, eta, intercept)
    best = strengths[np.argmin(errors)]
    assert_allclose(BilinearRule().choose(lesson), best * eta * N_CLASSES / N, rtol=1e-9)


# Atoms that change their norm ------------------------------------------------------------------


@FORMS
def test_scaled_classifiers_score_scaled_codes_as_before(form, codes, targets, rng):
    known, norms = world("quadratic, samples", rng, n=N), rng.uniform(0.3, 3.0, size=N_ATOMS)
    lesson = lesson_of(known.frame, form(codes), targets, rng)
    similarity = known.frame.kernel_matrix
    for name, rule in RULES.items():
        before = rule.fit(lesson, 0.05)
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
        assert_allclose(after.price, expected, rtol=1e-9, err_msg=name)


def test_an_atom_of_norm_zero_has_no_say(codes, targets, rng):
    known, norms = world("linear, samples", rng, n=N), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    lesson = lesson_of(known.frame, codes, targets, rng)
    for rule in RULES.values():
        after = rule.fit(lesson, 0.05).scaled(norms)
        only = np.eye(N_ATOMS)[:1]
        assert_allclose(after.scores(only, known.frame.kernel_matrix[:1]), after.bias[None])


def test_every_world_is_covered():
    assert {*SAMPLES[:2], *LANDMARKS} == set(WORLDS)
