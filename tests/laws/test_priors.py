"""What every prior must satisfy: its formula, its proximal map, its dual norm."""

import pickle

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from helpers import cases
from helpers.cases import LABELS, PRIORS, WEIGHTS
from kernelcoding.constraints import Free
from kernelcoding.formulations import Penalised
from kernelcoding.priors import (
    L1,
    CustomPrior,
    ElasticNet,
    GroupL1,
    LocalCoordinate,
    Locality,
    NoPrior,
    Prior,
    Ridge,
    SparseGroupL1,
    WeightedL1,
)
from kernelcoding.problem import CodingProblem
from reference import convex

FIXED = {name: prior for name, prior in PRIORS.items() if hasattr(prior, "prox")}
NORMS = {name: prior for name, prior in PRIORS.items() if hasattr(prior, "dual_norm")}


def penalties(name):
    """The penalty of a prior on a problem, and the same terms from its formula."""
    problem = cases.problem("gaussian")
    terms = [convex.terms(PRIORS[name], problem, row, 0.7) for row in range(problem.n_samples)]
    return PRIORS[name].bind(problem) * 0.7, terms


@pytest.mark.parametrize("name", PRIORS)
def test_value_is_the_formula(name, rng):
    penalty, terms = penalties(name)
    codes = rng.normal(size=(3, 14)) * (rng.uniform(size=(3, 14)) < 0.5)
    expected = [term.value(code) for term, code in zip(terms, codes, strict=True)]
    assert_allclose(penalty.value(codes), expected)
    assert_allclose(penalty.value(sparse.csr_array(codes)), expected)
    assert np.all(penalty.value(codes) >= 0.0)
    assert_array_equal(penalty.value(np.zeros((3, 14))), 0.0)
    assert_array_equal(penalty.value(-codes), penalty.value(codes))
    units = [penalty.value(np.tile(unit, (3, 1))) for unit in np.eye(14)]
    expected = np.broadcast_to(penalty.of_single_atoms(14), (3, 14))
    assert_allclose(np.transpose(units), expected)


@pytest.mark.parametrize("name", FIXED)
def test_fixed_priors_are_what_is_bound(name, rng):
    prior, problem = FIXED[name], cases.problem("gaussian")
    codes = rng.normal(size=(3, 14))
    assert_array_equal(prior.value(codes), prior.bind(problem).value(codes))
    assert_array_equal(prior.prox(codes, 0.3), prior.bind(problem).prox(codes, 0.3))
    assert isinstance(prior, CustomPrior)
    formulation = Penalised(prior, Free(), 0.7)
    assert_allclose(formulation.value(problem, codes), 0.7 * prior.value(codes))


@pytest.mark.parametrize("scale", [0.05, 1.3])
@pytest.mark.parametrize("name", PRIORS)
def test_prox_is_the_minimiser(name, scale, rng):
    penalty, all_terms = penalties(name)
    points = rng.normal(size=(3, 14))
    found = penalty.prox(points, scale)
    for row, terms in enumerate(all_terms):
        code = cvxpy.Variable(14)
        cost = 0.5 * cvxpy.sum_squares(code - points[row])
        cost += scale * (terms.l1 @ cvxpy.abs(code))
        cost += scale * (terms.square @ cvxpy.square(code))
        for group, weight in enumerate(terms.group):
            cost += scale * weight * cvxpy.norm(code[np.flatnonzero(terms.labels == group)])
        least = convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(cost)))
        reached = 0.5 * np.sum((found[row] - points[row]) ** 2) + scale * terms.value(found[row])
        assert_allclose(reached, least, rtol=1e-8, atol=1e-10)
        assert_allclose(found[row], code.value, atol=2e-4)  # strong convexity: root of the above


