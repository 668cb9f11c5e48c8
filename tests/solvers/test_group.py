"""Group and sparse-group coding against cvxpy, scikit-learn, closed forms and optimality."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.linear_model import lars_path_gram

from helpers.cases import CONSTRAINTS, EACH_CONSTRAINT
from helpers.group_problems import (
    PENALTIES,
    assert_solved,
    gaussian_problem,
    make_penalty,
    shuffled_labels,
    solve,
)
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from reference import convex
from reference.groups import objective


def by_cvxpy(problem, penalty, row, constraint):
    cp = pytest.importorskip("cvxpy")
    y = cp.Variable(problem.n_atoms)
    values, vectors = np.linalg.eigh(problem.gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    loss = 0.5 * cp.sum_squares(root @ y) - problem.cross[row] @ y
    loss += penalty.l1[row % len(penalty.l1)] @ cp.abs(y)
    loss += 0.5 * penalty.ridge[row % len(penalty.ridge)] @ cp.square(y)
    groups = penalty.groups
    for g, w in enumerate(groups.weights):
        loss += w * cp.norm(y[np.flatnonzero(groups.labels == g)], 2)
    limits = convex.limits(constraint, y)
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the test sees how much
        cp.Problem(cp.Minimize(loss), limits).solve(solver=cp.CLARABEL, **tight)
    return y.value


@EACH_CONSTRAINT
@pytest.mark.parametrize("name", PENALTIES)
def test_agrees_with_cvxpy(name, constraint):
    problem, penalty = gaussian_problem(), PENALTIES[name]
    result = solve(problem, penalty, constraint)
    assert_solved(problem, penalty, result, constraint)
    ours = objective(problem, penalty, result.codes)
    theirs = np.array([by_cvxpy(problem, penalty, i, constraint) for i in range(3)])
    assert_allclose(result.codes[:3], theirs, atol=2e-3)
    best = objective(problem.take(slice(0, 3)), penalty.take(slice(0, 3)), theirs)
    assert_allclose(ours[:3], best, atol=1e-8)


@EACH_CONSTRAINT
@pytest.mark.parametrize("alpha", [0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("l1", [0.0, 0.3, 1.0])
def test_optimal_on_ill_conditioned_gram(alpha, l1, constraint):
    problem = gaussian_problem(n=4, n_atoms=80, dim=4, gamma=0.05)
    assert np.linalg.cond(problem.gram) > 1e6
    penalty = make_penalty(shuffled_labels(80, 8), alpha, l1=l1 * alpha)
    assert_solved(problem, penalty, solve(problem, penalty, constraint), constraint)


@EACH_CONSTRAINT
@pytest.mark.parametrize("seed", range(8))
def test_optimal_on_gram_of_low_rank(seed, constraint):
    """A linear kernel with more atoms than dimensions, any scale, some weights zero."""
    rng = np.random.default_rng(seed)
    dim, n_atoms, scale = 1 + seed % 4, 40, 10.0 ** (seed - 3)
    atoms, samples = rng.normal(size=(n_atoms, dim)), rng.normal(size=(3, dim))
    cross, gram = scale * samples @ atoms.T, scale * atoms @ atoms.T
    problem = CodingProblem(scale * (samples**2).sum(axis=1), cross, gram)
    alpha = scale * 10.0 ** rng.uniform(-4, 0)
    weights = alpha * rng.choice([0.0, 0.1, 1.0, 3.0], 12)
    l1 = alpha * rng.choice([0.1, 1.0]) * rng.uniform(size=(3, n_atoms))
    penalty = make_penalty(shuffled_labels(n_atoms, 12, seed), weights, l1=l1)
    assert_solved(problem, penalty, solve(problem, penalty, constraint), constraint, 1e-4)


def test_groups_of_one_atom_are_the_lasso():
    problem = gaussian_problem()
    alpha = 0.02
    penalty = make_penalty(np.arange(30), alpha)
    result = solve(problem, penalty)
    assert result.converged.all()
    for code, cross in zip(result.codes, problem.cross, strict=True):
        _, _, path = lars_path_gram(
            cross, problem.gram, n_samples=1, alpha_min=alpha, method="lasso"
        )
        assert_allclose(code, path[:, -1], atol=1e-5)
        assert_array_equal(code != 0.0, path[:, -1] != 0.0)


def test_l1_alone_is_the_lasso_however_grouped():
    problem = gaussian_problem()
    by_atom = solve(problem, make_penalty(np.arange(30), 0.02)).codes
    grouped = solve(problem, make_penalty(shuffled_labels(30, 4), 0.0, l1=0.02))
    no_groups = Penalty(np.full((1, 30), 0.02), np.zeros((1, 30)))
    ungrouped = solve(problem, no_groups).codes
    assert grouped.converged.all()
    assert_allclose(grouped.codes, by_atom, atol=1e-5)
    assert_allclose(ungrouped, by_atom, atol=1e-5)


def test_one_group_is_a_root_in_one_dimension():
    problem, weight = gaussian_problem(), 0.3
    values, vectors = np.linalg.eigh(problem.gram)
    codes = solve(problem, make_penalty(np.zeros(30, int), weight)).codes
    for code, cross in zip(codes, problem.cross, strict=True):
        turned = vectors.T @ cross
        assert np.linalg.norm(cross) > weight

        def excess(t, turned=turned):  # ||(K + w/t)^-1 k|| = t
            return np.linalg.norm(turned / (values * t + weight)) - 1.0

        t = optimize.brentq(excess, 1e-9, 1e3, xtol=1e-14)
        assert_allclose(code, vectors @ (turned / (values + weight / t)), atol=1e-6)


def test_group_vanishes_exactly_at_its_threshold():
    problem = gaussian_problem(n=1)
    limit = np.linalg.norm(problem.cross[0])
    labels = np.zeros(30, int)
    just_over = solve(problem, make_penalty(labels, limit * (1 + 1e-9)))
    assert just_over.converged.all()
    assert just_over.n_iter[0] == 0
    assert_array_equal(just_over.codes, 0.0)
    just_under = solve(problem, make_penalty(labels, limit * (1 - 1e-3))).codes
    assert np.all(just_under != 0.0)


def test_objective_never_rises_with_more_iterations():
    problem = gaussian_problem(n=3, n_atoms=60, gamma=0.05)
    for constraint in CONSTRAINTS.values():
        penalty = make_penalty(shuffled_labels(60, 6), 0.01, l1=0.002)
        values = [
            objective(problem, penalty, solve(problem, penalty, constraint, max_iter=m).codes)
            for m in range(1, 25)
        ]
        assert np.diff(values, axis=0).max() <= 1e-12
