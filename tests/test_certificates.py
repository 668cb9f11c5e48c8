"""The judge is honest: never below the true distance from an optimum that cvxpy found."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import entr, logsumexp

import kernelcoding as kc
from helpers import cases
from helpers.cases import CONSTRAINTS, PAIRS, PRIORS, Absolute, Case, case
from kernelcoding.certificates import local_gap, soft_assignment_gap
from kernelcoding.constraints import Free, NonNegative, OneAtom, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import L1, GroupL1, NoPrior, Ridge, SparseGroupL1, WeightedL1
from kernelcoding.problem import CodingProblem, Neighbours
from kernelcoding.solvers.assignment import soft_weights

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


# Approximate LLC ---------------------------------------------------------------------------


def local_objective(problem, row, atoms, weights, regularization):
    """Half of ``y'(C + beta tr(C) I) y``, with C from differences in feature space."""
    ones = np.ones(len(atoms))
    cross = problem.cross[row, atoms]
    centred = problem.gram[np.ix_(atoms, atoms)] - np.outer(cross, ones) - np.outer(ones, cross)
    centred = centred + problem.self_similarity[row]
    curvature = centred + regularization * np.trace(centred) * np.eye(len(atoms))
    return 0.5 * weights @ curvature @ weights, curvature


@pytest.mark.parametrize("regularization", [1e-1, 1e-4, 1e-8])
@pytest.mark.parametrize("problem_name", ["gaussian", "regular"])
def test_the_gap_of_approximate_llc_bounds_the_true_one(problem_name, regularization, rng):
    problem = cases.problem(problem_name)
    indices = np.array([rng.permutation(14)[:4] for _ in range(3)])
    indices[2, 0] = 0  # the last sample may be this atom: keep neighbours distinct
    indices[2, 1:] = [3, 5, 7]
    cross = np.take_along_axis(problem.cross, indices, axis=1)
    near = Neighbours(indices, cross, problem.self_similarity)
    for row in range(3):
        _, curvature = local_objective(problem, row, indices[row], np.ones(4), regularization)
        best = np.linalg.solve(curvature, np.ones(4))
        best /= best.sum()
        least = 0.5 * best @ curvature @ best
        for size in (0.0, 1e-6, 1e-3, 1.0):
            weights = best + size * rng.normal(size=4)
            weights += (1.0 - weights.sum()) / 4
            codes = np.zeros((3, 14))
            np.put_along_axis(codes, indices, weights[None, :], axis=1)
            gap = local_gap(near, problem, regularization, codes)[row]
            value, _ = local_objective(problem, row, indices[row], weights, regularization)
            assert gap >= value - least - 1e-12
            ridge = (
                curvature[0, 0] - local_objective(problem, row, indices[row], weights, 0.0)[1][0, 0]
            )
            assert gap <= 20.0 * size**2 * np.linalg.norm(curvature, 2) ** 2 / ridge + 1e-9
            assert_allclose(
                local_gap(near, problem, regularization, sparse.csr_array(codes))[row], gap
            )


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 0.0), (np.float32, 100.0), (float, 1e7)])
@pytest.mark.parametrize("regularization", [0.0, 1e-8, 1e-4, 1e-2])
def test_the_gap_of_approximate_llc_allows_for_rounding(regularization, dtype, far, rng):
    atoms = (far + rng.normal(size=(5, 6))).astype(dtype)
    samples = (far + 0.8 * rng.normal(size=(20, 6))).astype(dtype)
    samples[0] = atoms[3]
    coder = kc.KernelLLC("linear", n_neighbors=5, regularization=regularization).fit(atoms)
    codes = coder.transform(samples)
    gaps = coder.certify(samples, codes)
    for sample, weights, gap in zip(samples, codes.astype(float), gaps, strict=True):
        apart = atoms.astype(float) - sample.astype(float)
        curvature = apart @ apart.T
        curvature += regularization * np.trace(curvature) * np.eye(5)
        best = np.linalg.lstsq(curvature, np.ones(5), rcond=1e-13)[0]
        best /= best.sum()
        least, found = best @ curvature @ best, weights @ curvature @ weights
        assert gap >= 0.5 * (found - least) - 1e-14


def test_approximate_llc_of_single_samples_and_double_atoms(rng):
    atoms = 1e4 + rng.normal(size=(12, 6))
    samples = (0.5 * (atoms[:10] + atoms[2:])).astype(np.float32)
    coder = kc.KernelLLC("linear", n_neighbors=5).fit(atoms)
    codes = coder.transform(samples)
    assert codes.dtype == np.float32
    assert_allclose(codes, coder.transform(samples.astype(float)), atol=1e-5)


def test_the_gap_of_approximate_llc_knows_the_curvature_of_atoms(rng):
    # Not that of the ridge alone, which would say ten thousand times as much.
    atoms, samples = rng.normal(size=(5, 6)), rng.normal(size=(10, 6))
    coder = kc.KernelLLC("linear", n_neighbors=5, regularization=0.0).fit(atoms)
    codes = coder.transform(samples)
    moved = codes + 1e-3 * np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    errors = [coder.reconstruction_error(samples, given) for given in (codes, moved)]
    lost = 0.5 * (errors[1] - errors[0])
    assert np.all(coder.certify(samples, moved) >= lost)
    assert np.all(coder.certify(samples, moved) <= 1e2 * lost)
    assert coder.certify(samples, codes).max() < 1e-14


