"""The judge is honest: never below the true distance from an optimum that cvxpy found."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from helpers import cases
from helpers.cases import CONSTRAINTS, PAIRS, PRIORS, Absolute, Case, case
from kernelcoding.constraints import Free, NonNegative, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import L1, GroupL1, NoPrior, Ridge, SparseGroupL1, WeightedL1
from kernelcoding.problem import CodingProblem

SIZES = (1e-2, 1e-4, 1e-6)


def distance(given, codes):
    """How far codes are from optimal, in units of the objective's scale."""
    return (given.objective(codes) - given.optimum) / given.scale


def judged(given, codes):
    return given.formulation.gap(given.problem, codes) / given.scale


def rounding(problem, codes):
    """What rounding may do to the objective of codes: some last places of its largest term."""
    norms = np.sqrt(np.diag(problem.gram))
    return 1e-13 * (np.sqrt(problem.self_similarity) + np.abs(codes) @ norms) ** 2


def far_codes(given, rng):
    """Feasible codes that nobody would call optimal."""
    shape = given.optimal_codes.shape
    for points in (np.zeros(shape), rng.normal(size=shape), 10.0 * rng.normal(size=shape)):
        yield given.formulation.constraint.project(points)
    yield np.eye(shape[1])[: shape[0]]
    yield given.formulation.constraint.project(np.full(shape, 1.0 / shape[1]))


@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_a_certificate_is_an_upper_bound_that_vanishes(prior, constraint, problem_name, rng):
    given = case(problem_name, prior, constraint)
    for codes in far_codes(given, rng):
        gaps = judged(given, codes)
        assert np.all(gaps >= distance(given, codes) - 1e-9)
        assert np.all(gaps * given.scale <= given.objective(codes) + rounding(given.problem, codes))
    sizes = []
    for size in SIZES:
        noise = size * rng.normal(size=given.optimal_codes.shape)
        codes = given.formulation.constraint.project(given.optimal_codes + noise)
        gaps = judged(given, codes)
        assert np.all(gaps >= distance(given, codes) - 1e-9)
        sizes.append(gaps.max())
    # In proportion to the error of the codes at worst, times curvature over price.
    assert sizes[1] <= 200 * SIZES[1]
    assert sizes[2] <= 200 * SIZES[2]


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_a_small_weight_does_not_make_it_dishonest(prior, constraint, rng):
    given = case("gaussian", prior, constraint, 0.001)
    for codes in far_codes(given, rng):
        assert np.all(judged(given, codes) >= distance(given, codes) - 1e-9)
    for size in SIZES:
        noise = size * rng.normal(size=given.optimal_codes.shape)
        codes = given.formulation.constraint.project(given.optimal_codes + noise)
        assert np.all(judged(given, codes) >= distance(given, codes) - 1e-9)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_units_do_not_matter(prior, constraint, factor, rng):
    # The kernel in other units and alpha with it (the locality prices rescale by themselves, the
    # ridge of y has no unit): the certificate is in units of the kernel.
    given = case("regular", prior, constraint)
    scaled = CodingProblem(
        factor * given.problem.self_similarity,
        factor * given.problem.cross,
        factor * given.problem.gram,
    )
    weight = 1.0 if prior == "LocalCoordinate" else factor
    formulation = replace(given.formulation, alpha=weight * given.formulation.alpha)
    noise = 1e-3 * rng.normal(size=given.optimal_codes.shape)
    codes = formulation.constraint.project(given.optimal_codes + noise)
    expected = factor * given.formulation.gap(given.problem, codes)
    assert_allclose(formulation.gap(scaled, codes), expected, rtol=1e-6, atol=1e-12 * factor)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_forbidden_codes_have_no_bound(prior, constraint):
    given = case("regular", prior, constraint)
    formulation, problem = given.formulation, given.problem
    optimal = formulation.constraint.project(given.optimal_codes)
    for bad in (np.nan, np.inf, -np.inf):
        codes = optimal.copy()
        codes[1, 3] = bad
        gaps = formulation.gap(problem, codes)
        assert np.isinf(gaps[1])
        assert np.all(gaps[[0, 2]] < 1e-4)
    opposite = optimal.copy()
    opposite[1, 3:5] = np.inf, -np.inf
    assert np.isinf(formulation.gap(problem, opposite)[1])
    if formulation.constraint.nonnegative:
        codes = optimal.copy()
        codes[1, 3] = -1e-3
        assert np.isinf(formulation.gap(problem, codes)[1])
    if formulation.constraint.sum_to_one:
        assert np.all(np.isinf(formulation.gap(problem, 1.001 * optimal)))
        assert np.all(np.isinf(formulation.gap(problem, 0.0 * optimal)))


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_the_form_of_the_codes_does_not_matter(prior, constraint, rng):
    given = case("gaussian", prior, constraint)
    noise = 1e-2 * rng.normal(size=given.optimal_codes.shape) * (given.optimal_codes > 1e-6)
    codes = given.formulation.constraint.project(given.optimal_codes + noise)
    dense = given.formulation.gap(given.problem, codes)
    compact = given.formulation.gap(given.problem, sparse.csr_array(codes))
    assert_allclose(compact, dense, rtol=1e-12)
    for row in range(len(codes)):
        part = given.problem.take(slice(row, row + 1))
        alone = given.formulation.gap(part, codes[row : row + 1])
        assert_allclose(alone, dense[row], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("prior", "constraint"), PAIRS)