@pytest.mark.parametrize("name", PRIORS)
def test_prox_steps_nowhere_better(name, rng):
    penalty, terms = penalties(name)
    points = rng.normal(size=(3, 14))
    found = penalty.prox(points, 0.4)

    def value(row, code):
        return 0.5 * np.sum((code - points[row]) ** 2) + 0.4 * terms[row].value(code)

    for row in range(3):
        for size in (1e-1, 1e-3, 1e-5):
            for _ in range(20):
                step = size * rng.normal(size=14) * (rng.uniform(size=14) < 0.5)
                # Strong convexity: the way up is at least half the squared step.
                rise = value(row, found[row] + step) - value(row, found[row])
                assert rise >= 0.5 * step @ step - 1e-14


@pytest.mark.parametrize("name", PRIORS)
def test_prox_does_not_expand_and_keeps_signs(name, rng):
    penalty, _ = penalties(name)
    first, second = rng.normal(size=(2, 3, 14))
    moved = penalty.prox(first, 0.5) - penalty.prox(second, 0.5)
    assert np.all((moved**2).sum(axis=1) <= (moved * (first - second)).sum(axis=1) + 1e-14)
    assert np.all(penalty.prox(first, 0.5) * first >= 0.0)
    assert_array_equal(penalty.prox(first, 0.0), first)
    assert_array_equal(penalty.prox(np.zeros((3, 14)), 1.0), 0.0)


@pytest.mark.parametrize("name", NORMS)
def test_dual_norm_is_the_dual(name, rng):
    prior = NORMS[name]
    codes, vectors = rng.normal(size=(200, 14)), rng.normal(size=(200, 14))
    free = np.asarray(prior.bind(cases.problem("gaussian")).of_single_atoms(14)[0]) == 0.0
    vectors[:, free] = 0.0
    norms = prior.dual_norm(vectors)
    assert np.all((codes * vectors).sum(axis=1) <= norms * prior.value(codes) * (1 + 1e-12))
    # Attained: maximise <v, y> over the unit ball of the prior.
    for vector, norm in zip(vectors[:3], norms[:3], strict=True):
        terms = convex.terms(prior, cases.problem("gaussian"), 0, 1.0)
        code = cvxpy.Variable(14)
        cost = terms.l1 @ cvxpy.abs(code)
        for group, weight in enumerate(terms.group):
            cost += weight * cvxpy.norm(code[np.flatnonzero(terms.labels == group)])
        ball = [cost <= 1, *([code[np.flatnonzero(free)] == 0] if free.any() else [])]
        best = -convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(-vector @ code), ball))
        assert_allclose(norm, best, rtol=1e-7)


@pytest.mark.parametrize("name", NORMS)
def test_dual_norm_is_a_norm(name, rng):
    prior = NORMS[name]
    first, second = rng.uniform(0.1, 1.0, size=(2, 5, 14))
    free = np.asarray(prior.bind(cases.problem("gaussian")).of_single_atoms(14)[0]) == 0.0
    if free.any():
        assert np.all(np.isinf(prior.dual_norm(first)))  # nothing pays for these atoms
    first[:, free] = second[:, free] = 0.0
    assert_allclose(prior.dual_norm(-3.0 * first), 3.0 * prior.dual_norm(first), rtol=1e-12)
    bound = prior.dual_norm(first) + prior.dual_norm(second)
    assert np.all(prior.dual_norm(first + second) <= bound * (1 + 1e-12))
    assert_array_equal(prior.dual_norm(np.zeros((2, 14))), 0.0)


@pytest.mark.parametrize("name", NORMS)
def test_prox_vanishes_exactly_where_the_dual_norm_says(name, rng):
    prior = NORMS[name]
    points = rng.normal(size=(4, 14))
    free = np.asarray(prior.bind(cases.problem("gaussian")).of_single_atoms(14)[0]) == 0.0
    points[:, free] = 0.0
    for point, norm in zip(points, prior.dual_norm(points), strict=True):
        assert not prior.prox(point[None], norm * (1 + 1e-9)).any()
        assert prior.prox(point[None], norm * (1 - 1e-6)).any()


