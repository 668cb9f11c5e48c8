"""Problems for the active-set solver, and the optimality conditions written out naively."""

import numpy as np

from helpers.cases import gaussian
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.active_set import solve

CONSTRAINTS = [(False, False), (True, False), (False, True), (True, True)]


def gaussian_problem(rng, n_samples=12, n_atoms=30, n_features=4, gamma=0.3):
    atoms, samples = (
        rng.normal(size=(n_atoms, n_features)),
        rng.normal(size=(n_samples, n_features)),
    )
    return CodingProblem(
        np.ones(n_samples), gaussian(samples, atoms, gamma), gaussian(atoms, atoms, gamma)
    )


def linear_problem(rng, n_samples=10, n_atoms=40, n_features=6):
    atoms, samples = (
        rng.normal(size=(n_atoms, n_features)),
        rng.normal(size=(n_samples, n_features)),
    )
    return CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)


def uniform(problem, l1=0.0, ridge=0.0):
    ones = np.ones((1, problem.n_atoms))
    return Penalty(l1 * ones, ridge * ones)


def run(problem, penalty, nonnegative=False, sum_to_one=False, **options):
    codes, converged, _ = solve(
        problem, penalty, nonnegative=nonnegative, sum_to_one=sum_to_one, **options
    )
    assert converged.all()
    return codes


def objective(problem, penalty, codes):
    quadratic = 0.5 * np.einsum("ij,jk,ik->i", codes, problem.gram, codes)
    return quadratic - (problem.cross * codes).sum(1) + penalty.value(codes)


def violation(problem, penalty, codes, nonnegative, sum_to_one):
    """Largest violation of the optimality conditions of each row, written out naively."""
    worst = []
    for i, code in enumerate(codes):
        l1 = penalty.l1[i % len(penalty.l1)]
        slope = (
            problem.cross[i] - problem.gram @ code - penalty.ridge[i % len(penalty.ridge)] * code
        )
        used = code != 0
        if sum_to_one:
            slope = slope - np.mean((slope - l1 * np.sign(code))[used])
        outside = slope - l1 if nonnegative else np.abs(slope) - l1
        rows = np.where(used, np.abs(slope - l1 * np.sign(code)), np.maximum(outside, 0.0))
        infeasible = abs(code.sum() - 1.0) if sum_to_one else 0.0
        if nonnegative:
            infeasible = max(infeasible, -code.min())
        worst.append(max(rows.max(), infeasible))
    return np.array(worst)
