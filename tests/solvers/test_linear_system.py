"""Quadratic priors without signs, against their optimality conditions solved directly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from helpers import cases
from helpers.cases import solve
from kernelcoding.constraints import Free, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import Locality, NoPrior, Ridge
from kernelcoding.problem import CodingProblem
from reference import convex, exact


def bordered(gram, ridge, cross):
    """``(K + Q) y + mu 1 = k`` with ``1'y = 1``, as one system."""
    size = len(gram)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = gram + np.diag(ridge)
    system[:size, size] = system[size, :size] = 1.0
    return np.linalg.solve(system, np.append(cross, 1.0))[:size]


def distances(problem):
    squared = problem.self_similarity[:, None] - 2 * problem.cross + np.diag(problem.gram)
    return np.sqrt(np.maximum(squared, 0.0))


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("sigma", [0.5, 3.0])
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_exact_llc_is_the_bordered_system(problem_name, sigma, alpha):
    problem = cases.problem(problem_name)
    codes = solve(problem, Penalised(Locality(sigma), SumToOne(), alpha)).codes
    far = distances(problem)
    far = far / far.max(axis=1, keepdims=True)
    for row, code in enumerate(codes):
        ridge = 2 * alpha * np.exp(sigma * far[row]) ** 2
        expected = bordered(problem.gram, ridge, problem.cross[row])
        assert_allclose(code, expected, atol=1e-9)
        # Stationarity: the same multiplier for every atom.
        slope = problem.cross[row] - problem.gram @ code - ridge * code
        assert np.ptp(slope) <= 1e-10 * max(1.0, alpha * np.exp(2 * sigma))


def test_exact_llc_is_the_shifted_system_of_the_paper():
    # (C + 2 alpha E^2) w = 1, y = w / sum(w), C = K - k 1' - 1 k' + k(x, x) 1 1'.
    problem, alpha = cases.problem("gaussian"), 0.05
    codes = solve(problem, Penalised(Locality(1.0), SumToOne(), alpha)).codes
    far = distances(problem)
    for row, code in enumerate(codes):
        cross, ones = problem.cross[row], np.ones(14)
        centred = problem.gram - np.outer(cross, ones) - np.outer(ones, cross)
        centred = centred + problem.self_similarity[row]
        price = np.exp(far[row] / far[row].max())
        weights = np.linalg.solve(centred + 2 * alpha * np.diag(price**2), ones)
        assert_allclose(code, weights / weights.sum(), atol=1e-9)


def test_near_atoms_get_the_larger_weights_in_llc():
    # Atoms on a line, the sample between two of them: a wrong sign of sigma prefers the ends.
    atoms, samples = np.linspace(-3, 3, 13)[:, None], np.array([[0.1]])
    problem = CodingProblem(
        np.ones(1), cases.gaussian(samples, atoms, 0.5), cases.gaussian(atoms, atoms, 0.5)
    )
    codes = solve(problem, Penalised(Locality(5.0), SumToOne(), 1.0)).codes[0]
    assert np.argmax(codes) == 6
    assert codes[5:8].sum() > 0.9
    assert np.abs(codes[[0, -1]]).max() < 1e-3


@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_ridge_is_its_closed_form(problem_name):
    problem, alpha = cases.problem(problem_name), 0.03
    system = problem.gram + alpha * np.eye(14)
    free = solve(problem, Penalised(Ridge(), Free(), alpha)).codes
    assert_allclose(free, np.linalg.solve(system, problem.cross.T).T, atol=1e-10)
    tied = solve(problem, Penalised(Ridge(), SumToOne(), alpha)).codes
    expected = [bordered(problem.gram, np.full(14, alpha), cross) for cross in problem.cross]
    assert_allclose(tied, expected, atol=1e-10)


def test_ridge_on_the_atoms_themselves_is_kernel_ridge_regression():
    gram = cases.problem("gaussian").gram
    problem = CodingProblem(np.diag(gram), gram, gram)
    codes = solve(problem, Penalised(Ridge(), Free(), 0.1)).codes
    # Column j of K (K + alpha I)^-1 is what kernel ridge regression predicts for target e_j.
    model = KernelRidge(alpha=0.1, kernel="precomputed").fit(gram, np.eye(14))
    assert_allclose(codes, model.predict(gram), atol=1e-10)


