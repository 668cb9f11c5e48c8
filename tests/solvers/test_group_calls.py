"""How the group solver may be called: batches, starts, precisions, forms, processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from helpers.cases import EACH_CONSTRAINT
from helpers.group_problems import (
    PENALTIES,
    assert_solved,
    gaussian_problem,
    make_penalty,
    shuffled_labels,
    solve,
)
from helpers.processes import loaded_modules, run_python
from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem
from reference.groups import objective


@EACH_CONSTRAINT
def test_batches_threads_and_atom_order_do_not_matter(constraint):
    problem = gaussian_problem(n=20)
    penalty = make_penalty(
        shuffled_labels(30, 6), 0.03, l1=np.random.default_rng(0).uniform(0, 0.02, (20, 30))
    )
    codes = solve(problem, penalty, constraint).codes
    threaded = solve(problem, penalty, constraint, n_jobs=2).codes
    assert_array_equal(threaded, codes)
    for i in (0, 7, 19):
        rows = slice(i, i + 1)
        alone = solve(problem.take(rows), penalty.take(rows), constraint).codes
        assert_array_equal(alone, codes[rows])
    order = np.random.default_rng(3).permutation(30)
    turned = CodingProblem(
        problem.self_similarity, problem.cross[:, order], problem.gram[np.ix_(order, order)]
    )
    groups = Groups(penalty.groups.labels[order], penalty.groups.weights)
    reordered = solve(
        turned, Penalty(penalty.l1[:, order], penalty.ridge[:, order], groups), constraint
    ).codes
    assert_allclose(reordered, codes[:, order], atol=1e-4)


@EACH_CONSTRAINT
def test_warm_start(constraint):
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    first = solve(problem, penalty, constraint)
    codes = first.codes
    again = solve(problem, penalty, constraint, start=codes)
    assert again.converged.all()
    assert_array_equal(again.n_iter, 0)
    assert_allclose(again.codes, codes, atol=1e-12)
    near = solve(problem, penalty * 1.02, constraint, start=sparse.csr_array(codes))
    cold = solve(problem, penalty * 1.02, constraint)
    assert near.n_iter.sum() < first.n_iter.sum()
    assert_allclose(near.codes, cold.codes, atol=1e-4)
    wild = np.random.default_rng(0).normal(size=codes.shape)
    result = solve(problem, penalty, constraint, start=wild)
    assert_solved(problem, penalty, result, constraint)
    assert_allclose(result.codes, codes, atol=1e-4)


def test_arguments_are_not_changed():
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    start = np.random.default_rng(0).normal(size=(6, 30))
    given = (problem.cross, problem.gram, penalty.l1, penalty.groups.labels, start)
    before = [array.copy() for array in given]
    solve(problem, penalty, start=start)
    for array, copy in zip(given, before, strict=True):
        assert_array_equal(array, copy)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sparse_output_equals_dense(n_jobs):
    problem, penalty = gaussian_problem(n=20), PENALTIES["sparse group"]
    dense = solve(problem, penalty, n_jobs=n_jobs).codes
    codes = solve(problem, penalty, n_jobs=n_jobs, sparse_output=True).codes
    assert isinstance(codes, sparse.csr_array)
    assert codes.nnz == np.count_nonzero(dense)
    assert_array_equal(codes.toarray(), dense)


@EACH_CONSTRAINT
def test_float32(constraint):
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    single = solve(problem.astype(np.float32), penalty, constraint)
    assert single.codes.dtype == np.float32
    assert single.converged.all()
    full = solve(problem, penalty, constraint).codes
    value = objective(problem, penalty, single.codes.astype(float))
    assert_allclose(value, objective(problem, penalty, full), atol=1e-6)


def test_giving_up_is_reported():
    problem, penalty = gaussian_problem(), PENALTIES["group"]
    result = solve(problem, penalty, max_iter=2)
    assert not result.converged.any()
    assert_array_equal(result.n_iter, 2)
    assert np.isfinite(result.codes).all()
    assert np.all(objective(problem, penalty, result.codes) < 0.0)


PLAIN = """
import numpy as np
from kernelcoding._compiled import group
from helpers.cases import CONSTRAINTS
from helpers.group_problems import assert_solved, gaussian_problem, make_penalty, solve
assert not hasattr(group.solve_row, "py_func")
problem = gaussian_problem(n=2, n_atoms=12)
penalty = make_penalty(np.arange(12) % 3, 0.03, l1=0.005, ridge=0.01)
for constraint in CONSTRAINTS.values():
    assert_solved(problem, penalty, solve(problem, penalty, constraint), constraint)
"""


def test_runs_as_plain_python():
    run_python(PLAIN, "1")


def test_import_does_not_load_numba():
    assert "kernelcoding.solvers.group" in loaded_modules()["solvers"]
    assert "numba" not in loaded_modules()["solvers"]
