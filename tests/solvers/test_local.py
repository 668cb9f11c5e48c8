"""Approximate kernel LLC against its KKT system, and neighbour selection against a stable sort."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from helpers.processes import run_here, run_python
from kernelcoding.problem import CodingProblem, Neighbours
from kernelcoding.selection import smallest
from kernelcoding.solvers.local import solve
from kernelcoding.solvers.result import Options


def gaussian_problem(samples, atoms, gamma=0.1):
    def kernel(left, right):
        return np.exp(-gamma * ((left[:, None] - right[None]) ** 2).sum(axis=2))

    return CodingProblem(np.ones(len(samples)), kernel(samples, atoms), kernel(atoms, atoms))


def linear_problem(samples, atoms):
    return CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)


def neighbours_of(problem, n_neighbours):
    indices = smallest(problem.squared_distances(), n_neighbours)
    cross = np.take_along_axis(problem.cross, indices, axis=1)
    return Neighbours(indices, cross, problem.self_similarity)


def local_codes(problem, n_neighbours, regularization=1e-4, **options):
    near = neighbours_of(problem, n_neighbours)
    result = solve(near, problem, regularization, Options(**options))
    assert result.converged.all()
    return result.codes


def centred_gram(problem, row, atoms):
    """Inner products of ``phi(d_a) - phi(x)``."""
    k = problem.cross[row, atoms]
    gram = problem.gram[np.ix_(atoms, atoms)]
    return gram - k[:, None] - k[None, :] + problem.self_similarity[row]


def kkt_code(problem, row, n_neighbours, regularization):
    """The bordered system ``[C + reg tr(C) I, 1; 1', 0]`` solved by elimination."""
    atoms = np.argsort(problem.squared_distances()[row], kind="stable")[:n_neighbours]
    centred = centred_gram(problem, row, atoms)
    m = atoms.size
    bordered = np.ones((m + 1, m + 1))
    bordered[:m, :m] = centred + regularization * np.trace(centred) * np.eye(m)
    bordered[m, m] = 0.0
    code = np.zeros(problem.n_atoms)
    code[atoms] = np.linalg.solve(bordered, np.eye(m + 1)[m])[:m]
    return code


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def problem(rng):
    return gaussian_problem(rng.normal(size=(60, 6)), rng.normal(size=(80, 6)))


@pytest.mark.parametrize("n_neighbours", [1, 2, 5, 37, 80])
@pytest.mark.parametrize("regularization", [1e-4, 0.3])
def test_codes_solve_the_kkt_system(problem, n_neighbours, regularization):
    codes = local_codes(problem, n_neighbours, regularization)
    for row, code in enumerate(codes):
        assert_allclose(code, kkt_code(problem, row, n_neighbours, regularization), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_codes_do_not_depend_on_the_scale_of_the_kernel(problem, scale):
    scaled = CodingProblem(
        scale * problem.self_similarity, scale * problem.cross, scale * problem.gram
    )
    assert_allclose(local_codes(scaled, 5), local_codes(problem, 5), atol=1e-10)


def test_erratum_the_printed_system_breaks_the_sum(problem):
    """The paper prints ``(K - k 1') y = 1`` over the l1 norm: sums are then not one."""
    neighbours = smallest(problem.squared_distances(), 5)
    printed = np.zeros((problem.n_samples, 5))
    for row, atoms in enumerate(neighbours):
        system = problem.gram[np.ix_(atoms, atoms)] - problem.cross[row, atoms][:, None]
        printed[row] = np.linalg.solve(system, np.ones(5))
        printed[row] /= np.abs(printed[row]).sum()
    codes = local_codes(problem, 5)
    assert np.any(codes < 0)  # the case in which the two normalisations differ
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-13)
    assert np.mean(np.abs(printed.sum(axis=1) - 1.0) > 1e-3) > 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("regularization", [0.0, 1e-4])
class TestDegenerate:
    def test_a_sample_on_one_atom_is_mostly_that_atom(self, rng, dtype, regularization):
        atoms = rng.normal(size=(40, 6))
        codes = local_codes(gaussian_problem(atoms, atoms).astype(dtype), 5, regularization)
        accuracy = 1e-2 if regularization else 1e-3 if dtype == np.float32 else 1e-12
        assert_allclose(codes, np.eye(40), atol=accuracy)
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-5)

    def test_a_sample_on_all_its_neighbours_is_the_first(self, rng, dtype, regularization):
        points = rng.normal(size=(8, 6))
        problem = gaussian_problem(points, np.repeat(points, 3, axis=0)).astype(dtype)
        codes = local_codes(problem, 3, regularization)
        assert_array_equal(codes, np.eye(24)[::3])

    def test_duplicate_atoms_reconstruct_as_one(self, rng, dtype, regularization):
        points, atoms = rng.normal(size=(20, 6)), rng.normal(size=(15, 6))
        single = gaussian_problem(points, atoms).astype(dtype)
        double = gaussian_problem(points, np.repeat(atoms, 2, axis=0)).astype(dtype)
        codes = local_codes(double, 8, regularization)
        expected = local_codes(single, 4, regularization)
        assert_allclose(codes.reshape(20, 15, 2).sum(axis=2), expected, atol=5e-3)

    def test_one_neighbour_gets_one(self, rng, dtype, regularization):
        problem = gaussian_problem(rng.normal(size=(9, 3)), rng.normal(size=(12, 3))).astype(dtype)
        codes = local_codes(problem, 1, regularization)
        assert_array_equal(codes, np.eye(12)[problem.squared_distances().argmin(axis=1)])

    def test_dependent_neighbours_give_a_minimiser(self, rng, dtype, regularization):
        """12 atoms of 3 dimensions: C has rank 3, and samples in their hull are met exactly."""
        atoms = rng.normal(size=(12, 3))
        samples = rng.dirichlet(np.ones(12), size=10) @ atoms
        problem = linear_problem(samples, atoms).astype(dtype)
        codes = local_codes(problem, 12, regularization)
        assert np.isfinite(codes).all()
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-4)
        accuracy = 1e-2 if regularization else 1e-4 if dtype == np.float32 else 1e-7
        assert_allclose(codes @ atoms, samples, atol=accuracy)

    def test_everything_at_the_origin(self, dtype, regularization):
        problem = linear_problem(np.zeros((2, 3)), np.zeros((4, 3))).astype(dtype)
        assert_array_equal(local_codes(problem, 3, regularization), np.eye(4)[[0, 0]])


