"""The active-set solver against other libraries, and against the optimality conditions."""

import os
import subprocess
import sys
import warnings

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.decomposition import sparse_encode

from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.active_set import solve

CONSTRAINTS = [(False, False), (True, False), (False, True), (True, True)]


def gaussian(points, others, gamma):
    squared = ((points[:, None] - others[None]) ** 2).sum(-1)
    return np.exp(-gamma * squared)


def gaussian_problem(rng, n_samples=12, n_atoms=30, n_features=4, gamma=0.3):
    atoms, samples = (
        rng.normal(size=(n_atoms, n_features)),
        rng.normal(size=(n_samples, n_features)),
    )
    return CodingProblem(
        np.ones(n_samples), gaussian(samples, atoms, gamma), gaussian(atoms, atoms, gamma)
    )


def linear_problem(rng, n_samples=10, n_atoms=40, n_features=6):
    atoms, samples = (
        rng.normal(size=(n_atoms, n_features)),
        rng.normal(size=(n_samples, n_features)),
    )
    return CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)


def uniform(problem, l1=0.0, ridge=0.0):
    ones = np.ones((1, problem.n_atoms))
    return Penalty(l1 * ones, ridge * ones)


def run(problem, penalty, nonnegative=False, sum_to_one=False, **options):
    codes, converged, _ = solve(
        problem, penalty, nonnegative=nonnegative, sum_to_one=sum_to_one, **options
    )
    assert converged.all()
    return codes


def objective(problem, penalty, codes):
    quadratic = 0.5 * np.einsum("ij,jk,ik->i", codes, problem.gram, codes)
    return quadratic - (problem.cross * codes).sum(1) + penalty.value(codes)


def violation(problem, penalty, codes, nonnegative, sum_to_one):
    """Largest violation of the optimality conditions of each row, written out naively."""
    worst = []
    for i, code in enumerate(codes):
        l1 = penalty.l1[i % len(penalty.l1)]
        slope = (
            problem.cross[i] - problem.gram @ code - penalty.ridge[i % len(penalty.ridge)] * code
        )
        used = code != 0
        if sum_to_one:
            slope = slope - np.mean((slope - l1 * np.sign(code))[used])
        outside = slope - l1 if nonnegative else np.abs(slope) - l1
        rows = np.where(used, np.abs(slope - l1 * np.sign(code)), np.maximum(outside, 0.0))
        infeasible = abs(code.sum() - 1.0) if sum_to_one else 0.0
        if nonnegative:
            infeasible = max(infeasible, -code.min())
        worst.append(max(rows.max(), infeasible))
    return np.array(worst)


def convex_reference(problem, penalty, i, nonnegative, sum_to_one):
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
    limits = [code >= 0] * nonnegative + [cvxpy.sum(code) == 1] * sum_to_one
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


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
@pytest.mark.parametrize("make", [gaussian_problem, linear_problem])
@pytest.mark.parametrize("kind", ["lasso", "elastic net", "weighted", "some weights zero", "ridge"])
def test_optimal_and_as_low_as_interior_point(rng, make, kind, nonnegative, sum_to_one):
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
    codes = run(problem, penalty, nonnegative, sum_to_one)
    # Where the weight is zero the tolerance is relative to the data, and zeros are as good as that.
    allowed = 1e-6 * np.abs(problem.cross).max() if np.any(l1 == 0.0) else 1e-9
    assert violation(problem, penalty, codes, nonnegative, sum_to_one).max() < allowed
    values = objective(problem, penalty, codes)
    for i in range(2):
        reference = convex_reference(problem, penalty, i, nonnegative, sum_to_one)
        assert_allclose(values[i], reference, rtol=1e-5, atol=1e-6)


def test_nonnegative_least_squares(rng):
    atoms, samples = rng.normal(size=(40, 15)), rng.normal(size=(6, 40))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms, atoms.T @ atoms)
    codes = run(problem, uniform(problem), nonnegative=True)
    for code, sample in zip(codes, samples, strict=True):
        assert_allclose(code, nnls(atoms, sample)[0], atol=1e-8)


