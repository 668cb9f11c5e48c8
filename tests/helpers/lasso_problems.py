"""Problems and penalties for the active-set solver, and how it is run in its tests."""

import numpy as np

from helpers.cases import gaussian
from kernelcoding.constraints import Free
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers import active_set
from kernelcoding.solvers.result import Options

FREE = Free()


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
    """The same penalty for every atom."""
    ones = np.ones((1, problem.n_atoms))
    return Penalty(l1 * ones, ridge * ones)


def solve(problem, penalty, constraint=FREE, **options):
    return active_set.solve(problem, penalty, constraint, Options(**options))


def run(problem, penalty, constraint=FREE, **options):
    """Codes that must all have converged."""
    result = solve(problem, penalty, constraint, **options)
    assert result.converged.all()
    return result.codes
