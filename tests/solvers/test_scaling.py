"""Numbers of very different size: penalties against similarities, and norms of atoms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls

from helpers import cases
from helpers.cases import solve
from kernelcoding.constraints import Free, NonNegative, Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.gram import GramFacts
from kernelcoding.priors import (
    L1,
    ElasticNet,
    GroupL1,
    LocalCoordinate,
    NoPrior,
    Ridge,
    SparseGroupL1,
    WeightedL1,
)
from kernelcoding.problem import CodingProblem


def linear(atoms, samples):
    return CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)


def decades(rng):
    """Atoms whose norms span seven decades."""
    atoms = rng.standard_normal((6, 8)) * 10.0 ** rng.uniform(-7, 0, size=(6, 1))
    return atoms, rng.standard_normal((3, 8))


# Penalties large against similarities ------------------------------------------------------

PENALISING = [L1(), WeightedL1([1, 1, 1, 2, 2, 3]), ElasticNet(1 - 1e-9), LocalCoordinate()]


@pytest.mark.parametrize("alpha", [1.0, 1e3, 1e6, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("constraint", [SumToOne(), Simplex()], ids=repr)
@pytest.mark.parametrize("prior", PENALISING, ids=lambda prior: type(prior).__name__)
def test_codes_sum_to_one_whatever_the_penalty(prior, constraint, alpha, rng):
    problem = linear(1e-3 * rng.standard_normal((6, 4)), 1e-3 * rng.standard_normal((5, 4)))
    formulation = Penalised(prior, constraint, alpha)
    result = solve(problem, formulation)
    assert result.converged.all()
    assert_allclose(result.codes.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    if constraint.nonnegative:
        assert result.codes.min() >= 0.0
    values = formulation.objective(problem, result.codes)
    assert np.all(formulation.gap(problem, result.codes) <= 1e-5 * values)


@pytest.mark.parametrize("constraint", [SumToOne(), Simplex()], ids=repr)
def test_a_penalty_that_all_atoms_share_changes_nothing(constraint, rng):
    # Codes that sum to one and are not negative pay it once, whatever they are.
    problem = cases.linear_problem(rng, 20)
    free = solve(problem, Penalised(NoPrior(), Simplex()), tol=1e-12).codes
    for alpha in (1e2, 1e4):
        penalised = solve(problem, Penalised(L1(), constraint, alpha), tol=1e-16).codes
        assert_allclose(penalised, free, atol=1e-9)


# Norms over many decades -------------------------------------------------------------------


def test_a_sample_that_is_a_small_atom_is_coded_by_it():
    # The atom has no penalty then, and the largest correlation is that of a longer atom.
    atoms = np.array([[0.0544], [-0.0174], [-0.0091]])
    problem = linear(atoms, atoms)
    formulation = Penalised(LocalCoordinate(), NonNegative(), 1.27e-6)
    result = solve(problem, formulation, tol=1e-7)
    assert result.converged.all()
    # Nothing is lost at the optimum: a code of one atom reproduces the sample without penalty.
    assert np.all(formulation.objective(problem, result.codes) <= 2e-7 * problem.self_similarity)


@pytest.mark.parametrize("ridge", [0.0, 1e-12, 1e-6])
def test_small_atoms_are_not_overlooked(ridge, rng):
    for _ in range(20):
        atoms, samples = decades(rng)
        problem = linear(atoms, samples)
        prior = Ridge() if ridge else NoPrior()
        result = solve(problem, Penalised(prior, NonNegative(), ridge or 1.0))
        assert result.converged.all()
        # Columns of unit norm: the reference must not overlook them either.
        system = np.vstack([atoms.T, np.sqrt(ridge) * np.eye(6)])
        norms = np.linalg.norm(system, axis=0)
        for sample, code in zip(samples, result.codes, strict=True):
            target = np.append(sample, np.zeros(6))
            _, distance = nnls(system / norms, target)
            assert_allclose(np.linalg.norm(system @ code - target), distance, rtol=1e-5)


def test_small_atoms_span_as_much_as_large_ones(rng):
    atoms, samples = decades(rng)
    atoms *= 10.0 ** np.linspace(-7, 0, 6)[:, None]
    codes = solve(linear(atoms, samples), Penalised(NoPrior(), Free())).codes
    units = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    expected = np.linalg.lstsq(units.T, samples.T, rcond=None)[0].T @ units
    assert_allclose(codes @ atoms, expected, atol=1e-10)


@pytest.mark.parametrize("constraint", [Free(), NonNegative()], ids=repr)
@pytest.mark.parametrize("compact", [False, True])
def test_scaled_codes_keep_form_precision_and_start(compact, constraint, rng):
    problem = linear(*decades(rng))
    formulation = Penalised(L1(), constraint, 1e-8)
    codes = solve(problem, formulation, tol=1e-10).codes
    start = sparse.csr_array(codes) if compact else codes
    again = solve(problem, formulation, tol=1e-10, sparse_output=compact, start=start)
    assert sparse.issparse(again.codes) is compact
    assert again.n_iter.max() <= 2
    dense = again.codes.toarray() if compact else again.codes
    assert_allclose(dense * np.sqrt(np.diag(problem.gram)), codes * np.sqrt(np.diag(problem.gram)))
    single = solve(problem.astype(np.float32), formulation).codes
    assert single.dtype == np.float32


def test_similar_norms_are_left_alone(rng):
    norms = np.array([0.1, 1.0, 9.0])
    assert GramFacts(np.diag(norms**2)).equilibration is None
    assert GramFacts(np.zeros((2, 2))).equilibration is None
    scale = GramFacts(np.diag([1e-8, 0.0, 1.0])).equilibration
    assert_array_equal(np.frexp(scale)[0], 0.5)  # powers of two
    assert_allclose(scale * [1e-4, 1.0, 1.0], [1.0, 1.0, 1.0], rtol=0.5)


@pytest.mark.parametrize("constraint", [Free(), NonNegative()], ids=repr)
@pytest.mark.parametrize("ratio", [None, 0.3])
def test_groups_of_atoms_over_many_decades(constraint, ratio, rng):
    groups, weights = [0, 0, 1, 1, 2, 2], [0.0, 1.0, 0.0]
    for seed in range(20):
        problem = linear(*decades(np.random.default_rng(seed)))
        prior = GroupL1(groups, weights) if ratio is None else SparseGroupL1(groups, ratio, weights)
        formulation = Penalised(prior, constraint, 0.01)
        result = solve(problem, formulation, tol=1e-8)
        values = formulation.objective(problem, result.codes)
        # Within the tolerance of a penalty, codes of atoms of norm 1e-7 may differ much.
        assert np.all(formulation.gap(problem, result.codes) <= 1e-3 * values)
        assert result.converged.all()


def test_prices_of_groups_follow_their_atoms(rng):
    # One atom in each group: the norm of a group is the modulus of a code.
    problem = linear(*decades(rng))
    weights = rng.uniform(0.1, 1.0, 6)
    grouped = solve(problem, Penalised(GroupL1(np.arange(6), weights), Free(), 1e-3), tol=1e-10)
    plain = solve(problem, Penalised(WeightedL1(weights), Free(), 1e-3), tol=1e-10)
    assert_allclose(grouped.codes, plain.codes, rtol=1e-6)


def test_simplex_codes_of_small_atoms_beside_a_large_one():
    # The best codes use the small atoms; next to the large one, all they can do looks small.
    atoms = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1e6, 0.0, 1e6]])
    problem = linear(atoms, np.array([[1.0, 0.25, 0.0]]))
    for prior in (NoPrior(), GroupL1([0, 1, 2], [0.0, 0.0, 0.0])):
        result = solve(problem, Penalised(prior, Simplex()), tol=1e-5)
        assert_allclose(result.codes, [[0.625, 0.375, 0.0]], atol=1e-4)


# An origin far away ------------------------------------------------------------------------


def polytope(rng, far):
    """Problems of atoms around a point far from the origin, and the same around the origin."""
    atoms, samples = rng.standard_normal((40, 5)), 0.7 * rng.standard_normal((10, 5))
    return linear(atoms + far, samples + far), linear(atoms, samples)


@pytest.mark.parametrize("far", [100.0, 1000.0, 10000.0])
@pytest.mark.parametrize(
    "prior",
    [NoPrior(), GroupL1(np.arange(40) // 4, np.zeros(10))],
    ids=lambda prior: type(prior).__name__,
)
def test_codes_on_the_simplex_do_not_notice_the_origin(prior, far, rng):
    problem, near = polytope(rng, far)
    formulation = Penalised(prior, Simplex())
    result = solve(problem, formulation, tol=1e-6)
    assert result.converged.all()
    best = formulation.objective(near, solve(near, formulation, tol=1e-12).codes)
    assert_allclose(formulation.objective(near, result.codes), best, atol=1e-6)


@pytest.mark.parametrize("gamma", [1e-4, 1e-7, 1e-10])
def test_very_wide_gaussians_are_coded_on_the_simplex_as_vectors_are(gamma, rng):
    # Distances in H become those of the vectors times the square root of two gamma.
    atoms, samples = rng.standard_normal((30, 4)), 0.7 * rng.standard_normal((10, 4))
    problem = CodingProblem(
        np.ones(10), cases.gaussian(samples, atoms, gamma), cases.gaussian(atoms, atoms, gamma)
    )
    plain, formulation = linear(atoms, samples), Penalised(NoPrior(), Simplex())
    found = formulation.objective(plain, solve(problem, formulation, tol=1e-6).codes)
    best = formulation.objective(plain, solve(plain, formulation, tol=1e-12).codes)
    assert np.all(found <= best + 1e2 * gamma + 1e-4)


# Batches -----------------------------------------------------------------------------------

FEW_FREE = [
    NoPrior(),
    WeightedL1(np.repeat([0.0, 1.0], [5, 35])),
    SparseGroupL1(np.arange(40) // 4),
    LocalCoordinate(),
]


@pytest.mark.parametrize("constraint", [Free(), NonNegative(), SumToOne(), Simplex()], ids=repr)
@pytest.mark.parametrize("prior", FEW_FREE, ids=lambda prior: type(prior).__name__)
def test_the_tolerance_of_a_code_is_its_own(prior, constraint, rng):
    """Whatever the others of a batch are: far from all atoms, or one of them."""
    if isinstance(prior, NoPrior) and not constraint.nonnegative:
        pytest.skip("a linear system, without a tolerance")
    formulation = Penalised(prior, constraint, 0.1)
    for far, binary in ((0, 0), (50, 0), (0, 4)):
        atoms = (far + rng.integers(-8, 9, (40, 6))) * 2.0 ** rng.integers(-binary, 1, (40, 1))
        samples = np.vstack([far + rng.integers(-8, 9, (6, 6)), atoms[:2]])
        problem = linear(atoms, samples)  # exact, in a batch or alone
        together = solve(problem, formulation, tol=1e-2).codes
        alone = [solve(problem.take([row]), formulation, tol=1e-2).codes for row in range(8)]
        assert_array_equal(together, np.vstack(alone))
