"""How the group solver may be called: batches, starts, precisions, forms, processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from helpers.processes import run_python
from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.group import solve
from reference.groups import (
    CONSTRAINTS,
    FREE,
    PENALTIES,
    assert_solved,
    gaussian_problem,
    make_penalty,
    objective,
    shuffled_labels,
)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_batches_threads_and_atom_order_do_not_matter(constraints):
    problem = gaussian_problem(n=20)
    penalty = make_penalty(
        shuffled_labels(30, 6), 0.03, l1=np.random.default_rng(0).uniform(0, 0.02, (20, 30))
    )
    codes, _, _ = solve(problem, penalty, **constraints)
    threaded, _, _ = solve(problem, penalty, **constraints, n_jobs=2)
    assert_array_equal(threaded, codes)
    for i in (0, 7, 19):
        rows = slice(i, i + 1)
        alone, _, _ = solve(problem.take(rows), penalty.take(rows), **constraints)
        assert_array_equal(alone, codes[rows])
    order = np.random.default_rng(3).permutation(30)
    turned = CodingProblem(
        problem.self_similarity, problem.cross[:, order], problem.gram[np.ix_(order, order)]
    )
    groups = Groups(penalty.groups.labels[order], penalty.groups.weights)
    reordered, _, _ = solve(
        turned, Penalty(penalty.l1[:, order], penalty.ridge[:, order], groups), **constraints
    )
    assert_allclose(reordered, codes[:, order], atol=1e-4)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_warm_start(constraints):
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    codes, _, n_iter = solve(problem, penalty, **constraints)
    again, converged, no_iter = solve(problem, penalty, **constraints, start=codes)
    assert converged.all()
    assert_array_equal(no_iter, 0)
    assert_allclose(again, codes, atol=1e-12)
    near, _, few = solve(problem, penalty * 1.02, **constraints, start=sparse.csr_array(codes))
    cold, _, _ = solve(problem, penalty * 1.02, **constraints)
    assert few.sum() < n_iter.sum()
    assert_allclose(near, cold, atol=1e-4)
    wild = np.random.default_rng(0).normal(size=codes.shape)
    result = solve(problem, penalty, **constraints, start=wild)
    assert_solved(problem, penalty, result, constraints)
    assert_allclose(result[0], codes, atol=1e-4)


def test_arguments_are_not_changed():
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    start = np.random.default_rng(0).normal(size=(6, 30))
    given = (problem.cross, problem.gram, penalty.l1, penalty.groups.labels, start)
    before = [array.copy() for array in given]
    solve(problem, penalty, **FREE, start=start)
    for array, copy in zip(given, before, strict=True):
        assert_array_equal(array, copy)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sparse_output_equals_dense(n_jobs):
    problem, penalty = gaussian_problem(n=20), PENALTIES["sparse group"]
    dense, _, _ = solve(problem, penalty, **FREE, n_jobs=n_jobs)
    codes, _, _ = solve(problem, penalty, **FREE, n_jobs=n_jobs, sparse_output=True)
    assert isinstance(codes, sparse.csr_array)
    assert codes.nnz == np.count_nonzero(dense)
    assert_array_equal(codes.toarray(), dense)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_float32(constraints):
    problem, penalty = gaussian_problem(), PENALTIES["sparse group"]
    codes, converged, _ = solve(problem.astype(np.float32), penalty, **constraints)
    assert codes.dtype == np.float32
    assert converged.all()
    full, _, _ = solve(problem, penalty, **constraints)
    value = objective(problem, penalty, codes.astype(float))
    assert_allclose(value, objective(problem, penalty, full), atol=1e-6)


def test_giving_up_is_reported():
    problem, penalty = gaussian_problem(), PENALTIES["group"]
    codes, converged, n_iter = solve(problem, penalty, **FREE, max_iter=2)
    assert not converged.any()
    assert_array_equal(n_iter, 2)
    assert np.isfinite(codes).all()
    assert np.all(objective(problem, penalty, codes) < 0.0)


PLAIN = """
import numpy as np
from kernelcoding._compiled import group
from kernelcoding.solvers.group import solve
from reference.groups import CONSTRAINTS, assert_solved, gaussian_problem, make_penalty
assert not hasattr(group.solve_row, "py_func")
problem = gaussian_problem(n=2, n_atoms=12)
penalty = make_penalty(np.arange(12) % 3, 0.03, l1=0.005, ridge=0.01)
for constraints in CONSTRAINTS:
    assert_solved(problem, penalty, solve(problem, penalty, **constraints), constraints)
"""


def test_runs_as_plain_python():
    run_python(PLAIN, "1")


def test_import_does_not_load_numba():
    run_python("import sys, kernelcoding.solvers.group; assert 'numba' not in sys.modules")
