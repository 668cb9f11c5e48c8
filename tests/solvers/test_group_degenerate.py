"""Group coding with copies of atoms, weights of zero, and nothing to explain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.cases import EACH_CONSTRAINT
from helpers.group_problems import (
    PENALTIES,
    assert_solved,
    gaussian_problem,
    make_penalty,
    shuffled_labels,
    solve,
)
from kernelcoding.constraints import Free
from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem


@EACH_CONSTRAINT
@pytest.mark.parametrize("l1", [0.0, 0.01])
@pytest.mark.parametrize("same_group", [True, False])
def test_duplicate_atoms(same_group, l1, constraint):
    base = gaussian_problem(n_atoms=12)
    twice = np.tile(np.arange(12), 2)
    problem = CodingProblem(
        base.self_similarity, base.cross[:, twice], base.gram[np.ix_(twice, twice)]
    )
    labels = np.tile(np.arange(12) % 3, 2)
    if not same_group:
        labels[12:] += 3
    penalty = make_penalty(labels, 0.03, l1=l1)
    assert_solved(problem, penalty, solve(problem, penalty, constraint), constraint)


def test_duplicates_with_unequal_weights_use_the_cheaper():
    base = gaussian_problem(n_atoms=12)
    twice = np.tile(np.arange(12), 2)
    problem = CodingProblem(
        base.self_similarity, base.cross[:, twice], base.gram[np.ix_(twice, twice)]
    )
    penalty = make_penalty(np.arange(24), np.repeat([0.02, 0.021], 12))
    expensive_only = np.zeros((6, 24))
    expensive_only[:, 12:] = solve(base, make_penalty(np.arange(12), 0.021)).codes
    result = solve(problem, penalty, start=expensive_only)
    assert_solved(problem, penalty, result, Free())
    assert_array_equal(result.codes[:, 12:], 0.0)


@EACH_CONSTRAINT
@pytest.mark.parametrize(("weights", "l1"), [(0.0, 0.0), (0.0, 0.02), ([0.0, 0.1, 0.0], 0.0)])
def test_zero_weights(weights, l1, constraint):
    problem = gaussian_problem(n_atoms=12, gamma=1.0)
    penalty = make_penalty(np.arange(12) % 3, weights, l1=l1)
    result = solve(problem, penalty, constraint)
    assert_solved(problem, penalty, result, constraint)
    if np.all(penalty.groups.weights == 0.0) and l1 == 0.0 and isinstance(constraint, Free):
        assert_allclose(result.codes, np.linalg.solve(problem.gram, problem.cross.T).T, atol=1e-6)


@EACH_CONSTRAINT
def test_zero_correlations(constraint):
    problem = gaussian_problem()
    problem = CodingProblem(problem.self_similarity, 0.0 * problem.cross, problem.gram)
    penalty = PENALTIES["sparse group"]
    result = solve(problem, penalty, constraint)
    assert_solved(problem, penalty, result, constraint)
    if not constraint.sum_to_one:
        assert_array_equal(result.codes, 0.0)


@EACH_CONSTRAINT
def test_sample_is_an_atom(constraint):
    base = gaussian_problem()
    problem = CodingProblem(np.ones(5), base.gram[:5], base.gram)
    penalty = make_penalty(shuffled_labels(30, 6), 1e-3, l1=1e-3)
    result = solve(problem, penalty, constraint)
    assert_solved(problem, penalty, result, constraint)
    assert_array_equal(np.argmax(result.codes, axis=1), np.arange(5))


def test_no_samples_and_empty_groups():
    problem = gaussian_problem()
    labels = shuffled_labels(30, 4)
    gaps = Groups(labels * 2, np.full(9, 0.05))
    dense = Groups(labels, np.full(4, 0.05))
    zero = np.zeros((1, 30))
    with_gaps = solve(problem, Penalty(zero, zero, gaps)).codes
    without = solve(problem, Penalty(zero, zero, dense)).codes
    assert_allclose(with_gaps, without, atol=1e-12)
    for n_jobs in (1, 2):
        empty = problem.take(slice(0, 0))
        result = solve(empty, Penalty(zero, zero, dense), n_jobs=n_jobs)
        assert result.codes.shape == (0, 30)
        assert result.converged.size == result.n_iter.size == 0