def test_the_gap_of_approximate_llc_forbids_what_is_not_allowed():
    problem = cases.problem("regular")
    indices = np.array([[0, 1, 2]] * 3)
    near = Neighbours(indices, problem.cross[:, :3], problem.self_similarity)
    allowed = np.zeros((3, 14))
    allowed[:, :3] = [0.2, 0.3, 0.5]
    assert np.all(np.isfinite(local_gap(near, problem, 1e-4, allowed)))
    wrong = [1.01 * allowed, np.roll(allowed, 1, axis=1), np.full((3, 14), np.nan)]
    endless = allowed.copy()
    endless[:, 0] = np.inf
    for codes in [*wrong, endless]:
        assert np.all(np.isinf(local_gap(near, problem, 1e-4, codes)))
    single = local_gap(near, problem, 1e-4, allowed.astype(np.float32))
    assert_allclose(single, local_gap(near, problem, 1e-4, allowed), rtol=1e-4)


# Soft assignment ---------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
def test_the_gap_of_soft_assignment_is_the_true_one(sigma, rng):
    distances = rng.uniform(0.0, 2.0, size=(4, 6))
    weights = np.exp(-sigma * distances)
    optimal = weights / weights.sum(axis=1, keepdims=True)
    # As k(x, x) - 2 k + K, with the rest zero: minus half the distance is the similarity.
    assert_allclose(soft_weights(-0.5 * distances, np.zeros(6), sigma), optimal)

    def value(codes):
        return 0.5 * (codes * distances).sum(axis=1) - entr(codes).sum(axis=1) / (2 * sigma)

    logs = np.log(optimal)
    for codes in (optimal, rng.dirichlet(np.ones(6), 4), np.eye(6)[:4], np.full((4, 6), 1 / 6)):
        gaps = soft_assignment_gap(logs, codes, sigma)
        assert_allclose(gaps, value(codes) - value(optimal), atol=1e-12)
        assert_allclose(soft_assignment_gap(logs, sparse.csr_array(codes), sigma), gaps)
        single = soft_assignment_gap(logs, codes.astype(np.float32), sigma)
        assert_allclose(single, gaps, atol=1e-5)
    for codes in (1.1 * optimal, optimal - 1e-3 * np.eye(6)[0], np.full((4, 6), np.nan)):
        assert np.all(np.isinf(soft_assignment_gap(logs, codes, sigma)))


def test_soft_assignment_to_atoms_it_does_not_know():
    optimal = np.array([[0.5, 0.5, 0.0]])  # localised: the last atom is no neighbour
    with np.errstate(divide="ignore"):
        gaps = soft_assignment_gap(np.log(optimal), np.array([[0.5, 0.4, 0.1]]), 1.0)
    assert np.all(np.isinf(gaps))


FAR = [(np.float32, 0.0), (np.float32, 100.0), (np.float32, 1e4), (float, 1e7)]


def far_linear(rng, dtype, far):
    """Atoms, samples between pairs of them, and squared distances without rounding."""
    near = rng.normal(size=(12, 6))
    samples = 0.5 * (near[rng.integers(12, size=20)] + near[rng.integers(12, size=20)])
    samples += 0.1 * rng.normal(size=samples.shape)
    atoms, samples = (far + near).astype(dtype), (far + samples).astype(dtype)
    apart = samples.astype(float)[:, None] - atoms.astype(float)
    return atoms, samples, (apart**2).sum(axis=2)


@pytest.mark.parametrize(("dtype", "far"), FAR)
@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_the_gap_of_soft_assignment_allows_for_rounding(n_neighbors, dtype, far, rng):
    atoms, samples, distances = far_linear(rng, dtype, far)
    coder = kc.KernelBagOfWords("linear", sigma=1.0, n_neighbors=n_neighbors).fit(atoms)
    codes = coder.transform(samples)
    gaps = coder.certify(samples, codes)
    used = codes.astype(float)
    value = 0.5 * (used * distances).sum(axis=1) - 0.5 * entr(used).sum(axis=1)
    if n_neighbors is not None:  # which atoms are neighbours is given
        distances = np.where(used > 0, distances, np.inf)
    best = -0.5 * logsumexp(-distances, axis=1)
    assert np.all(gaps >= value - best - 1e-14)
    assert gaps.max() < 2e3 * np.finfo(dtype).eps * (100.0 + far**2)


@pytest.mark.parametrize(("dtype", "far"), FAR)
def test_the_gap_of_one_atom_allows_for_rounding(dtype, far, rng):
    atoms, samples, distances = far_linear(rng, dtype, far)
    coder = kc.KernelCoder("linear", prior=NoPrior(), constraint=OneAtom()).fit(atoms)
    codes = coder.transform(samples)
    lost = 0.5 * ((distances * codes).sum(axis=1) - distances.min(axis=1))
    gaps = coder.certify(samples, codes)
    assert np.all(gaps >= lost)
    assert gaps.max() < 2e3 * np.finfo(dtype).eps * (100.0 + far**2)