def test_single_precision_is_judged_in_double(prior, constraint):
    given = case("regular", prior, constraint)
    codes = given.formulation.constraint.project(given.optimal_codes).astype(np.float32)
    gaps = given.formulation.gap(given.problem.astype(np.float32), codes)
    assert gaps.dtype == np.float64
    assert np.all(gaps <= 1e-4 * given.scale)
    assert np.all(gaps / given.scale >= distance(given, codes.astype(np.float64)) - 1e-6)


def test_a_sample_that_free_atoms_explain_exactly(rng):
    # The residual of the dual point is all rounding there: scaled up it once gave 0.35 for 0.5.
    given = case("gaussian", "GroupL1, free group", "Free")
    zero = np.zeros_like(given.optimal_codes)
    assert np.all(judged(given, zero) >= distance(given, zero) - 1e-9)


def test_price_lists_of_one_atom_with_a_sum(rng):
    # One free atom fixes the multiplier; the others must not override it.
    problem = cases.problem("regular")
    weights = np.ones(14)
    weights[2] = 0.0
    prior, constraint = WeightedL1(weights), SumToOne()
    values, codes = cases.convex.optimum(problem, prior, constraint, 0.05)
    given = Case(problem, Penalised(prior, constraint, 0.05), values, codes)
    for size in SIZES:
        moved = constraint.project(codes + size * rng.normal(size=codes.shape))
        assert np.all(judged(given, moved) >= distance(given, moved) - 1e-9)
        assert np.all(judged(given, moved) <= 20 * size)


@pytest.mark.parametrize("gamma", [3.0, 0.3, 0.02])
def test_nonnegative_least_squares_on_a_gaussian_gram(gamma, rng):
    problem = cases.gaussian_problem(rng, gamma=gamma)
    values, codes = cases.convex.optimum(problem, NoPrior(), NonNegative(), 1.0)
    given = Case(problem, Penalised(NoPrior(), NonNegative()), values, codes)
    for size in SIZES:
        moved = np.maximum(codes + size * rng.normal(size=codes.shape), 0.0)
        assert np.all(judged(given, moved) >= distance(given, moved) - 1e-9)
        assert np.all(judged(given, moved) <= 100 * size)