def test_unregularised_codes_minimise_among_affine_codes(rng, problem):
    codes = local_codes(problem, 6, 0.0)
    errors = problem.squared_error(codes)
    for _ in range(20):
        step = rng.normal(size=codes.shape) * (codes != 0)
        step -= (codes != 0) * step.sum(axis=1, keepdims=True) / 6
        assert np.all(problem.squared_error(codes + 1e-3 * step) >= errors - 1e-14)


def test_a_sample_next_to_an_atom_stays_bounded(rng):
    """Between zero distance and the noise of the kernel values nothing explodes."""
    atoms = rng.normal(size=(10, 4))
    for distance in 10.0 ** np.arange(-12, 0):
        problem = gaussian_problem(atoms + distance * rng.normal(size=atoms.shape), atoms)
        codes = local_codes(problem, 5)
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12)
        assert np.abs(codes).max() < 2.0


def test_a_negative_squared_distance_counts_as_zero():
    """k(x, x) too small for k: ``C = diag(-0.1, 1)`` is taken as ``diag(0, 1)``."""
    problem = CodingProblem(np.ones(1), np.array([[1.05, 0.5]]), np.array([[1, 0.55], [0.55, 1]]))
    weights = 1 / np.array([0.2, 1.2])
    assert_allclose(local_codes(problem, 2, 0.2)[0], weights / weights.sum())


def test_an_indefinite_kernel_ends_cleanly(rng):
    gram = rng.normal(size=(12, 12))
    problem = CodingProblem(np.ones(6), rng.normal(size=(6, 12)), gram + gram.T)
    codes = local_codes(problem, 8)
    assert np.isfinite(codes).all()
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-6)


def test_a_code_depends_on_its_row_only(rng):
    problem = gaussian_problem(rng.normal(size=(600, 4)), rng.normal(size=(37, 4)))
    together = local_codes(problem, 5)
    assert_array_equal(local_codes(problem, 5, n_jobs=2), together)
    for i in (0, 300, 599):
        assert_array_equal(local_codes(problem.take(slice(i, i + 1)), 5)[0], together[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_is_the_dense_code(problem, dtype):
    problem = problem.astype(dtype)
    dense, compact = local_codes(problem, 5), local_codes(problem, 5, sparse_output=True)
    assert isinstance(compact, sparse.csr_array)
    assert compact.dtype == dense.dtype == dtype
    assert compact.has_canonical_format
    assert compact.nnz == 5 * problem.n_samples
    assert_array_equal(compact.toarray(), dense)


def test_arguments_are_left_alone(problem):
    near = neighbours_of(problem, 5)
    arguments = (near.self_similarity, near.indices, near.cross, problem.gram)
    copies = [argument.copy() for argument in arguments]
    solve(near, problem, 1e-4, Options(sparse_output=True))
    for argument, copy in zip(arguments, copies, strict=True):
        assert_array_equal(argument, copy)


def test_any_layout_of_the_arguments_serves(problem):
    near = neighbours_of(problem, 5)
    expected = solve(near, problem, 1e-4, Options()).codes
    strange = (near.indices.astype(np.int32), near.cross, problem.gram)
    indices, cross, gram = (np.asfortranarray(array) for array in strange)
    other = Neighbours(indices, cross, near.self_similarity)
    same = problem.self_similarity, problem.cross
    assert_array_equal(solve(other, CodingProblem(*same, gram), 1e-4, Options()).codes, expected)


def test_float32_codes_are_close(problem):
    coarse = local_codes(problem.astype(np.float32), 5, 1e-3)
    assert_allclose(coarse, local_codes(problem, 5, 1e-3), atol=1e-3)


def test_compiled_code_is_plain_python():
    script = """
        import numpy as np
        from kernelcoding.problem import CodingProblem, Neighbours
        from kernelcoding.selection import smallest
        from kernelcoding.solvers.local import solve
        from kernelcoding.solvers.result import Options
        rng = np.random.default_rng(0)
        atoms, samples = rng.normal(size=(70, 3)), rng.normal(size=(4, 3))
        atoms[7], samples[1] = atoms[3], atoms[3]
        cross, gram = samples @ atoms.T, atoms @ atoms.T
        indices = smallest(np.diag(gram) - 2 * cross, 6)
        distances = ((samples[:, None] - atoms) ** 2).sum(axis=2)
        print(indices.tolist(), smallest(distances.astype(np.float32), 40).tolist())
        own, local = (samples**2).sum(axis=1), np.take_along_axis(cross, indices, axis=1)
        near, problem = Neighbours(indices, local, own), CodingProblem(own, cross, gram)
        for regularization in (0.0, 1e-4):
            codes = solve(near, problem, regularization, Options()).codes
            print(codes.round(2).tolist())
    """
    outputs = [run_python(script, "1"), run_here(script)]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 3
