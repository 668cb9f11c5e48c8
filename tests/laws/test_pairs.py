"""Every prior with every constraint, against cvxpy, brute force and itself."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from helpers import cases
from helpers.cases import CONSTRAINTS, PAIRS, PRIORS, Absolute, case, solve
from kernelcoding import constraints, priors
from kernelcoding.certificates import certify
from kernelcoding.constraints import AtMost, Free, OneAtom, Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.formulations.penalised import TABLE
from kernelcoding.penalty import Penalty
from kernelcoding.priors import L1, GroupL1, LocalCoordinate, NoPrior, Ridge, WeightedL1
from kernelcoding.problem import CodingProblem

SETTINGS = [("gaussian", 0.001)] + [(name, 0.05) for name in cases.PROBLEMS]


def assert_feasible(constraint, codes, tolerance=1e-9):
    name = type(constraint).__name__
    assert np.all(np.isfinite(codes))
    if name in ("NonNegative", "Simplex"):
        assert codes.min() >= 0.0
    if name in ("SumToOne", "Simplex"):
        assert_allclose(codes.sum(axis=1), 1.0, atol=tolerance)


def test_the_lists_of_these_tests_are_complete():
    built_in = {getattr(priors, name) for name in priors.__all__} - {
        priors.Prior,
        priors.CustomPrior,
    }
    assert {type(prior) for prior in PRIORS.values()} == built_in
    convex = {
        kind
        for kind in (getattr(constraints, name) for name in constraints.__all__)
        if kind.is_convex and kind is not constraints.Constraint
    }
    assert {type(constraint) for constraint in CONSTRAINTS.values()} == convex
    for prior in PRIORS.values():
        assert convex | {OneAtom} <= set(TABLE[prior.kind])


@pytest.mark.parametrize(("problem_name", "alpha"), SETTINGS)
@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_codes_are_optimal(prior, constraint, problem_name, alpha):
    given = case(problem_name, prior, constraint, alpha)
    result = solve(given.problem, given.formulation)
    assert result.converged.all()
    assert_feasible(given.formulation.constraint, result.codes)
    reached = given.objective(result.codes)
    assert np.all(np.abs(reached - given.optimum) <= 1e-7 * given.scale)
    # The library's own objective is the same function.
    assert_allclose(
        given.formulation.objective(given.problem, result.codes), reached, rtol=0, atol=1e-12
    )
    gaps = given.formulation.gap(given.problem, result.codes)
    assert np.all(gaps <= 1e-6 * given.scale)
    penalty = given.formulation.penalty(given.problem)
    judged = certify(given.problem, penalty, given.formulation.constraint, result.codes)
    assert_array_equal(judged, gaps)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_codes_do_not_depend_on_their_neighbours(prior, constraint, rng):
    problem = cases.gaussian_problem(rng, gamma=1.0, n_features=4, n_samples=9)
    formulation = Penalised(PRIORS[prior], CONSTRAINTS[constraint], 0.02)
    together = solve(problem, formulation).codes
    order = rng.permutation(9)
    assert_allclose(solve(problem.take(order), formulation).codes, together[order], atol=1e-9)
    for row in (0, 4, 8):
        alone = solve(problem.take(slice(row, row + 1)), formulation).codes
        assert_allclose(alone[0], together[row], atol=1e-9)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_sparse_codes_and_threads_change_nothing(prior, constraint, rng):
    problem = cases.gaussian_problem(rng, gamma=1.0, n_features=4, n_samples=5)
    formulation = Penalised(PRIORS[prior], CONSTRAINTS[constraint], 0.02)
    dense = solve(problem, formulation)
    compact = solve(problem, formulation, sparse_output=True, n_jobs=2)
    assert isinstance(compact.codes, sparse.csr_array)
    assert_allclose(compact.codes.toarray(), dense.codes, atol=1e-12)
    gaps = formulation.gap(problem, dense.codes)
    assert_allclose(formulation.gap(problem, compact.codes), gaps, atol=1e-12)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_single_precision_is_kept_and_nearly_as_good(prior, constraint):
    given = case("regular", prior, constraint)
    single = given.problem.astype(np.float32)
    result = solve(single, given.formulation)
    assert result.codes.dtype == np.float32
    codes = result.codes.astype(np.float64)
    assert_feasible(given.formulation.constraint, codes, tolerance=1e-5)
    assert np.all(given.objective(codes) - given.optimum <= 1e-5 * given.scale)
    assert np.all(given.formulation.gap(single, result.codes) <= 1e-4 * given.scale)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_no_samples_give_no_codes(prior, constraint):
    problem = cases.problem("gaussian").take(slice(0, 0))
    formulation = Penalised(PRIORS[prior], CONSTRAINTS[constraint], 0.02)
    assert solve(problem, formulation).codes.shape == (0, problem.n_atoms)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_samples_unlike_every_atom_are_coded_all_the_same(prior, constraint):
    # No correlation to be a fraction of; the second sample is zero itself.
    gram = cases.problem("regular").gram
    problem = CodingProblem(np.array([1.0, 0.0]), np.zeros((2, 14)), gram)
    formulation = Penalised(PRIORS[prior], CONSTRAINTS[constraint], 0.05)
    values, _ = cases.convex.optimum(problem, formulation.prior, formulation.constraint, 0.05)
    result = solve(problem, formulation)
    assert result.converged.all()
    assert_allclose(formulation.objective(problem, result.codes), values, atol=1e-7)
    assert np.all(formulation.gap(problem, result.codes) <= 1e-6)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("prior", ["L1", "WeightedL1", "GroupL1", "Locality", "LocalCoordinate"])
def test_without_weight_a_prior_is_no_prior(prior, constraint):
    given = case("low rank", "NoPrior", constraint)
    formulation = Penalised(PRIORS[prior], CONSTRAINTS[constraint], 0.0)
    result = solve(given.problem, formulation)
    assert_feasible(formulation.constraint, result.codes)
    assert np.all(given.objective(result.codes) - given.optimum <= 1e-7 * given.scale)


# One atom ----------------------------------------------------------------------------------


@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
@pytest.mark.parametrize("prior", PRIORS)
def test_one_atom_is_the_best_of_all(prior, problem_name):
    problem, alpha = cases.problem(problem_name), 0.3
    given = cases.Case(problem, Penalised(PRIORS[prior], OneAtom(), alpha), None, None)
    tried = np.array(
        [given.objective(np.tile(unit, (problem.n_samples, 1))) for unit in np.eye(14)]
    )
    result = solve(problem, given.formulation)
    assert_array_equal(np.sort(result.codes, axis=1)[:, -2:], [[0.0, 1.0]] * problem.n_samples)
    assert_allclose(given.objective(result.codes), tried.min(axis=0), atol=1e-14)
    # The certificate of an atom is its true distance from the best, and what rounding may hide.
    assert np.all(given.formulation.gap(problem, result.codes) <= 1e-11)
    for atom in range(0, 14, 3):
        code = np.tile(np.eye(14)[atom], (problem.n_samples, 1))
        gaps = given.formulation.gap(problem, code)
        assert_allclose(gaps, tried[atom] - tried.min(axis=0), atol=1e-11)
    # Neither two atoms, nor one of another weight, nor none is allowed.
    for wrong in (0.5 * code + 0.5 * np.eye(14)[1], 2.0 * code, 0.0 * code, np.nan * code):
        assert np.all(np.isinf(given.formulation.gap(problem, wrong)))


def test_one_atom_for_a_prior_of_your_own():
    problem = cases.problem("regular")
    formulation = Penalised(Absolute(), OneAtom(), 0.3)
    own = solve(problem, formulation).codes
    assert_array_equal(own, solve(problem, Penalised(L1(), OneAtom(), 0.3)).codes)
    assert_allclose(formulation.gap(problem, own), 0.0, atol=1e-11)


def test_hard_assignment_is_the_nearest_atom_in_feature_space(rng):
    atoms, samples = rng.normal(size=(9, 4)), rng.normal(size=(20, 4))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    nearest = ((samples[:, None] - atoms[None]) ** 2).sum(-1).argmin(axis=1)
    codes = solve(problem, Penalised(NoPrior(), OneAtom())).codes
    assert_array_equal(codes.argmax(axis=1), nearest)


# At most n atoms ---------------------------------------------------------------------------


def best_support(problem, row, n_nonzero):
    """Least half squared error over all supports, by trying each."""
    values = []
    for support in combinations(range(problem.n_atoms), n_nonzero):
        chosen = list(support)
        gram, cross = problem.gram[np.ix_(chosen, chosen)], problem.cross[row, chosen]
        weights = np.linalg.lstsq(gram, cross, rcond=1e-12)[0]
        error = problem.self_similarity[row] - 2 * cross @ weights + weights @ gram @ weights
        values.append(0.5 * error)
    return min(values)


@pytest.mark.parametrize("selection", ["omp", "ols"])
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_at_most_n_atoms_is_bounded_by_its_certificate(problem_name, selection, rng):
    problem = cases.problem(problem_name)
    for n_nonzero in (1, 3):
        formulation = Penalised(NoPrior(), AtMost(n_nonzero, selection))
        best = np.array([best_support(problem, row, n_nonzero) for row in range(3)])
        result = solve(problem, formulation)
        assert np.count_nonzero(result.codes, axis=1).max() <= n_nonzero
        error = formulation.objective(problem, result.codes) - best
        assert np.all(error >= -1e-12)
        gaps = formulation.gap(problem, result.codes)
        assert np.all(gaps >= error - 1e-12)
        # The objective itself, but for rounding errors of large codes.
        assert np.all(gaps <= formulation.objective(problem, result.codes) + 1e-10)
        other = formulation.constraint.project(rng.normal(size=result.codes.shape))
        true = formulation.objective(problem, other) - best
        assert np.all(formulation.gap(problem, other) >= true - 1e-12)
        dense = np.ones_like(result.codes)
        assert np.all(np.isinf(formulation.gap(problem, dense)))
        assert np.all(np.isinf(formulation.gap(problem, np.nan * dense)))


def test_at_most_one_atom_is_the_best_single_atom():
    problem = cases.problem("regular")
    best = [best_support(problem, row, 1) for row in range(3)]
    formulation = Penalised(NoPrior(), AtMost(1))
    codes = solve(problem, formulation).codes
    assert_allclose(formulation.objective(problem, codes), best, atol=1e-12)


# What is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [name for name in PRIORS if name != "NoPrior"])
def test_greedy_coding_takes_no_prior(prior):
    name = type(PRIORS[prior]).__name__
    message = (
        rf"No solver handles prior={name} with constraint=AtMost: .*"
        rf"Use prior=NoPrior\(\) with AtMost, or constraint=Free\(\) with prior={name}"
    )
    with pytest.raises(ValueError, match=message):
        solve(cases.problem("regular"), Penalised(PRIORS[prior], AtMost(3)))


def test_greedy_coding_takes_no_prior_of_your_own():
    with pytest.raises(ValueError, match=r"Use prior=NoPrior\(\) with AtMost"):
        _ = Penalised(Absolute(), AtMost(3)).solver


@pytest.mark.parametrize("constraint", ["simplex", None, Simplex, 3])
def test_a_constraint_must_be_one(constraint):
    with pytest.raises(
        ValueError, match=r"constraint must be one of kernelcoding.constraints, got"
    ):
        _ = Penalised(L1(), constraint).solver


class OnlyValue:
    def value(self, codes):
        return codes.sum(axis=1)


@pytest.mark.parametrize("prior", ["l1", None, L1, Absolute, OnlyValue(), 1.0])
def test_a_prior_must_be_one(prior):
    message = r"prior must be one of kernelcoding.priors or an object with methods value\(codes\)"
    with pytest.raises(ValueError, match=message):
        _ = Penalised(prior, Free()).solver


def test_a_set_of_your_own_is_refused_by_name():
    class Halfspace(constraints.Constraint):
        pass

    with pytest.raises(
        ValueError, match=r"constraint=Halfspace.*may be: Free\(\), NonNegative\(\)"
    ):
        _ = Penalised(L1(), Halfspace()).solver


def test_a_custom_prior_is_its_value_and_its_proximal_map(rng):
    formulation, points = Penalised(Absolute(), Free(), 0.3), rng.normal(size=(3, 14))
    assert formulation.kind == "custom"
    penalty = formulation.penalty(cases.problem("regular"))
    assert not isinstance(penalty, Penalty)  # it has no numbers
    assert_allclose(penalty.value(points), 0.3 * np.abs(points).sum(axis=1))
    assert_array_equal(penalty.value(sparse.csr_array(points)), penalty.value(points))
    shrunk = np.sign(points) * np.maximum(np.abs(points) - 0.6, 0.0)
    assert_allclose(penalty.prox(points, 2.0), shrunk, atol=1e-15)
    assert_allclose(penalty.of_single_atoms(14), 0.3)


# Limits in which one formulation becomes another --------------------------------------------


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_equal_priors_give_equal_codes(constraint):
    problem, constraint = cases.problem("regular"), CONSTRAINTS[constraint]
    singles, ones = np.arange(14), np.ones(14)
    equals = [
        [L1(), WeightedL1(ones), priors.ElasticNet(1.0), priors.SparseGroupL1(singles, 1.0)],
        [L1(), GroupL1(singles), priors.SparseGroupL1(singles, 0.4)],
        [Ridge(), priors.ElasticNet(0.0)],
        [GroupL1(cases.LABELS), priors.SparseGroupL1(cases.LABELS, 0.0)],
        [WeightedL1(cases.WEIGHTS), GroupL1(singles, cases.WEIGHTS)],
    ]
    for first, *others in equals:
        expected = solve(problem, Penalised(first, constraint, 0.05), tol=1e-9).codes
        for other in others:
            codes = solve(problem, Penalised(other, constraint, 0.05), tol=1e-9).codes
            assert_allclose(codes, expected, atol=1e-7)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_locality_without_growth_is_a_ridge(constraint):
    # As sigma falls to zero every price is one: alpha |y|^2 = 2 alpha * |y|^2 / 2.
    problem, constraint = cases.problem("gaussian"), CONSTRAINTS[constraint]
    local = solve(problem, Penalised(priors.Locality(1e-12), constraint, 0.05)).codes
    ridge = solve(problem, Penalised(Ridge(), constraint, 0.1)).codes
    assert_allclose(local, ridge, atol=1e-8)


def test_a_long_price_list_gives_nothing():
    problem = cases.problem("regular")
    enough = np.abs(problem.cross).max()
    assert not solve(problem, Penalised(L1(), Free(), 1.0001 * enough)).codes.any()
    assert solve(problem, Penalised(L1(), Free(), 0.9999 * enough)).codes.any()
    norms = np.sqrt(
        [(problem.cross[:, g == cases.LABELS] ** 2).mean(axis=1) for g in "abcde"]
    )  # the default weight is the root of the size
    assert not solve(
        problem, Penalised(GroupL1(cases.LABELS), Free(), 1.0001 * norms.max())
    ).codes.any()
    assert solve(
        problem, Penalised(GroupL1(cases.LABELS), Free(), 0.9999 * norms.max())
    ).codes.any()


def test_local_coordinates_of_an_atom_are_that_atom():
    problem = cases.problem("regular")
    own = CodingProblem(np.diag(problem.gram), problem.gram, problem.gram)
    for constraint in (SumToOne(), Simplex()):
        codes = solve(own, Penalised(LocalCoordinate(), constraint, 0.1)).codes
        assert_allclose(codes, np.eye(14), atol=1e-7)