def test_nonnegative_least_squares_with_more_atoms_than_features(rng):
    # No vector is equally similar to all atoms, but all of them lie in one orthant.
    atoms = rng.uniform(size=(14, 4)) * rng.lognormal(sigma=1.5, size=(14, 1))
    samples = rng.normal(size=(3, 4)) + 0.5
    assert np.any(atoms @ np.linalg.pinv(atoms) @ np.ones(14) < 0.0)
    problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    values, codes = cases.convex.optimum(problem, NoPrior(), NonNegative(), 1.0)
    assert values.max() > 0.01
    given = Case(problem, Penalised(NoPrior(), NonNegative()), values, codes)
    for size in SIZES:
        moved = np.maximum(codes + size * rng.normal(size=codes.shape), 0.0)
        assert np.all(judged(given, moved) >= distance(given, moved) - 1e-9)
        assert np.all(judged(given, moved) <= 100 * size)


@pytest.mark.parametrize("prior", ["Ridge", "ElasticNet", "Locality"])
def test_codes_that_sum_to_one_may_be_large(prior):
    # Far beyond an atom: coefficients above one, others as far below zero.
    given = cases.problem("regular")
    weights = np.zeros((1, 14))
    weights[0, :3] = 5.0, -5.0, 1.0
    own = np.einsum("ij,jk,ik->i", weights, given.gram, weights)
    problem = CodingProblem(own, weights @ given.gram, given.gram)
    formulation = Penalised(PRIORS[prior], SumToOne(), 0.01)
    _, codes = cases.convex.optimum(problem, formulation.prior, SumToOne(), 0.01)
    assert codes.max() > 2.0
    assert np.all(formulation.gap(problem, codes) <= 1e-6)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=repr)
def test_a_numerically_singular_gram_is_not_an_excuse(constraint, rng):
    # Eigenvalues below rounding: the optimum is uncertain, the bound must stay above it.
    problem = cases.gaussian_problem(rng, gamma=0.01, n_features=1)
    values, codes = cases.convex.optimum(problem, NoPrior(), constraint, 1.0)
    given = Case(problem, Penalised(NoPrior(), constraint), values, codes)
    for tried in far_codes(given, rng):
        assert np.all(judged(given, tried) >= distance(given, tried) - 1e-9)


def test_a_zero_sample_needs_a_zero_code():
    gram = np.eye(4)
    problem = CodingProblem(np.zeros(1), np.zeros((1, 4)), gram)
    for prior in (NoPrior(), Ridge(), L1(), GroupL1([0, 0, 1, 1]), SparseGroupL1([0, 0, 1, 1])):
        for constraint in (Free(), NonNegative()):
            gaps = Penalised(prior, constraint, 0.1).gap(problem, np.zeros((1, 4)))
            assert_allclose(gaps, 0.0, atol=1e-15)


def test_a_zero_dictionary_is_judged_without_a_warning():
    problem = CodingProblem(np.ones(1), np.zeros((1, 3)), np.zeros((3, 3)))
    for prior in (NoPrior(), L1(), GroupL1([0, 0, 1])):
        for constraint in CONSTRAINTS.values():
            codes = constraint.project(np.zeros((1, 3)))
            gaps = Penalised(prior, constraint, 0.1).gap(problem, codes)
            assert np.all(gaps <= 0.2)


# A prior of one's own ----------------------------------------------------------------------


@pytest.mark.parametrize("constraint", ["Free", "SumToOne"])
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_the_residual_of_a_custom_prior_vanishes_at_the_optimum_only(problem_name, constraint, rng):
    given = case(problem_name, "L1", constraint)
    formulation = Penalised(Absolute(), CONSTRAINTS[constraint], 0.05)
    optimal = formulation.constraint.project(given.optimal_codes)
    assert np.all(formulation.gap(given.problem, optimal) <= 1e-4)
    residuals = []
    for size in (1e-1, 1e-2, 1e-3):
        codes = formulation.constraint.project(optimal + size * rng.normal(size=optimal.shape))
        residuals.append(formulation.gap(given.problem, codes))
        assert np.all(residuals[-1] > 1e-3 * size)
    assert np.all(residuals[2] < residuals[0])
    assert np.all(np.isinf(formulation.gap(given.problem, np.nan * optimal)))
