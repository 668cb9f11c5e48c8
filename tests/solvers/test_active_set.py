"""The active-set solver against other libraries, and against the optimality conditions."""

import warnings

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.decomposition import sparse_encode

from helpers.cases import EACH_CONSTRAINT
from helpers.lasso_problems import gaussian_problem, linear_problem, run, uniform
from kernelcoding.constraints import Free, NonNegative, Simplex, SumToOne
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from reference import convex
from reference.active_set import objective, violation


def convex_reference(problem, penalty, i, constraint):
    """Objective of row i by an interior-point method."""
    values, vectors = np.linalg.eigh(problem.gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    code = cvxpy.Variable(problem.n_atoms)
    l1, ridge = penalty.l1[i % len(penalty.l1)], penalty.ridge[i % len(penalty.ridge)]
    cost = (
        0.5 * cvxpy.sum_squares(root @ code)
        - problem.cross[i] @ code
        + l1 @ cvxpy.abs(code)
        + 0.5 * cvxpy.sum_squares(cvxpy.multiply(np.sqrt(ridge), code))
    )
    limits = convex.limits(constraint, code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxpy.Problem(cvxpy.Minimize(cost), limits).solve(solver=cvxpy.CLARABEL)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
def test_lasso_equals_least_angle_regression(rng, alpha):
    problem = gaussian_problem(rng)
    dummies = np.zeros((problem.n_samples, 1)), np.zeros((problem.n_atoms, 1))
    expected = sparse_encode(
        *dummies, gram=problem.gram, cov=problem.cross.T, algorithm="lasso_lars", alpha=alpha,
        max_iter=5000,
    )  # fmt: skip
    assert_allclose(run(problem, uniform(problem, alpha)), expected, atol=1e-8)


def test_lasso_equals_celer(rng):
    celer = pytest.importorskip("celer")
    atoms, samples = rng.normal(size=(50, 80)), rng.normal(size=(3, 50))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms, atoms.T @ atoms)
    codes = run(problem, uniform(problem, 5.0))
    model = celer.Lasso(alpha=5.0 / 50, fit_intercept=False, tol=1e-12)
    for code, sample in zip(codes, samples, strict=True):
        assert_allclose(code, model.fit(atoms, sample).coef_, atol=1e-6)


@EACH_CONSTRAINT
@pytest.mark.parametrize("make", [gaussian_problem, linear_problem])
@pytest.mark.parametrize("kind", ["lasso", "elastic net", "weighted", "some weights zero", "ridge"])
def test_optimal_and_as_low_as_interior_point(rng, make, kind, constraint):
    problem = make(rng, n_samples=4)
    shape = problem.cross.shape
    zeros = np.zeros(shape)
    l1, ridge = {
        "lasso": (zeros + 0.02, zeros),
        "elastic net": (zeros + 0.02, zeros + 0.1),
        "weighted": (0.02 * problem.squared_distances(), zeros),
        "some weights zero": (0.05 * (rng.random(shape) < 0.8), zeros + 0.01),
        "ridge": (zeros, 0.1 * rng.random(shape) + 0.01),
    }[kind]
    penalty = Penalty(l1, ridge)
    codes = run(problem, penalty, constraint)
    # Where the weight is zero the tolerance is relative to the data, and zeros are as good as that.
    allowed = 1e-6 * np.abs(problem.cross).max() if np.any(l1 == 0.0) else 1e-9
    assert violation(problem, penalty, codes, constraint).max() < allowed
    values = objective(problem, penalty, codes)
    for i in range(2):
        reference = convex_reference(problem, penalty, i, constraint)
        assert_allclose(values[i], reference, rtol=1e-5, atol=1e-6)


def test_a_code_of_many_atoms_does_not_depend_on_what_was_solved_before(rng):
    # The first factor has room for 40 atoms: alone, a long code meets its limits several times.
    problem = gaussian_problem(rng, n_atoms=300, n_samples=4, gamma=1.0)
    penalty = uniform(problem, 1e-6)
    together = run(problem, penalty)
    assert np.count_nonzero(together, axis=1).min() > 130
    assert violation(problem, penalty, together, Free()).max() < 1e-9
    for row in range(4):
        assert_array_equal(run(problem.take([row]), penalty)[0], together[row])


def test_atoms_whose_correlations_tie(rng):
    # Every atom four times over, in blocks and one by one: more peaks tie than may enter at once.
    atoms = rng.normal(size=(24, 12))
    samples = rng.normal(size=(5, 12))
    single = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    expected = run(single, uniform(single, 0.3)) @ atoms
    for repeated in (np.repeat(atoms, 100, axis=0), np.tile(atoms, (100, 1))):
        gram, cross = repeated @ repeated.T, samples @ repeated.T
        problem = CodingProblem((samples**2).sum(1), cross, gram)
        penalty = uniform(problem, 0.3)
        codes = run(problem, penalty)
        assert violation(problem, penalty, codes, Free()).max() < 1e-9
        assert_allclose(codes @ repeated, expected, atol=1e-8)


def test_nonnegative_least_squares(rng):
    atoms, samples = rng.normal(size=(40, 15)), rng.normal(size=(6, 40))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms, atoms.T @ atoms)
    codes = run(problem, uniform(problem), NonNegative())
    for code, sample in zip(codes, samples, strict=True):
        assert_allclose(code, nnls(atoms, sample)[0], atol=1e-8)


def test_projection_onto_the_simplex(rng):
    points = rng.normal(size=(8, 20))
    problem = CodingProblem((points**2).sum(1), points, np.eye(20))
    codes = run(problem, uniform(problem), Simplex())
    for code, point in zip(codes, points, strict=True):
        descending = np.sort(point)[::-1]
        excess = (np.cumsum(descending) - 1.0) / np.arange(1, 21)
        level = excess[np.nonzero(descending > excess)[0][-1]]
        assert_allclose(code, np.maximum(point - level, 0.0), atol=1e-12)


def test_unpenalised_sum_to_one_solves_the_linear_system(rng):
    problem = gaussian_problem(rng, n_atoms=10, gamma=1.0)
    codes = run(problem, uniform(problem), SumToOne())
    system = np.block([[problem.gram, np.ones((10, 1))], [np.ones((1, 10)), np.zeros((1, 1))]])
    right = np.hstack([problem.cross, np.ones((problem.n_samples, 1))])
    assert_allclose(codes, np.linalg.solve(system, right.T)[:10].T, atol=1e-7)


def test_more_atoms_than_features_without_penalty(rng):
    problem = linear_problem(rng)
    codes = run(problem, uniform(problem))
    assert_allclose(problem.squared_error(codes), 0.0, atol=1e-9)
    codes = run(problem, uniform(problem), SumToOne())
    assert_allclose(problem.squared_error(codes), 0.0, atol=1e-9)
    assert_allclose(codes.sum(axis=1), 1.0)