def test_no_prior_is_the_projection(rng):
    problem = cases.linear_problem(rng, n_features=20)
    codes = solve(problem, Penalised(NoPrior(), Free())).codes
    assert_allclose(problem.correlation(codes), 0.0, atol=1e-12)
    tied = solve(problem, Penalised(NoPrior(), SumToOne())).codes
    assert_allclose(tied.sum(axis=1), 1.0, atol=1e-12)
    assert np.ptp(problem.correlation(tied), axis=1).max() <= 1e-12


@pytest.mark.parametrize("problem_name", ["duplicates", "low rank"])
def test_no_prior_on_a_singular_gram_is_the_shortest_projection(problem_name):
    problem = cases.problem(problem_name)
    codes = solve(problem, Penalised(NoPrior(), Free())).codes
    for row, code in enumerate(codes):
        expected = np.linalg.lstsq(problem.gram, problem.cross[row], rcond=1e-12)[0]
        assert_allclose(code, expected, atol=1e-7)
    tied = solve(problem, Penalised(NoPrior(), SumToOne())).codes
    assert_allclose(tied.sum(axis=1), 1.0, atol=1e-10)
    assert np.ptp(problem.correlation(tied), axis=1).max() <= 1e-9


def test_singular_grams_of_many_draws(rng):
    # Cholesky succeeds on some singular matrices, with pivots that are all rounding.
    for _ in range(40):
        problem = cases.linear_problem(rng, n_features=7, n_atoms=8)
        shortest = problem.cross @ np.linalg.pinv(problem.gram, rcond=1e-10, hermitian=True)
        free = solve(problem, Penalised(NoPrior(), Free())).codes
        assert_allclose(free, shortest, atol=1e-6 * max(1.0, np.abs(shortest).max()))
        for prior in (NoPrior(), Locality()):
            free = solve(problem, Penalised(prior, Free(), 0.0)).codes
            assert_allclose(problem.correlation(free), 0.0, atol=1e-9)
            tied = solve(problem, Penalised(prior, SumToOne(), 0.0)).codes
            assert_allclose(np.ptp(problem.correlation(tied), axis=1), 0.0, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("gamma", [3.0, 0.1])
def test_exact_llc_with_many_atoms_is_the_same_system(alpha, gamma, rng):
    problem = cases.gaussian_problem(rng, gamma, n_features=3, n_samples=6, n_atoms=150)
    formulation = Penalised(Locality(2.0), SumToOne(), alpha)
    result = solve(problem, formulation)
    assert_allclose(result.codes.sum(axis=1), 1.0, atol=1e-10)
    far = distances(problem)
    for row, code in enumerate(result.codes):
        ridge = 2 * alpha * np.exp(2.0 * far[row] / far[row].max()) ** 2
        expected = bordered(problem.gram, ridge, problem.cross[row])
        values = [
            convex.objective(problem, row, tried, 0.5 * np.sum(ridge * tried**2))
            for tried in (code, expected)
        ]
        assert_allclose(values[0], values[1], rtol=1e-8, atol=1e-10)
        # Strong convexity: codes differ by the root of that, over the ridge.
        assert_allclose(code, expected, atol=1e-4)
    alone = solve(problem.take(slice(2, 3)), formulation).codes
    assert_allclose(alone[0], result.codes[2], atol=1e-9)
    assert np.all(formulation.gap(problem, result.codes) <= 1e-6)


def test_a_dictionary_of_one_atom():
    problem = CodingProblem(np.ones(2), np.array([[0.5], [-0.2]]), np.array([[2.0]]))
    for prior in (NoPrior(), Ridge(), Locality()):
        free = solve(problem, Penalised(prior, Free(), 0.1)).codes
        ridge = {NoPrior: 0.0, Ridge: 0.1, Locality: 0.2 * np.e**2}[type(prior)]
        assert_allclose(free, problem.cross / (2.0 + ridge))
        assert_allclose(solve(problem, Penalised(prior, SumToOne(), 0.1)).codes, 1.0)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=repr)