def test_projection_onto_the_simplex(rng):
    points = rng.normal(size=(8, 20))
    problem = CodingProblem((points**2).sum(1), points, np.eye(20))
    codes = run(problem, uniform(problem), nonnegative=True, sum_to_one=True)
    for code, point in zip(codes, points, strict=True):
        descending = np.sort(point)[::-1]
        excess = (np.cumsum(descending) - 1.0) / np.arange(1, 21)
        level = excess[np.nonzero(descending > excess)[0][-1]]
        assert_allclose(code, np.maximum(point - level, 0.0), atol=1e-12)


def test_unpenalised_sum_to_one_solves_the_linear_system(rng):
    problem = gaussian_problem(rng, n_atoms=10, gamma=1.0)
    codes = run(problem, uniform(problem), sum_to_one=True)
    system = np.block([[problem.gram, np.ones((10, 1))], [np.ones((1, 10)), np.zeros((1, 1))]])
    right = np.hstack([problem.cross, np.ones((problem.n_samples, 1))])
    assert_allclose(codes, np.linalg.solve(system, right.T)[:10].T, atol=1e-7)


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
@pytest.mark.parametrize("l1", [0.0, 1e-4, 0.05])
def test_duplicate_atoms(rng, l1, nonnegative, sum_to_one):
    problem = gaussian_problem(rng, n_atoms=12)
    twice = np.r_[0:12, 0:12, 3]
    doubled = CodingProblem(
        problem.self_similarity, problem.cross[:, twice], problem.gram[np.ix_(twice, twice)]
    )
    single = run(problem, uniform(problem, l1), nonnegative, sum_to_one)
    codes = run(doubled, uniform(doubled, l1), nonnegative, sum_to_one)
    assert_allclose(
        objective(doubled, uniform(doubled, l1), codes),
        objective(problem, uniform(problem, l1), single),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
@pytest.mark.parametrize("l1", [1e-6, 1e-3])
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_nearly_singular_gram(rng, width, l1, nonnegative, sum_to_one):
    problem = gaussian_problem(rng, n_atoms=80, n_features=3, gamma=width)
    penalty = uniform(problem, l1)
    codes = run(problem, penalty, nonnegative, sum_to_one)
    allowed = max(1.001e-6 * l1, 1e-11)
    assert violation(problem, penalty, codes, nonnegative, sum_to_one).max() < allowed


def test_more_atoms_than_features_without_penalty(rng):
    problem = linear_problem(rng)
    codes = run(problem, uniform(problem))
    assert_allclose(problem.squared_error(codes), 0.0, atol=1e-9)
    codes = run(problem, uniform(problem), sum_to_one=True)
    assert_allclose(problem.squared_error(codes), 0.0, atol=1e-9)
    assert_allclose(codes.sum(axis=1), 1.0)


def test_parallel_atoms_beside_a_coefficient_that_is_all_rounding():
    # (3, 0) must replace (2, 0); the coefficient of (-2, 1) is zero but for rounding errors, and
    # dropping that atom instead makes no room.
    atoms = np.array([[-2.0, 1.0], [2.0, 0.0], [2.0, 0.0], [3.0, 0.0], [-1.0, 1.0]])
    sample = np.array([[2.0, 0.0]])
    problem = CodingProblem((sample**2).sum(1), sample @ atoms.T, atoms @ atoms.T)
    for alpha in (0.118, 0.12, 0.123):
        penalty = uniform(problem, alpha)
        codes = run(problem, penalty)
        assert violation(problem, penalty, codes, False, False).max() < 1e-12


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


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_random_degenerate_problems(nonnegative, sum_to_one):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem, penalty = random_problem(rng)
        start = rng.normal(size=problem.cross.shape) if seed % 3 == 0 else None
        codes = run(problem, penalty, nonnegative, sum_to_one, start=start)
        scale = max(penalty.l1.max(), np.abs(problem.cross).max(), np.diag(problem.gram).mean())
        allowed = 1.001e-6 * scale * max(1.0, np.abs(codes).sum(axis=1).max())
        assert violation(problem, penalty, codes, nonnegative, sum_to_one).max() < allowed, seed


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_query_equal_to_an_atom_under_local_weights(rng, nonnegative, sum_to_one):
    atoms = rng.normal(size=(20, 3))
    gram = gaussian(atoms, atoms, 0.5)
    problem = CodingProblem(np.ones(20), gram, gram)
    penalty = Penalty(0.1 * problem.squared_distances(), np.zeros((1, 20)))
    assert_allclose(run(problem, penalty, nonnegative, sum_to_one), np.eye(20), atol=1e-10)


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_degenerate_problems(nonnegative, sum_to_one):
    one = np.ones((1, 1))
    single = CodingProblem(np.ones(1), 0.5 * one, one)
    expected = 1.0 if sum_to_one else 0.4
    code = run(single, uniform(single, 0.1), nonnegative, sum_to_one)
    assert_allclose(code, [[expected]])
    for gram in (np.eye(4), np.zeros((4, 4)), np.ones((4, 4)), np.diag([1.0, 0.0, 2.0, 0.0])):
        blank = CodingProblem(np.zeros(2), np.zeros((2, 4)), gram)
        for l1 in (0.0, 0.3):
            penalty = uniform(blank, l1)
            codes = run(blank, penalty, nonnegative, sum_to_one)
            assert violation(blank, penalty, codes, nonnegative, sum_to_one).max() < 1e-12
            if not sum_to_one:
                assert_array_equal(codes, 0.0)
                codes = run(blank, penalty, nonnegative, start=np.ones((2, 4)))
                assert_allclose(codes, 0.0, atol=1e-12)


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_a_code_does_not_depend_on_its_batch(rng, nonnegative, sum_to_one):
    problem = gaussian_problem(rng, n_samples=130)
    penalty = Penalty(0.1 * problem.squared_distances(), np.zeros((1, problem.n_atoms)))
    codes = run(problem, penalty, nonnegative, sum_to_one, n_jobs=2)
    rows = np.array([77, 3, 128])
    alone = run(problem.take(rows), penalty.take(rows), nonnegative, sum_to_one)
    assert_array_equal(alone, codes[rows])


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_the_start_does_not_change_the_answer(rng, nonnegative, sum_to_one):
    problem = gaussian_problem(rng)
    penalty = uniform(problem, 0.01)
    cold, _, steps = solve(problem, penalty, nonnegative=nonnegative, sum_to_one=sum_to_one)
    random = rng.normal(size=cold.shape)
    for start in (cold, random, -random, np.abs(random), np.zeros_like(cold), np.roll(cold, 1, 1)):
        for given in (start, sparse.csr_array(start)):
            codes = run(problem, penalty, nonnegative, sum_to_one, start=given)
            assert_allclose(codes, cold, atol=1e-9)
    _, _, again = solve(
        problem, penalty, nonnegative=nonnegative, sum_to_one=sum_to_one, start=cold
    )
    assert again.max() == 1
    assert steps.min() > 1


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_single_precision(rng, nonnegative, sum_to_one):
    problem = gaussian_problem(rng, gamma=1.0)
    penalty = uniform(problem, 0.01)
    codes = run(problem.astype(np.float32), penalty, nonnegative, sum_to_one)
    assert codes.dtype == np.float32
    assert_allclose(codes, run(problem, penalty, nonnegative, sum_to_one), atol=1e-4)


@pytest.mark.parametrize("width", [0.3, 1e-3])
def test_single_precision_is_optimal_where_the_gram_is_rounded(rng, width):
    problem = gaussian_problem(rng, n_atoms=60, gamma=width).astype(np.float32)
    penalty = uniform(problem, 1e-3)
    codes = run(problem, penalty)
    assert violation(problem.astype(np.float64), penalty, codes, False, False).max() < 1e-5


def test_sparse_output_equals_dense(rng):
    problem = gaussian_problem(rng, n_samples=150)
    penalty = uniform(problem, 0.05)
    codes = run(problem, penalty, sparse_output=True, n_jobs=2)
    assert isinstance(codes, sparse.csr_array)
    assert codes.has_canonical_format
    assert_array_equal(codes.toarray(), run(problem, penalty))


def test_giving_up_is_reported(rng):
    problem = gaussian_problem(rng)
    codes, converged, n_iter = solve(
        problem, uniform(problem, 1e-3), nonnegative=False, sum_to_one=False, max_iter=2
    )
    assert not converged.any()
    assert np.isfinite(codes).all()
    assert n_iter.max() <= 4


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_nan_is_not_called_converged(rng, nonnegative, sum_to_one):
    problem = gaussian_problem(rng)
    problem.cross[3, 5] = np.nan
    _, converged, _ = solve(
        problem, uniform(problem, 0.01), nonnegative=nonnegative, sum_to_one=sum_to_one
    )
    assert_array_equal(converged, np.arange(problem.n_samples) != 3)


@pytest.mark.parametrize(("nonnegative", "sum_to_one"), CONSTRAINTS)
def test_an_infinite_weight_forbids_an_atom(rng, nonnegative, sum_to_one):
    problem = gaussian_problem(rng)
    forbidden = np.where(np.arange(problem.n_atoms) % 2, np.inf, 0.01)[None]
    penalty = Penalty(forbidden, np.zeros_like(forbidden))
    codes = run(problem, penalty, nonnegative, sum_to_one, start=np.ones(problem.cross.shape))
    fewer = CodingProblem(
        problem.self_similarity, problem.cross[:, ::2], problem.gram[::2, ::2].copy()
    )
    expected = run(fewer, uniform(fewer, 0.01), nonnegative, sum_to_one)
    assert_array_equal(codes[:, 1::2], 0.0)
    assert_allclose(codes[:, ::2], expected, atol=1e-9)


def test_no_samples():
    problem = CodingProblem(np.zeros(0), np.zeros((0, 3)), np.eye(3))
    codes, converged, n_iter = solve(
        problem, uniform(problem, 0.1), nonnegative=False, sum_to_one=False
    )
    assert codes.shape == (0, 3)
    assert converged.shape == n_iter.shape == (0,)


def test_arguments_are_left_alone(rng):
    problem = gaussian_problem(rng)
    penalty = uniform(problem, 0.01)
    copies = [array.copy() for array in (problem.cross, problem.gram, penalty.l1, penalty.ridge)]
    start = rng.normal(size=problem.cross.shape)
    kept = start.copy()
    run(problem, penalty, sum_to_one=True, start=start)
    for array, copy in zip(
        (problem.cross, problem.gram, penalty.l1, penalty.ridge), copies, strict=True
    ):
        assert_array_equal(array, copy)
    assert_array_equal(start, kept)


PLAIN = """
import numpy as np
from test_active_set import CONSTRAINTS, gaussian_problem, linear_problem, run, uniform, violation
rng = np.random.default_rng(1)
for make in (gaussian_problem, linear_problem):
    problem = make(rng, n_samples=2, n_atoms=12, n_features=3)
    for nonnegative, sum_to_one in CONSTRAINTS:
        penalty = uniform(problem, 0.01)
        codes = run(problem, penalty, nonnegative, sum_to_one)
        assert violation(problem, penalty, codes, nonnegative, sum_to_one).max() < 1e-10
        np.savetxt(__import__("sys").stdout, codes, fmt="%.9f")
"""


def test_the_compiled_code_is_plain_python():
    outputs = []
    for disable in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disable}
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        done = subprocess.run(
            [sys.executable, "-c", PLAIN], env=environment, capture_output=True, text=True,
            cwd=os.path.dirname(__file__), check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(np.array(done.stdout.split(), float))
    assert_allclose(outputs[0], outputs[1], atol=1e-8)


def test_importing_the_solver_does_not_import_numba():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    script = "import sys, kernelcoding.solvers.active_set; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
