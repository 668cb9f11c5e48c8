"""Group and sparse-group coding against cvxpy, scikit-learn, closed forms and optimality."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.linear_model import lars_path_gram
from sklearn.metrics.pairwise import rbf_kernel

from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.group import solve

CONSTRAINTS = [
    {"nonnegative": nonnegative, "sum_to_one": sum_to_one}
    for nonnegative in (False, True)
    for sum_to_one in (False, True)
]
FREE = CONSTRAINTS[0]


def gaussian_problem(n=6, n_atoms=30, dim=3, gamma=0.3, seed=0):
    rng = np.random.default_rng(seed)
    atoms, samples = rng.normal(size=(n_atoms, dim)), rng.normal(size=(n, dim))
    gram = rbf_kernel(atoms, gamma=gamma)
    return CodingProblem(np.ones(n), rbf_kernel(samples, atoms, gamma=gamma), gram)


def make_penalty(labels, weights, l1=0.0, ridge=0.0):
    size = len(labels)
    weights = np.broadcast_to(np.asarray(weights, float), (max(labels) + 1,))
    l1, ridge = (np.atleast_2d(np.broadcast_to(x, np.shape(x) or size)) for x in (l1, ridge))
    return Penalty(l1.astype(float), ridge.astype(float), Groups(np.asarray(labels), weights))


def shuffled_labels(n_atoms, n_groups, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n_atoms) % n_groups)


def objective(problem, penalty, codes):
    fit = 0.5 * np.einsum("ij,ij->i", codes @ problem.gram, codes)
    return fit - np.einsum("ij,ij->i", codes, problem.cross) + penalty.value(codes)


def violations(problem, penalty, codes, nonnegative, sum_to_one):
    """Distance of each group from optimality, relative to the weights; slow and obvious."""
    groups = penalty.groups
    worst = np.zeros(len(codes))
    for i, y in enumerate(codes):
        l1, ridge = penalty.l1[i % len(penalty.l1)], penalty.ridge[i % len(penalty.ridge)]
        v = problem.cross[i] - problem.gram @ y - ridge * y
        inner = l1 * np.sign(y)
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            if y[members].any():
                inner[members] += w * y[members] / np.linalg.norm(y[members])
        if sum_to_one:
            # any multiplier certifies; the one of the largest entry is the best determined
            v = v - (v - inner)[np.argmax(np.abs(y))]
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            vg, yg, lg = v[members], y[members], l1[members]
            at_zero = np.maximum(vg if nonnegative else np.abs(vg), 0.0)
            at_zero = np.maximum(at_zero - lg, 0.0)
            distances = np.where(yg == 0.0, at_zero, np.abs(vg - inner[members]))
            distance = np.linalg.norm(distances)
            if not yg.any():
                distance = max(distance - w, 0.0)
            scale = (w + np.linalg.norm(lg)) or np.abs(problem.cross[i]).max()
            worst[i] = max(worst[i], distance / scale)
    return worst


def assert_solved(problem, penalty, result, constraints, limit=3e-6):
    codes, converged, n_iter = result
    assert np.isfinite(codes).all()
    assert converged.all()
    assert (n_iter >= 0).all()
    if constraints["nonnegative"]:
        assert codes.min() >= 0.0
    if constraints["sum_to_one"]:
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12)
    assert violations(problem, penalty, codes, **constraints).max() <= limit


def by_cvxpy(problem, penalty, row, nonnegative, sum_to_one):
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
    constraints = [y >= 0] * nonnegative + [cp.sum(y) == 1] * sum_to_one
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the test sees how much
        cp.Problem(cp.Minimize(loss), constraints).solve(solver=cp.CLARABEL, **tight)
    return y.value


PENALTIES = {
    "group": make_penalty(shuffled_labels(30, 6), 0.05),
    "sparse group": make_penalty(shuffled_labels(30, 6), 0.04, l1=0.01),
    "group and ridge": make_penalty(shuffled_labels(30, 5), [0.1, 0.05, 0.02, 0.2, 0.0], ridge=0.1),
    "everything, a row each": make_penalty(
        shuffled_labels(30, 6),
        0.03,
        l1=np.random.default_rng(1).uniform(0.0, 0.03, (6, 30)),
        ridge=np.random.default_rng(2).uniform(0.0, 0.2, (6, 30)),
    ),
    "weights of all sizes": make_penalty(
        np.repeat(np.arange(8), [1, 1, 2, 3, 4, 5, 6, 8]), np.geomspace(1e-4, 0.3, 8), l1=1e-3
    ),
}


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("name", PENALTIES)
def test_agrees_with_cvxpy(name, constraints):
    problem, penalty = gaussian_problem(), PENALTIES[name]
    result = solve(problem, penalty, **constraints)
    assert_solved(problem, penalty, result, constraints)
    ours = objective(problem, penalty, result[0])
    theirs = np.array([by_cvxpy(problem, penalty, i, **constraints) for i in range(3)])
    assert_allclose(result[0][:3], theirs, atol=2e-3)
    best = objective(problem.take(slice(0, 3)), penalty.take(slice(0, 3)), theirs)
    assert_allclose(ours[:3], best, atol=1e-8)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("alpha", [0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("l1", [0.0, 0.3, 1.0])
def test_optimal_on_ill_conditioned_gram(alpha, l1, constraints):
    problem = gaussian_problem(n=4, n_atoms=80, dim=4, gamma=0.05)
    assert np.linalg.cond(problem.gram) > 1e6
    penalty = make_penalty(shuffled_labels(80, 8), alpha, l1=l1 * alpha)
    assert_solved(problem, penalty, solve(problem, penalty, **constraints), constraints)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_optimal_on_gram_of_low_rank(seed, constraints):
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
    assert_solved(problem, penalty, solve(problem, penalty, **constraints), constraints, 1e-4)


def test_groups_of_one_atom_are_the_lasso():
    problem = gaussian_problem()
    alpha = 0.02
    penalty = make_penalty(np.arange(30), alpha)
    codes, converged, _ = solve(problem, penalty, **FREE)
    assert converged.all()
    for code, cross in zip(codes, problem.cross, strict=True):
        _, _, path = lars_path_gram(
            cross, problem.gram, n_samples=1, alpha_min=alpha, method="lasso"
        )
        assert_allclose(code, path[:, -1], atol=1e-5)
        assert_array_equal(code != 0.0, path[:, -1] != 0.0)


def test_l1_alone_is_the_lasso_however_grouped():
    problem = gaussian_problem()
    by_atom, _, _ = solve(problem, make_penalty(np.arange(30), 0.02), **FREE)
    grouped, converged, _ = solve(
        problem, make_penalty(shuffled_labels(30, 4), 0.0, l1=0.02), **FREE
    )
    no_groups = Penalty(np.full((1, 30), 0.02), np.zeros((1, 30)))
    ungrouped, _, _ = solve(problem, no_groups, **FREE)
    assert converged.all()
    assert_allclose(grouped, by_atom, atol=1e-5)
    assert_allclose(ungrouped, by_atom, atol=1e-5)


def test_one_group_is_a_root_in_one_dimension():
    problem, weight = gaussian_problem(), 0.3
    values, vectors = np.linalg.eigh(problem.gram)
    codes, _, _ = solve(problem, make_penalty(np.zeros(30, int), weight), **FREE)
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
    just_over, converged, n_iter = solve(problem, make_penalty(labels, limit * (1 + 1e-9)), **FREE)
    assert converged.all()
    assert n_iter[0] == 0
    assert_array_equal(just_over, 0.0)
    just_under, _, _ = solve(problem, make_penalty(labels, limit * (1 - 1e-3)), **FREE)
    assert np.all(just_under != 0.0)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("l1", [0.0, 0.01])
@pytest.mark.parametrize("same_group", [True, False])
def test_duplicate_atoms(same_group, l1, constraints):
    base = gaussian_problem(n_atoms=12)
    twice = np.tile(np.arange(12), 2)
    problem = CodingProblem(
        base.self_similarity, base.cross[:, twice], base.gram[np.ix_(twice, twice)]
    )
    labels = np.tile(np.arange(12) % 3, 2)
    if not same_group:
        labels[12:] += 3
    penalty = make_penalty(labels, 0.03, l1=l1)
    assert_solved(problem, penalty, solve(problem, penalty, **constraints), constraints)


def test_duplicates_with_unequal_weights_use_the_cheaper():
    base = gaussian_problem(n_atoms=12)
    twice = np.tile(np.arange(12), 2)
    problem = CodingProblem(
        base.self_similarity, base.cross[:, twice], base.gram[np.ix_(twice, twice)]
    )
    penalty = make_penalty(np.arange(24), np.repeat([0.02, 0.021], 12))
    expensive_only = np.zeros((6, 24))
    expensive_only[:, 12:] = solve(base, make_penalty(np.arange(12), 0.021), **FREE)[0]
    result = solve(problem, penalty, **FREE, start=expensive_only)
    assert_solved(problem, penalty, result, FREE)
    assert_array_equal(result[0][:, 12:], 0.0)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize(("weights", "l1"), [(0.0, 0.0), (0.0, 0.02), ([0.0, 0.1, 0.0], 0.0)])
def test_zero_weights(weights, l1, constraints):
    problem = gaussian_problem(n_atoms=12, gamma=1.0)
    penalty = make_penalty(np.arange(12) % 3, weights, l1=l1)
    result = solve(problem, penalty, **constraints)
    assert_solved(problem, penalty, result, constraints)
    if np.all(penalty.groups.weights == 0.0) and l1 == 0.0 and constraints == FREE:
        assert_allclose(result[0], np.linalg.solve(problem.gram, problem.cross.T).T, atol=1e-6)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_zero_correlations(constraints):
    problem = gaussian_problem()
    problem = CodingProblem(problem.self_similarity, 0.0 * problem.cross, problem.gram)
    penalty = PENALTIES["sparse group"]
    result = solve(problem, penalty, **constraints)
    assert_solved(problem, penalty, result, constraints)
    if not constraints["sum_to_one"]:
        assert_array_equal(result[0], 0.0)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_sample_is_an_atom(constraints):
    base = gaussian_problem()
    problem = CodingProblem(np.ones(5), base.gram[:5], base.gram)
    penalty = make_penalty(shuffled_labels(30, 6), 1e-3, l1=1e-3)
    result = solve(problem, penalty, **constraints)
    assert_solved(problem, penalty, result, constraints)
    assert_array_equal(np.argmax(result[0], axis=1), np.arange(5))


def test_no_samples_and_empty_groups():
    problem = gaussian_problem()
    labels = shuffled_labels(30, 4)
    gaps = Groups(labels * 2, np.full(9, 0.05))
    dense = Groups(labels, np.full(4, 0.05))
    zero = np.zeros((1, 30))
    with_gaps, _, _ = solve(problem, Penalty(zero, zero, gaps), **FREE)
    without, _, _ = solve(problem, Penalty(zero, zero, dense), **FREE)
    assert_allclose(with_gaps, without, atol=1e-12)
    for n_jobs in (1, 2):
        codes, converged, n_iter = solve(
            problem.take(slice(0, 0)), Penalty(zero, zero, dense), **FREE, n_jobs=n_jobs
        )
        assert codes.shape == (0, 30)
        assert converged.size == n_iter.size == 0


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


def test_objective_never_rises_with_more_iterations():
    problem = gaussian_problem(n=3, n_atoms=60, gamma=0.05)
    for constraints in CONSTRAINTS:
        penalty = make_penalty(shuffled_labels(60, 6), 0.01, l1=0.002)
        values = [
            objective(problem, penalty, solve(problem, penalty, **constraints, max_iter=m)[0])
            for m in range(1, 25)
        ]
        assert np.diff(values, axis=0).max() <= 1e-12


PLAIN_PYTHON = """
import numpy as np
from test_group import CONSTRAINTS, assert_solved, gaussian_problem, make_penalty
from kernelcoding.solvers.group import solve
from kernelcoding._compiled import group
assert not hasattr(group.solve_row, "py_func")
problem = gaussian_problem(n=2, n_atoms=12)
penalty = make_penalty(np.arange(12) % 3, 0.03, l1=0.005, ridge=0.01)
for constraints in CONSTRAINTS:
    assert_solved(problem, penalty, solve(problem, penalty, **constraints), constraints)
"""


def test_runs_as_plain_python():
    paths = [os.path.dirname(__file__), *sys.path]
    environment = dict(os.environ, NUMBA_DISABLE_JIT="1", PYTHONPATH=os.pathsep.join(paths))
    command = [sys.executable, "-W", "error", "-c", PLAIN_PYTHON]
    subprocess.run(command, env=environment, check=True, timeout=300)


def test_import_does_not_load_numba():
    code = "import sys, kernelcoding.solvers.group; assert 'numba' not in sys.modules"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)