@pytest.mark.parametrize("prior", [NoPrior(), Ridge(), Locality()], ids=repr)
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-16, 1e-13])
def test_a_weight_that_rounding_swallows_neither_warns_nor_fails(prior, constraint, alpha):
    problem = cases.problem("duplicates")
    formulation = Penalised(prior, constraint, alpha)
    result = solve(problem, formulation)
    best, _ = cases.convex.optimum(problem, NoPrior(), constraint, 0.0)
    assert np.all(result.converged)
    assert np.all(0.5 * problem.squared_error(result.codes) <= best + 1e-9)
    assert np.abs(result.codes).max() < 1e3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(n_jobs, rng):
    problem = cases.gaussian_problem(rng, n_samples=30)
    formulation = Penalised(Locality(), SumToOne(), 0.01)
    expected = np.vstack(
        [solve(problem.take(slice(i, i + 1)), formulation).codes for i in range(30)]
    )
    result = solve(problem, formulation, n_jobs=n_jobs)
    assert_allclose(result.codes, expected, atol=1e-11)
    assert np.all(formulation.gap(problem, result.codes) < 1e-10)


# Ridges over many decades ------------------------------------------------------------------


def exact_optimum(own, cross, gram, ridge):
    """The least objective of codes that sum to one, in rationals: the last one is eliminated."""
    own, cross, gram = (exact.rationals(np.asarray(part)) for part in (own, cross, gram))
    for j, value in enumerate(exact.rationals(ridge)):
        gram[j][j] += value
    last = len(gram) - 1
    rest = range(last)
    start = own - 2 * cross[last] + gram[last][last]
    slope = [cross[i] - cross[last] - gram[i][last] + gram[last][last] for i in rest]
    curve = [
        [gram[i][j] - gram[i][last] - gram[last][j] + gram[last][last] for j in rest] for i in rest
    ]
    return float(exact.least_squares(start, slope, curve, list(rest)))


@pytest.mark.parametrize("sigma", [10.0, 30.0, 50.0, 200.0])
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_exact_llc_at_large_sigma_is_exact(problem_name, sigma):
    problem, alpha = cases.problem(problem_name), 0.01
    formulation = Penalised(Locality(sigma), SumToOne(), alpha)
    result = solve(problem, formulation)
    assert result.converged.all()
    ridge = formulation.penalty(problem).ridge
    values = formulation.objective(problem, result.codes)
    for row in range(problem.n_samples):
        own, cross = problem.self_similarity[row], problem.cross[row]
        best = exact_optimum(own, cross, problem.gram, ridge[row])
        assert_allclose(values[row], best, rtol=1e-8, atol=1e-10)
    assert np.all(formulation.gap(problem, result.codes) <= 1e-8 * np.maximum(values, 1.0))


def test_exact_llc_at_large_sigma_with_many_atoms(rng):
    problem = cases.gaussian_problem(rng, n_features=3, n_samples=4, n_atoms=120)
    formulation = Penalised(Locality(50.0), SumToOne(), 0.01)
    result = solve(problem, formulation)
    assert result.converged.all()
    ridge = formulation.penalty(problem).ridge
    values = formulation.objective(problem, result.codes)
    own, cross = problem.self_similarity[0], problem.cross[0]
    # Atoms dearer than 1e20 times the dearest of these change nothing.
    near = np.argsort(ridge[0])[:12]
    best = exact_optimum(own, cross[near], problem.gram[np.ix_(near, near)], ridge[0, near])
    assert_allclose(values[0], best, rtol=1e-3)
    assert np.all(formulation.gap(problem, result.codes) <= 1e-8 * np.maximum(values, 1.0))


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=repr)
def test_large_sigma_in_single_precision(constraint):
    problem = cases.problem("gaussian")
    formulation = Penalised(Locality(60.0), constraint, 0.01)
    double = solve(problem, formulation).codes
    single = solve(problem.astype(np.float32), formulation).codes
    assert single.dtype == np.float32
    assert np.isfinite(single).all()
    assert_allclose(
        formulation.objective(problem, single.astype(float)),
        formulation.objective(problem, double),
        rtol=1e-3,
    )


def test_what_is_no_solution_is_not_called_one():
    # Not a Gram matrix: the stationary point along (1, -1) is no minimum, and is left out.
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    problem = CodingProblem(np.ones(2), np.array([[0.5, -0.5], [1.0, 1.0]]), gram)
    assert list(solve(problem, Penalised(NoPrior(), Free())).converged) == [False, True]
    missing = CodingProblem(np.ones(1), np.array([[np.nan, 0.5]]), np.eye(2))
    assert not solve(missing, Penalised(Ridge(), SumToOne(), 0.1)).converged.any()
