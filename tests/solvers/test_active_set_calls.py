"""How the active-set solver may be called: batches, starts, precisions, forms, processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from helpers.cases import EACH_CONSTRAINT
from helpers.lasso_problems import gaussian_problem, run, solve, uniform
from helpers.processes import loaded_modules, run_here, run_python
from kernelcoding.constraints import Free, SumToOne
from kernelcoding.penalty import Penalty
from reference.active_set import violation


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@EACH_CONSTRAINT
def test_a_code_does_not_depend_on_its_batch(rng, constraint):
    problem = gaussian_problem(rng, n_samples=130)
    penalty = Penalty(0.1 * problem.squared_distances(), np.zeros((1, problem.n_atoms)))
    codes = run(problem, penalty, constraint, n_jobs=2)
    rows = np.array([77, 3, 128])
    alone = run(problem.take(rows), penalty.take(rows), constraint)
    assert_array_equal(alone, codes[rows])


@EACH_CONSTRAINT
def test_the_start_does_not_change_the_answer(rng, constraint):
    problem = gaussian_problem(rng)
    penalty = uniform(problem, 0.01)
    result = solve(problem, penalty, constraint)
    cold = result.codes
    random = rng.normal(size=cold.shape)
    for start in (cold, random, -random, np.abs(random), np.zeros_like(cold), np.roll(cold, 1, 1)):
        for given in (start, sparse.csr_array(start)):
            codes = run(problem, penalty, constraint, start=given)
            assert_allclose(codes, cold, atol=1e-9)
    again = solve(problem, penalty, constraint, start=cold)
    assert again.n_iter.max() == 1
    assert result.n_iter.min() > 1


@EACH_CONSTRAINT
def test_single_precision(rng, constraint):
    problem = gaussian_problem(rng, gamma=1.0)
    penalty = uniform(problem, 0.01)
    codes = run(problem.astype(np.float32), penalty, constraint)
    assert codes.dtype == np.float32
    assert_allclose(codes, run(problem, penalty, constraint), atol=1e-4)


@pytest.mark.parametrize("width", [0.3, 1e-3])
def test_single_precision_is_optimal_where_the_gram_is_rounded(rng, width):
    problem = gaussian_problem(rng, n_atoms=60, gamma=width).astype(np.float32)
    penalty = uniform(problem, 1e-3)
    codes = run(problem, penalty)
    assert violation(problem.astype(np.float64), penalty, codes, Free()).max() < 1e-5


def test_sparse_output_equals_dense(rng):
    problem = gaussian_problem(rng, n_samples=150)
    penalty = uniform(problem, 0.05)
    codes = run(problem, penalty, sparse_output=True, n_jobs=2)
    assert isinstance(codes, sparse.csr_array)
    assert codes.has_canonical_format
    assert_array_equal(codes.toarray(), run(problem, penalty))


def test_arguments_are_left_alone(rng):
    problem = gaussian_problem(rng)
    penalty = uniform(problem, 0.01)
    copies = [array.copy() for array in (problem.cross, problem.gram, penalty.l1, penalty.ridge)]
    start = rng.normal(size=problem.cross.shape)
    kept = start.copy()
    run(problem, penalty, SumToOne(), start=start)
    for array, copy in zip(
        (problem.cross, problem.gram, penalty.l1, penalty.ridge), copies, strict=True
    ):
        assert_array_equal(array, copy)
    assert_array_equal(start, kept)


PLAIN = """
import numpy as np
from helpers.cases import CONSTRAINTS
from helpers.lasso_problems import gaussian_problem, linear_problem, run, uniform
from reference.active_set import violation
rng = np.random.default_rng(1)
for make in (gaussian_problem, linear_problem):
    problem = make(rng, n_samples=2, n_atoms=12, n_features=3)
    for constraint in CONSTRAINTS.values():
        penalty = uniform(problem, 0.01)
        codes = run(problem, penalty, constraint)
        assert violation(problem, penalty, codes, constraint).max() < 1e-10
        np.savetxt(__import__("sys").stdout, codes, fmt="%.9f")
"""


def test_the_compiled_code_is_plain_python():
    plain, compiled = (
        np.array(said.split(), float) for said in (run_python(PLAIN, "1"), run_here(PLAIN))
    )
    assert_allclose(compiled, plain, atol=1e-8)


def test_importing_the_solver_does_not_import_numba():
    assert "kernelcoding.solvers.active_set" in loaded_modules()["solvers"]
    assert "numba" not in loaded_modules()["solvers"]


def test_importing_the_package_loads_little_of_scikit_learn():
    rooms = ("linear_model", "metrics", "model_selection", "preprocessing")
    assert "kernelcoding" in loaded_modules()["package"]
    assert not {f"sklearn.{room}" for room in rooms} & loaded_modules()["package"]
