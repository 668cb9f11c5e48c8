"""Greedy coding against scikit-learn and against greedy search written out with lstsq."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import orthogonal_mp_gram

from helpers.processes import run_here, run_python
from kernelcoding import KernelMatchingPursuit, memory_budget
from kernelcoding.constraints import AtMost
from kernelcoding.kernels import Gaussian, Linear
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers import pursuit
from kernelcoding.solvers.result import Options


def problem_of(samples, atoms):
    """Linear-kernel problem: the factors are known, so references may use them."""
    self_similarity = np.einsum("ij,ij->i", samples, samples)
    return CodingProblem(self_similarity, samples @ atoms.T, atoms @ atoms.T)


def gaussian_problem(samples, atoms, gamma=0.1):
    def kernel(left, right):
        return np.exp(-gamma * ((left[:, None] - right[None]) ** 2).sum(axis=2))

    return CodingProblem(np.ones(len(samples)), kernel(samples, atoms), kernel(atoms, atoms))


def solve(problem, n_nonzero, selection="omp", solver=pursuit.solve, **options):
    zero = np.zeros((1, problem.n_atoms))
    constraint = AtMost(n_nonzero, selection)
    return solver(problem, Penalty(zero, zero), constraint, Options(**options))


def greedy_reference(sample, atoms, n_nonzero, selection):
    """The definition: refit by lstsq for every candidate (ols) or correlate the residual (omp)."""
    support, code, residual = [], np.zeros(len(atoms)), sample
    for _ in range(n_nonzero):
        if selection == "omp":
            scores = np.abs(atoms @ residual) / np.linalg.norm(atoms, axis=1)
        else:
            scores = np.array([-fit(sample, atoms, [*support, j])[1] for j in range(len(atoms))])
        scores[support] = -np.inf
        support.append(int(np.argmax(scores)))
        coefficients, _ = fit(sample, atoms, support)
        residual = sample - coefficients @ atoms[support]
    code[support] = coefficients
    return code


def fit(sample, atoms, support):
    coefficients = np.linalg.lstsq(atoms[support].T, sample, rcond=None)[0]
    return coefficients, np.sum((sample - coefficients @ atoms[support]) ** 2)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("n_nonzero", [1, 4, 12])
def test_omp_is_scikit_learns_on_unit_atoms(rng, n_nonzero):
    atoms = rng.normal(size=(40, 25))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    problem = problem_of(rng.normal(size=(30, 25)), atoms)
    result = solve(problem, n_nonzero)
    expected = orthogonal_mp_gram(problem.gram, problem.cross.T, n_nonzero_coefs=n_nonzero)
    assert_allclose(result.codes, expected.reshape(40, -1).T, atol=1e-12)
    assert result.converged.all()
    assert_array_equal(result.n_iter, n_nonzero)


@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_greedy_definition_on_atoms_of_any_norm(rng, selection):
    atoms = rng.normal(size=(20, 12)) * 10.0 ** rng.uniform(-3, 3, size=(20, 1))
    samples = rng.normal(size=(15, 12)) * 10.0 ** rng.uniform(-3, 3, size=(15, 1))
    codes = solve(problem_of(samples, atoms), 5, selection).codes
    for sample, code in zip(samples, codes, strict=True):
        expected = greedy_reference(sample, atoms, 5, selection)
        assert_array_equal(np.flatnonzero(code), np.flatnonzero(expected))
        assert_allclose(code, expected, rtol=1e-8)


def test_selections_differ_and_both_are_used(rng):
    problem = gaussian_problem(rng.normal(size=(40, 3)), rng.normal(size=(60, 3)))
    omp, ols = (problem.squared_error(solve(problem, 6, rule).codes) for rule in ("omp", "ols"))
    assert not np.allclose(omp, ols)
    assert ols.mean() < omp.mean()


@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_residuals_fall_and_are_orthogonal_to_the_support(rng, selection):
    problem = gaussian_problem(rng.normal(size=(20, 4)), rng.normal(size=(50, 4)))
    before = problem.self_similarity
    for n_nonzero in range(1, 12):
        codes = solve(problem, n_nonzero, selection).codes
        after = problem.squared_error(codes)
        assert np.all(after <= before + 1e-14)
        assert_allclose(problem.correlation(codes)[codes != 0], 0.0, atol=1e-12)
        before = after


@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_a_smaller_budget_is_a_prefix(rng, selection):
    problem = gaussian_problem(rng.normal(size=(20, 4)), rng.normal(size=(50, 4)))
    small, large = (solve(problem, budget, selection).codes != 0 for budget in (5, 9))
    assert np.all(large | ~small)


def test_ols_is_no_worse_than_spams(rng):
    spams = pytest.importorskip("spams")
    problem = gaussian_problem(rng.normal(size=(50, 6)), rng.normal(size=(60, 6)))
    values, vectors = np.linalg.eigh(problem.gram)
    factor = np.asfortranarray(np.sqrt(values)[:, None] * vectors.T)
    targets = np.asfortranarray((vectors.T @ problem.cross.T) / np.sqrt(values)[:, None])
    theirs = spams.omp(targets, factor, L=7, numThreads=1).T.toarray()
    ours = solve(problem, 7, "ols").codes
    assert np.all(problem.squared_error(ours) <= problem.squared_error(theirs) + 1e-12)


@pytest.mark.parametrize("selection", ["omp", "ols"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
class TestDegenerate:
    def test_zero_sample_has_the_zero_code(self, rng, selection, dtype):
        atoms = rng.normal(size=(6, 4))
        problem = problem_of(np.zeros((2, 4)), atoms).astype(dtype)
        result = solve(problem, 3, selection)
        assert_array_equal(result.codes, 0)
        assert_array_equal(result.n_iter, 0)
        assert result.converged.all()

    def test_sample_equal_to_an_atom_is_that_atom(self, rng, selection, dtype):
        atoms = rng.normal(size=(30, 5))
        result = solve(gaussian_problem(atoms, atoms).astype(dtype), 10, selection)
        assert_allclose(result.codes, np.eye(30), atol=1e-6)
        assert_array_equal(result.n_iter, 1)

    def test_duplicates_are_never_both_chosen(self, rng, selection, dtype):
        half = rng.normal(size=(8, 8))
        atoms = np.repeat(half, 3, axis=0)
        problem = problem_of(rng.normal(size=(12, 8)), atoms).astype(dtype)
        result = solve(problem, 24, selection)
        chosen = result.codes.reshape(12, 8, 3) != 0
        assert np.all(chosen.sum(axis=2) <= 1)
        assert np.all(chosen[:, :, 1:].sum(axis=2) == 0)  # the lowest index of equals
        assert np.all(result.n_iter <= 8)
        assert np.all(problem.squared_error(result.codes) <= 1e-4 * problem.self_similarity)

    def test_budget_beyond_rank_stops_at_rank(self, rng, selection, dtype):
        atoms = rng.normal(size=(40, 5))
        problem = problem_of(rng.normal(size=(10, 5)), atoms).astype(dtype)
        result = solve(problem, 100, selection)
        assert np.all(result.n_iter <= 5)
        assert np.all(problem.squared_error(result.codes) <= 1e-4 * problem.self_similarity)

    def test_sample_outside_the_span_stops_at_rank(self, rng, selection, dtype):
        atoms = np.zeros((20, 6))
        atoms[:, :3] = rng.normal(size=(20, 3))
        samples = rng.normal(size=(10, 6))
        result = solve(problem_of(samples, atoms).astype(dtype), 20, selection)
        assert_array_equal(result.n_iter, 3)
        residual = samples - result.codes @ atoms
        assert_allclose(residual[:, :3], 0.0, atol=1e-3 if dtype == np.float32 else 1e-10)

    def test_atoms_of_norm_zero_are_ignored(self, rng, selection, dtype):
        atoms = rng.normal(size=(9, 4))
        samples = rng.normal(size=(5, 4))
        padded = np.insert(atoms, [0, 4], 0.0, axis=0)
        expected = solve(problem_of(samples, atoms).astype(dtype), 3, selection).codes
        codes = solve(problem_of(samples, padded).astype(dtype), 3, selection).codes
        assert_array_equal(codes[:, [0, 5]], 0)
        assert_allclose(np.delete(codes, [0, 5], axis=1), expected, rtol=1e-4)
        silent = solve(problem_of(samples, 0 * atoms).astype(dtype), 3, selection)
        assert_array_equal(silent.codes, 0)
        assert_array_equal(silent.n_iter, 0)


def test_an_indefinite_gram_ends_cleanly(rng):
    gram = rng.normal(size=(12, 12))
    gram = gram + gram.T
    problem = CodingProblem(np.ones(6), rng.normal(size=(6, 12)), gram)
    for selection in ("omp", "ols"):
        codes = solve(problem, 12, selection).codes
        assert np.isfinite(codes).all()


@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_a_code_depends_on_its_row_only(rng, selection):
    problem = gaussian_problem(rng.normal(size=(150, 4)), rng.normal(size=(37, 4)))
    together = solve(problem, 6, selection)
    threaded = solve(problem, 6, selection, n_jobs=2)
    assert_array_equal(threaded.codes, together.codes)
    for i in (0, 70, 149):
        alone = solve(problem.take(slice(i, i + 1)), 6, selection)
        assert_array_equal(alone.codes[0], together.codes[i])
        assert alone.n_iter[0] == together.n_iter[i]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_is_the_dense_code(rng, dtype):
    problem = gaussian_problem(rng.normal(size=(70, 4)), rng.normal(size=(37, 4))).astype(dtype)
    problem.self_similarity[3] = 0  # one empty row
    result = solve(problem, 6)
    dense = result.codes
    compact = solve(problem, 6, n_jobs=2, sparse_output=True).codes
    assert isinstance(compact, sparse.csr_array)
    assert compact.dtype == dense.dtype == dtype
    assert compact.has_canonical_format
    assert_array_equal(np.diff(compact.indptr), result.n_iter)
    assert_array_equal(compact.toarray(), dense)


@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_float32_reaches_the_error_of_float64(rng, selection):
    problem = gaussian_problem(rng.normal(size=(60, 8)), rng.normal(size=(100, 8)), gamma=0.05)
    coarse = solve(problem.astype(np.float32), 10, selection).codes
    fine = solve(problem, 10, selection).codes
    errors = problem.squared_error(coarse.astype(float)), problem.squared_error(fine)
    assert_allclose(*errors, rtol=0.02, atol=1e-4)


def test_inputs_of_any_layout_are_left_alone(rng):
    problem = gaussian_problem(rng.normal(size=(10, 4)), rng.normal(size=(15, 4)))
    layout = CodingProblem(
        problem.self_similarity, np.asfortranarray(problem.cross), np.asfortranarray(problem.gram)
    )
    copies = layout.cross.copy(), layout.gram.copy()
    assert_array_equal(solve(layout, 4).codes, solve(problem, 4).codes)
    assert_array_equal(layout.cross, copies[0])
    assert_array_equal(layout.gram, copies[1])


def test_no_sample_at_all(rng):
    problem = gaussian_problem(rng.normal(size=(3, 4)), rng.normal(size=(15, 4)))
    for n_jobs in (1, 2):
        result = solve(problem.take(slice(0, 0)), 4, n_jobs=n_jobs)
        assert result.codes.shape == (0, 15)
        assert result.converged.size == result.n_iter.size == 0


def test_compiled_code_is_plain_python(rng):
    script = """
        import numpy as np
        from kernelcoding.constraints import AtMost
        from kernelcoding.formulations import Penalised
        from kernelcoding.priors import NoPrior
        from kernelcoding.problem import CodingProblem
        from kernelcoding.solvers.result import Options
        rng = np.random.default_rng(0)
        atoms, samples = rng.normal(size=(40, 6)), rng.normal(size=(4, 6))
        atoms[7], samples[1], samples[2] = atoms[3], atoms[3], 0
        for dtype in (np.float32, np.float64):
            cross, gram = samples @ atoms.T, atoms @ atoms.T
            problem = CodingProblem((samples**2).sum(axis=1), cross, gram).astype(dtype)
            for selection in ("omp", "ols"):
                greedy = Penalised(NoPrior(), AtMost(9, selection))
                print(greedy.solve(problem, Options()).codes.round(2).tolist())
    """
    outputs = [run_python(script, "1"), run_here(script)]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 4


@pytest.mark.parametrize("room", [1, 2**25], ids=["one by one", "together"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("selection", ["omp", "ols"])
def test_rows_of_the_gram_matrix_are_enough(rng, selection, dtype, room, monkeypatch):
    """Equal atoms, dependent ones, a zero atom, zero samples, samples that few atoms explain."""
    monkeypatch.setattr(pursuit, "ROOM", room)
    atoms = rng.normal(size=(40, 8)) * rng.uniform(0.1, 10.0, (40, 1))
    atoms[7] = atoms[3]
    atoms[11] = 0.0
    atoms[12] = atoms[1] + atoms[2]
    samples = np.vstack([rng.normal(size=(9, 8)), np.zeros((1, 8)), 2.0 * atoms[5:6]])
    whole = problem_of(samples.astype(dtype), atoms.astype(dtype))
    for n_nonzero in (1, 3, 50):
        expected = solve(whole, n_nonzero, selection, sparse_output=True)
        found = solve(whole, n_nonzero, selection, pursuit.solve_by_parts, sparse_output=True)
        assert_array_equal(found.n_iter, expected.n_iter)
        assert_array_equal(found.codes.toarray(), expected.codes.toarray())
        assert found.converged.all()


@pytest.mark.parametrize("kernel", [Gaussian("median"), Linear()], ids=str)
def test_beyond_the_budget_no_gram_matrix_is_computed(kernel):
    X = load_digits().data / 16.0
    coder = KernelMatchingPursuit(kernel, n_nonzero=6, sparse_output=True)
    expected = clone(coder).fit(X[:200]).transform(X[200:230])
    with memory_budget(1e-5):
        coder.fit(X[:200])
        found = coder.transform(X[200:230])
        errors = coder.reconstruction_error(X[200:230], found)
        assert "_whole" not in vars(coder.dictionary_.facts)
    assert_allclose(found.toarray(), expected.toarray(), atol=1e-9)
    assert_allclose(errors, coder.reconstruction_error(X[200:230], expected), atol=1e-9)