@pytest.mark.parametrize("name", ["L1", "WeightedL1", "GroupL1", "SparseGroupL1"])
def test_one_sided_gauge_is_that_of_nonnegative_codes(name, rng):
    penalty, vectors = penalties(name)[0], rng.normal(size=(4, 14))
    vectors[:, [0, 5]] = -1.0  # atoms that WeightedL1 gives away: below zero they do not matter
    gauges = penalty.gauge(vectors, one_sided=True)
    assert_allclose(gauges, penalty.gauge(np.maximum(vectors, 0.0)))
    codes = rng.uniform(size=(4, 14))
    inner = (vectors * codes).sum(axis=1)
    assert np.all(inner <= gauges * penalty.value(codes) * (1 + 1e-12))
    assert_array_equal(penalty.gauge(-np.abs(vectors), one_sided=True), 0.0)


@settings(deadline=None, max_examples=40)
@given(
    vector=st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    ratio=st.floats(0.01, 0.99),
    weights=st.lists(st.floats(0, 2), min_size=2, max_size=2),
)
def test_sparse_group_dual_norm_solves_its_equation(vector, ratio, weights):
    prior = SparseGroupL1([0, 0, 0, 1, 1, 1], ratio, weights)
    vector = np.array(vector)
    norm = prior.dual_norm(vector[None])[0]
    for factor, inside in ((1 + 1e-9, True), (1 - 1e-9, False)):
        above = np.maximum(np.abs(vector) - factor * norm * ratio, 0.0).reshape(2, 3)
        limit = factor * norm * (1 - ratio) * np.array(weights)
        fits = np.all(np.sqrt((above**2).sum(axis=1)) <= limit + 1e-12)
        assert fits or not inside
        if norm > 1e-2:
            assert np.all(np.sqrt((above**2).sum(axis=1)) <= limit) == inside


# Parts are parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIORS)
def test_priors_are_scikit_learn_components(name, rng):
    prior, problem = PRIORS[name], cases.problem("gaussian")
    codes = rng.normal(size=(3, 14))
    assert isinstance(prior, Prior)
    for copy in (
        clone(prior),
        pickle.loads(pickle.dumps(prior)),
        type(prior)(**prior.get_params()),
    ):
        assert copy is not prior
        assert_array_equal(copy.bind(problem).value(codes), prior.bind(problem).value(codes))
    assert repr(prior).startswith(type(prior).__name__ + "(")
    assert clone(prior).set_params(**prior.get_params()).get_params().keys() == (
        prior.get_params().keys()
    )


# Locality: the sign that the paper prints is wrong -----------------------------------------------


def test_far_atoms_cost_more():
    problem = cases.problem("gaussian")
    squared = problem.self_similarity[:, None] - 2 * problem.cross + np.diag(problem.gram)
    relative = np.sqrt(np.maximum(squared, 0.0))
    relative /= relative.max(axis=1, keepdims=True)
    for sigma in (0.1, 1.0, 3.0):
        price = Locality(sigma).bind(problem).of_single_atoms(14)
        assert_allclose(price, np.exp(sigma * relative) ** 2)
        order = np.argsort(squared, axis=1)
        assert np.all(np.diff(np.take_along_axis(price, order, axis=1), axis=1) >= -1e-9)
        assert_allclose(price.max(axis=1), np.exp(2 * sigma))  # the printed sign: exp(-2 sigma)
        assert_allclose(price[-1, 0], 1.0)  # the last sample is the first atom


def test_locality_has_no_unit():
    problem = cases.problem("regular")
    bigger = CodingProblem(1e6 * problem.self_similarity, 1e6 * problem.cross, 1e6 * problem.gram)
    assert_allclose(Locality(2.0).bind(bigger).ridge, Locality(2.0).bind(problem).ridge)


def test_locality_of_a_sample_that_is_every_atom():
    problem = CodingProblem(np.ones(1), np.ones((1, 3)), np.ones((3, 3)))
    assert_allclose(Locality(1.0).bind(problem).of_single_atoms(14), 1.0)


