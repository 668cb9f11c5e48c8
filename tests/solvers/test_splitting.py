"""Priors that a user wrote under constraints, against cvxpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import cases
from helpers.cases import Absolute, solve
from kernelcoding.constraints import NonNegative, Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import L1
from kernelcoding.problem import CodingProblem
from reference import convex
from solvers.test_proximal import OWN, TIGHT, named, reference

LIMITED = [NonNegative(), Simplex()]


@pytest.mark.parametrize("constraint", LIMITED, ids=named)
@pytest.mark.parametrize("prior", OWN, ids=named)
@pytest.mark.parametrize("problem_name", cases.PROBLEMS)
def test_own_priors_are_solved(problem_name, prior, constraint):
    problem, alpha = cases.problem(problem_name), 0.05
    formulation = Penalised(prior, constraint, alpha)
    result = solve(problem, formulation, **TIGHT)
    assert result.converged.all()
    assert result.codes.min() >= 0.0
    assert constraint.contains(result.codes, 1e-12).all()
    for row, code in enumerate(result.codes):
        value = convex.objective(problem, row, code, alpha * prior.value(code[None])[0])
        expected = reference(problem, row, prior, constraint, alpha)
        assert_allclose(value, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("constraint", LIMITED, ids=named)
def test_nothing_is_known_of_their_distance_from_the_optimum(constraint):
    # No dual and no single proximal map: a number would be a guess.
    formulation = Penalised(OWN[0], constraint, 0.05)
    problem = cases.problem("regular")
    assert np.all(formulation.gap(problem, solve(problem, formulation).codes) == np.inf)


@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_rows_stop_on_their_own(constraint, rng):
    problem = cases.gaussian_problem(rng, gamma=1.0, n_features=4, n_samples=6)
    formulation = Penalised(OWN[2], constraint, 0.05)
    together = solve(problem, formulation)
    assert together.converged.all()
    assert len(set(together.n_iter)) > 1
    for row in range(6):
        alone = solve(problem.take(slice(row, row + 1)), formulation)
        assert_allclose(alone.codes[0], together.codes[row], atol=1e-9)
        assert alone.n_iter[0] == together.n_iter[row]


@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_a_start_changes_the_time_and_not_the_answer(constraint):
    problem, formulation = cases.problem("gaussian"), Penalised(OWN[2], constraint, 0.05)
    first = solve(problem, formulation, **TIGHT)
    again = solve(problem, formulation, start=first.codes, **TIGHT)
    assert_allclose(
        formulation.objective(problem, again.codes),
        formulation.objective(problem, first.codes),
        rtol=1e-8,
    )


@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_giving_up_is_reported_with_codes_that_are_allowed(constraint):
    result = solve(cases.problem("gaussian"), Penalised(OWN[0], constraint, 1e-4), max_iter=2)
    assert not result.converged.any()
    assert np.all(result.n_iter == 2)
    assert constraint.contains(result.codes).all()


class Counted:
    """The l1 norm, counting how often its map is asked for."""

    calls = 0

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        self.calls += 1
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_a_prior_is_asked_about_once_per_step(constraint):
    # A search for the multiplier of the sum in every step asked sixty times and more.
    prior = Counted()
    result = solve(cases.problem("regular"), Penalised(prior, constraint, 0.05))
    assert result.converged.all()
    assert prior.calls <= 6 * result.n_iter.max() + 300


@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_atoms_that_are_all_zero_have_codes(constraint):
    problem = CodingProblem(np.array([0.0, 1.0]), np.zeros((2, 3)), np.zeros((3, 3)))
    result = solve(problem, Penalised(OWN[0], constraint, 0.005))
    assert result.converged.all()
    assert constraint.contains(result.codes, 1e-12).all()


def own_and_built_in(atoms, samples, constraint):
    """Objectives of codes with an l1 prior of one's own, with ours, and whether all converged."""
    problem = CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)
    formulation = Penalised(Absolute(), constraint, 0.1)
    result = solve(problem, formulation, tol=1e-6, max_iter=10_000)
    best = solve(problem, Penalised(L1(), constraint, 0.1), tol=1e-12).codes
    errors = [samples - codes @ atoms for codes in (result.codes, best)]
    values = [0.5 * (error**2).sum(axis=1) for error in errors]
    prices = [0.1 * np.abs(codes).sum(axis=1) for codes in (result.codes, best)]
    return values[0] + prices[0], values[1] + prices[1], result.converged.all()


@pytest.mark.parametrize("far", [0.0, 30.0, 1e3])
@pytest.mark.parametrize("constraint", [Simplex(), SumToOne()], ids=named)
def test_codes_that_sum_to_one_do_not_notice_the_origin(constraint, far, rng):
    atoms = rng.normal(size=(12, 6))
    samples = 0.5 * (atoms[:10] + atoms[2:]) + 0.1 * rng.normal(size=(10, 6))
    found, best, converged = own_and_built_in(far + atoms, far + samples, constraint)
    assert converged
    assert_allclose(found, best, rtol=1e-6)


@pytest.mark.parametrize("small", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("constraint", [*LIMITED, SumToOne()], ids=named)
def test_an_atom_that_is_nearly_zero_does_not_ask_for_the_impossible(constraint, small, rng):
    atoms = rng.normal(size=(12, 6))
    samples = 0.5 * (atoms[:10] + atoms[2:]) + 0.1 * rng.normal(size=(10, 6))
    atoms[3] *= small
    found, best, converged = own_and_built_in(atoms, samples, constraint)
    assert converged
    assert_allclose(found, best, rtol=1e-9)
