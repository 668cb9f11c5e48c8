"""The active-set solver where problems have no unique solution, no solution, or no sense."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.cases import EACH_CONSTRAINT, gaussian
from helpers.lasso_problems import gaussian_problem, run, solve, uniform
from kernelcoding.constraints import Free, Simplex, SumToOne
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from reference.active_set import objective, violation


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@EACH_CONSTRAINT
@pytest.mark.parametrize("l1", [0.0, 1e-4, 0.05])
def test_duplicate_atoms(rng, l1, constraint):
    problem = gaussian_problem(rng, n_atoms=12)
    twice = np.r_[0:12, 0:12, 3]
    doubled = CodingProblem(
        problem.self_similarity, problem.cross[:, twice], problem.gram[np.ix_(twice, twice)]
    )
    single = run(problem, uniform(problem, l1), constraint)
    codes = run(doubled, uniform(doubled, l1), constraint)
    assert_allclose(
        objective(doubled, uniform(doubled, l1), codes),
        objective(problem, uniform(problem, l1), single),
        rtol=1e-9,
        atol=1e-12,
    )


@EACH_CONSTRAINT
@pytest.mark.parametrize("l1", [1e-6, 1e-3])
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_nearly_singular_gram(rng, width, l1, constraint):
    problem = gaussian_problem(rng, n_atoms=80, n_features=3, gamma=width)
    penalty = uniform(problem, l1)
    codes = run(problem, penalty, constraint)
    allowed = max(1.001e-6 * l1, 1e-11)
    assert violation(problem, penalty, codes, constraint).max() < allowed


@EACH_CONSTRAINT
@pytest.mark.parametrize("l1", [1e-2, 1e-4])
@pytest.mark.parametrize("n_features", [84, 90, 130])
def test_more_dependent_atoms_at_once_than_a_block_holds(rng, n_features, l1, constraint):
    """With 85 and more active atoms, 17 and more enter together: none can once the rank is used."""
    atoms, samples = rng.normal(size=(300, n_features)), rng.normal(size=(40, n_features))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    penalty = uniform(problem, l1)
    codes = run(problem, penalty, constraint)
    assert violation(problem, penalty, codes, constraint).max() < 1.001e-6 * l1


def test_large_codes_sum_to_one_in_the_last_bits(rng):
    """Rounding of correlations of 1e6 and more leaves a sum that has to be mended."""
    atoms, samples = rng.choice([-1.0, 1.0], (8, 30)), 1e6 * rng.normal(size=(64, 30))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    for constraint in (Simplex(), SumToOne()):
        codes = run(problem, uniform(problem, 0.0), constraint)
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12 * np.abs(codes).sum(axis=1).max())


def test_parallel_atoms_beside_a_coefficient_that_is_all_rounding():
    # (3, 0) must replace (2, 0); the coefficient of (-2, 1) is zero but for rounding errors, and
    # dropping that atom instead makes no room.
    atoms = np.array([[-2.0, 1.0], [2.0, 0.0], [2.0, 0.0], [3.0, 0.0], [-1.0, 1.0]])
    sample = np.array([[2.0, 0.0]])
    problem = CodingProblem((sample**2).sum(1), sample @ atoms.T, atoms @ atoms.T)
    for alpha in (0.118, 0.12, 0.123):
        penalty = uniform(problem, alpha)
        codes = run(problem, penalty)
        assert violation(problem, penalty, codes, Free()).max() < 1e-12


def random_problem(rng):
    """Few features, ties, duplicates, queries that are atoms, zero weights, tiny widths."""
    n_atoms, n_features = rng.integers(1, 50), rng.integers(1, 8)
    atoms, samples = rng.normal(size=(n_atoms, n_features)), rng.normal(size=(3, n_features))
    if rng.random() < 0.3:
        atoms, samples = np.round(atoms), np.round(samples)
    if rng.random() < 0.3:
        atoms = atoms[rng.integers(0, n_atoms, n_atoms)]
    samples[0] = atoms[0]
    if rng.random() < 0.5:
        width = 10.0 ** rng.uniform(-3, 1)
        gram, cross = gaussian(atoms, atoms, width), gaussian(samples, atoms, width)
        problem = CodingProblem(np.ones(3), cross, gram)
    else:
        problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    alpha = 10.0 ** rng.uniform(-5, 0)
    weights = [
        np.full((1, n_atoms), alpha),
        alpha * problem.squared_distances(),
        alpha * (rng.random((3, n_atoms)) < 0.7),
    ]
    ridge = 10.0 ** rng.uniform(-6, 0) * rng.random((1, n_atoms)) * (rng.random() < 0.5)
    return problem, Penalty(weights[rng.integers(3)], ridge)


@EACH_CONSTRAINT
def test_random_degenerate_problems(constraint):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem, penalty = random_problem(rng)
        start = rng.normal(size=problem.cross.shape) if seed % 3 == 0 else None
        codes = run(problem, penalty, constraint, start=start)
        scale = max(penalty.l1.max(), np.abs(problem.cross).max(), np.diag(problem.gram).mean())
        allowed = 1.001e-6 * scale * max(1.0, np.abs(codes).sum(axis=1).max())
        assert violation(problem, penalty, codes, constraint).max() < allowed, seed


@EACH_CONSTRAINT
def test_query_equal_to_an_atom_under_local_weights(rng, constraint):
    atoms = rng.normal(size=(20, 3))
    gram = gaussian(atoms, atoms, 0.5)
    problem = CodingProblem(np.ones(20), gram, gram)
    penalty = Penalty(0.1 * problem.squared_distances(), np.zeros((1, 20)))
    assert_allclose(run(problem, penalty, constraint), np.eye(20), atol=1e-10)


@EACH_CONSTRAINT
def test_degenerate_problems(constraint):
    one = np.ones((1, 1))
    single = CodingProblem(np.ones(1), 0.5 * one, one)
    expected = 1.0 if constraint.sum_to_one else 0.4
    code = run(single, uniform(single, 0.1), constraint)
    assert_allclose(code, [[expected]])
    for gram in (np.eye(4), np.zeros((4, 4)), np.ones((4, 4)), np.diag([1.0, 0.0, 2.0, 0.0])):
        blank = CodingProblem(np.zeros(2), np.zeros((2, 4)), gram)
        for l1 in (0.0, 0.3):
            penalty = uniform(blank, l1)
            codes = run(blank, penalty, constraint)
            assert violation(blank, penalty, codes, constraint).max() < 1e-12
            if not constraint.sum_to_one:
                assert_array_equal(codes, 0.0)
                codes = run(blank, penalty, constraint, start=np.ones((2, 4)))
                assert_allclose(codes, 0.0, atol=1e-12)


def test_giving_up_is_reported(rng):
    problem = gaussian_problem(rng)
    result = solve(problem, uniform(problem, 1e-3), max_iter=2)
    assert not result.converged.any()
    assert np.isfinite(result.codes).all()
    assert result.n_iter.max() <= 4


@EACH_CONSTRAINT
def test_nan_is_not_called_converged(rng, constraint):
    problem = gaussian_problem(rng)
    problem.cross[3, 5] = np.nan
    converged = solve(problem, uniform(problem, 0.01), constraint).converged
    assert_array_equal(converged, np.arange(problem.n_samples) != 3)


@EACH_CONSTRAINT
def test_an_infinite_weight_forbids_an_atom(rng, constraint):
    problem = gaussian_problem(rng)
    forbidden = np.where(np.arange(problem.n_atoms) % 2, np.inf, 0.01)[None]
    penalty = Penalty(forbidden, np.zeros_like(forbidden))
    codes = run(problem, penalty, constraint, start=np.ones(problem.cross.shape))
    fewer = CodingProblem(
        problem.self_similarity, problem.cross[:, ::2], problem.gram[::2, ::2].copy()
    )
    expected = run(fewer, uniform(fewer, 0.01), constraint)
    assert_array_equal(codes[:, 1::2], 0.0)
    assert_allclose(codes[:, ::2], expected, atol=1e-9)


def test_no_samples():
    problem = CodingProblem(np.zeros(0), np.zeros((0, 3)), np.eye(3))
    result = solve(problem, uniform(problem, 0.1))
    assert result.codes.shape == (0, 3)
    assert result.converged.shape == result.n_iter.shape == (0,)