def test_local_coordinates_pay_for_squared_distance(rng):
    atoms, samples = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
    distance = np.linalg.norm(samples[:, None] - atoms[None], axis=-1)
    assert_allclose(LocalCoordinate().bind(problem).of_single_atoms(14), distance**2)


# Limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ElasticNet(1.0), L1()),
        (ElasticNet(0.0), Ridge()),
        (WeightedL1(np.ones(14)), L1()),
        (WeightedL1(np.zeros(14)), NoPrior()),
        (SparseGroupL1(LABELS, 1.0), L1()),
        (SparseGroupL1(LABELS, 0.0), GroupL1(LABELS)),
        (SparseGroupL1(LABELS, 0.0, weights=np.arange(5)), GroupL1(LABELS, np.arange(5))),
        (GroupL1(np.arange(14), WEIGHTS), WeightedL1(WEIGHTS)),
        (GroupL1(np.arange(14)), L1()),
        (SparseGroupL1(np.arange(14), 0.3), L1()),
        (GroupL1(LABELS, np.sqrt([3, 3, 3, 3, 2])), GroupL1(LABELS)),
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_limits(one, other, rng):
    points = rng.normal(size=(5, 14))
    assert_allclose(one.value(points), other.value(points))
    assert_allclose(one.prox(points, 0.3), other.prox(points, 0.3), atol=1e-15)
    if hasattr(one, "dual_norm") and hasattr(other, "dual_norm"):
        assert_allclose(one.dual_norm(points), other.dual_norm(points))


def test_the_names_and_order_of_groups_do_not_matter(rng):
    points = rng.normal(size=(5, 14))
    order = rng.permutation(14)
    numbers = np.searchsorted(list("abcde"), LABELS)
    for kind in (GroupL1, SparseGroupL1):
        expected = kind(LABELS).prox(points, 0.3)
        assert_array_equal(kind(numbers).prox(points, 0.3), expected)
        assert_array_equal(kind(10 * numbers - 7).prox(points, 0.3), expected)
        assert_array_equal(kind(list(LABELS)).prox(points, 0.3), expected)
        shuffled = kind(LABELS[order]).prox(points[:, order], 0.3)
        assert_allclose(shuffled, expected[:, order], atol=1e-15)


# What is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (ElasticNet(1.1), r"l1_ratio must lie in \[0, 1\], got 1.1"),
        (ElasticNet(-0.1), r"l1_ratio must lie in \[0, 1\], got -0.1"),
        (ElasticNet(np.nan), r"l1_ratio must lie in \[0, 1\], got nan"),
        (SparseGroupL1(LABELS, 2), r"l1_ratio must lie in \[0, 1\], got 2"),
        (WeightedL1(np.ones(13)), r"weights .* each atom: expected shape \(14,\), got \(13,\)"),
        (WeightedL1(-np.ones(14)), "weights must be finite and non-negative"),
        (WeightedL1(np.full(14, np.inf)), "weights must be finite and non-negative"),
        (WeightedL1(np.full(14, np.nan)), "weights must be finite and non-negative"),
        (GroupL1(LABELS[:-1]), r"groups .* each atom: expected shape \(14,\), got \(13,\)"),
        (GroupL1(np.ones((14, 1))), r"expected shape \(14,\), got \(14, 1\)"),
        (GroupL1(LABELS, np.ones(4)), r"weights .* each group: expected shape \(5,\), got \(4,\)"),
        (GroupL1(LABELS, -np.ones(5)), "weights must be finite and non-negative"),
        (SparseGroupL1(LABELS, 0.5, np.ones(6)), r"each group: expected shape \(5,\)"),
        (Locality(0.0), "sigma must be a positive number, got 0.0"),
        (Locality(-1.0), "sigma must be a positive number, got -1.0"),
        (Locality(np.inf), "sigma must be a positive number, got inf"),
        (Locality(np.nan), "sigma must be a positive number, got nan"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_parameters_are_refused_with_a_sentence(prior, message):
    with pytest.raises(ValueError, match=message):
        prior.bind(cases.problem("gaussian"))
