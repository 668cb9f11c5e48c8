"""Priors that a user wrote: only a value and a proximal map, against cvxpy."""

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from helpers import cases
from helpers.cases import solve
from kernelcoding.constraints import Free, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.penalty import constrained_prox
from kernelcoding.priors import L1, ElasticNet, GroupL1
from kernelcoding.problem import CodingProblem
from reference import convex

TIGHT = {"tol": 1e-9, "max_iter": 200_000}


class Absolute:
    """The l1 norm once more."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)

    def in_cvxpy(self, code):
        return cvxpy.norm1(code)


class Length:
    """The euclidean norm, not squared: the whole code is one group."""

    def value(self, codes):
        return np.sqrt((codes**2).sum(axis=1))

    def prox(self, points, scale):
        length = np.maximum(self.value(points)[:, None], 1e-300)
        return points * np.maximum(1.0 - scale / length, 0.0)

    def in_cvxpy(self, code):
        return cvxpy.norm(code)


class Huber:
    """Quadratic near zero, absolute beyond: a smooth prior."""

    def __init__(self, corner=0.2):
        self.corner = corner

    def value(self, codes):
        size = np.abs(codes)
        near, far = 0.5 * codes**2 / self.corner, size - 0.5 * self.corner
        return np.where(size <= self.corner, near, far).sum(axis=1)

    def prox(self, points, scale):
        near = points * self.corner / (self.corner + scale)
        far = points - scale * np.sign(points)
        return np.where(np.abs(points) <= self.corner + scale, near, far)

    def in_cvxpy(self, code):
        return cvxpy.sum(cvxpy.huber(code, self.corner)) / (2.0 * self.corner)


class Box:
    """No price inside [-limit, limit], an infinite one outside."""

    def __init__(self, limit=0.3):
        self.limit = limit

    def value(self, codes):
        return np.where(np.abs(codes).max(axis=1) <= self.limit * (1 + 1e-12), 0.0, np.inf)

    def prox(self, points, scale):
        return np.clip(points, -self.limit, self.limit)


OWN = [Absolute(), Length(), Huber()]


def named(prior):
    return type(prior).__name__


def reference(problem, row, prior, constraint, alpha, extra=lambda code: []):
    values, vectors = np.linalg.eigh(problem.gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    code = cvxpy.Variable(problem.n_atoms)
    cost = 0.5 * cvxpy.sum_squares(root @ code) - problem.cross[row] @ code
    if prior is not None:
        cost = cost + alpha * prior.in_cvxpy(code)
    limits = convex.limits(constraint, code) + extra(code)
    least = convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(cost), limits))
    return least + 0.5 * problem.self_similarity[row]


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=named)
@pytest.mark.parametrize("prior", OWN, ids=named)
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_own_priors_are_solved(problem_name, prior, constraint):
    problem, alpha = cases.problem(problem_name), 0.05
    formulation = Penalised(prior, constraint, alpha)
    result = solve(problem, formulation, **TIGHT)
    assert result.converged.all()
    if constraint.sum_to_one:
        assert_allclose(result.codes.sum(axis=1), 1.0, atol=1e-9)
    for row, code in enumerate(result.codes):
        value = convex.objective(problem, row, code, alpha * prior.value(code[None])[0])
        expected = reference(problem, row, prior, constraint, alpha)
        assert_allclose(value, expected, rtol=1e-7, atol=1e-8)
    # The fixed-point residual is what the solver promised.
    largest = max(np.abs(problem.cross).max(), np.diag(problem.gram).max())
    assert np.all(formulation.gap(problem, result.codes) <= 1.01e-9 * largest)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=named)
def test_own_copies_of_built_in_priors_agree(constraint):
    problem = cases.problem("regular")
    pairs = [(Absolute(), L1()), (Length(), GroupL1(np.zeros(14), weights=[1.0]))]
    for own, built_in in pairs:
        mine = solve(problem, Penalised(own, constraint, 0.1), **TIGHT).codes
        theirs = solve(problem, Penalised(built_in, constraint, 0.1), tol=1e-10).codes
        assert_allclose(mine, theirs, atol=1e-6)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=named)
def test_a_prior_may_be_a_set(constraint):
    problem = cases.problem("regular")
    prior = Box()
    result = solve(problem, Penalised(prior, constraint, 1.0), **TIGHT)
    assert np.abs(result.codes).max() <= 0.3
    for row, code in enumerate(result.codes):
        expected = reference(
            problem, row, None, constraint, 0.0, lambda code: [cvxpy.abs(code) <= 0.3]
        )
        assert_allclose(convex.objective(problem, row, code, 0.0), expected, rtol=1e-7)


@pytest.mark.parametrize("scale", [0.1, 2.0])
@pytest.mark.parametrize("prior", [*OWN, L1(), ElasticNet(0.5), GroupL1(cases.LABELS)], ids=named)
def test_prox_with_a_sum_is_the_prox_of_the_sum(prior, scale, rng):
    # Not "prox, then project": that is another point.
    points = 2.0 * rng.normal(size=(4, 14)) + rng.normal(size=(4, 1))
    penalty = Penalised(prior, SumToOne(), 0.5).penalty(cases.problem("regular"))
    found = constrained_prox(penalty, points, scale, sum_to_one=True)
    assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    step = 0.5 * scale

    def value(codes):
        return 0.5 * ((codes - points) ** 2).sum(axis=1) + step * prior.value(codes)

    naive = SumToOne().project(prior.prox(points, step))
    assert np.all(value(found) <= value(naive) + 1e-12)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            move = size * rng.normal(size=points.shape)
            move -= move.mean(axis=1, keepdims=True)
            rise = value(found + move) - value(found)
            assert np.all(rise >= 0.5 * (move**2).sum(axis=1) - 1e-11)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=named)
@pytest.mark.parametrize("prior", OWN, ids=named)
def test_rows_stop_on_their_own(prior, constraint, rng):
    problem = cases.gaussian_problem(rng, gamma=1.0, n_features=4, n_samples=6)
    formulation = Penalised(prior, constraint, 0.05)
    together = solve(problem, formulation)
    assert len(set(together.n_iter)) > 1
    for row in range(6):
        alone = solve(problem.take(slice(row, row + 1)), formulation)
        assert_allclose(alone.codes[0], together.codes[row], atol=1e-9)
        assert alone.n_iter[0] == together.n_iter[row]


def test_giving_up_is_reported():
    problem = cases.problem("gaussian")
    result = solve(problem, Penalised(Absolute(), Free(), 1e-4), max_iter=3)
    assert not result.converged.any()
    assert np.all(result.n_iter == 3)
    assert "iteration limit" in result.status.value


def test_precision_and_form_of_the_output():
    problem = cases.problem("regular")
    formulation = Penalised(Absolute(), SumToOne(), 0.1)
    dense = solve(problem, formulation).codes
    compact = solve(problem, formulation, sparse_output=True).codes
    assert isinstance(compact, sparse.csr_array)
    assert_allclose(compact.toarray(), dense)
    single = solve(problem.astype(np.float32), formulation)
    assert single.codes.dtype == np.float32
    assert single.converged.all()
    assert_allclose(single.codes, dense, atol=1e-5)


@pytest.mark.parametrize("constraint", [Free(), SumToOne()], ids=named)
def test_a_sample_unlike_every_atom_is_coded_all_the_same(constraint):
    # No correlation at all: the tolerance must not be a fraction of nothing.
    gram = cases.problem("regular").gram
    problem = CodingProblem(np.ones(1), np.zeros((1, 14)), gram)
    result = solve(problem, Penalised(Huber(), constraint, 0.1), tol=1e-8, max_iter=999)
    assert result.converged.all()
    expected = reference(problem, 0, Huber(), constraint, 0.1)
    value = Penalised(Huber(), constraint, 0.1).objective(problem, result.codes)
    assert_allclose(value, expected, rtol=1e-7)


def test_nothing_is_changed_in_place():
    problem = cases.problem("regular")
    before = [array.copy() for array in (problem.self_similarity, problem.cross, problem.gram)]
    solve(problem, Penalised(Length(), SumToOne(), 0.1))
    for array, kept in zip(
        (problem.self_similarity, problem.cross, problem.gram), before, strict=True
    ):
        assert np.array_equal(array, kept)
