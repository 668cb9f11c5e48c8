"""Small coding problems, and every convex pair of prior and constraint solved on them once."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from kernelcoding.constraints import Free, NonNegative, Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import (
    L1,
    ElasticNet,
    GroupL1,
    LocalCoordinate,
    Locality,
    NoPrior,
    Ridge,
    SparseGroupL1,
    WeightedL1,
)
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options
from reference import convex

N_ATOMS = 14
N_SAMPLES = 3


def gaussian(points, others, gamma):
    """Gaussian kernel, written out."""
    return np.exp(-gamma * ((points[:, None] - others[None]) ** 2).sum(-1))


def gaussian_problem(rng, gamma=0.3, n_features=2, n_samples=N_SAMPLES, n_atoms=N_ATOMS):
    """Ill conditioned; the last sample is an atom."""
    atoms = rng.normal(size=(n_atoms, n_features))
    samples = rng.normal(size=(n_samples, n_features))
    samples[-1] = atoms[0]
    own = np.ones(n_samples)
    return CodingProblem(own, gaussian(samples, atoms, gamma), gaussian(atoms, atoms, gamma))


def linear_problem(rng, n_features, n_samples=N_SAMPLES, n_atoms=N_ATOMS):
    """A linear kernel; singular with fewer features than atoms."""
    atoms = rng.normal(size=(n_atoms, n_features)) / np.sqrt(n_features)
    samples = rng.normal(size=(n_samples, n_features)) / np.sqrt(n_features)
    samples[0] += atoms[0] + atoms[1]
    return CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)


def duplicate_problem(rng):
    """Four atoms occur twice; the last sample is one of them."""
    atoms, samples = rng.normal(size=(N_ATOMS, 3)), rng.normal(size=(N_SAMPLES, 3))
    atoms[-4:] = atoms[:4]
    samples[-1] = atoms[0]
    return CodingProblem(
        np.ones(N_SAMPLES), gaussian(samples, atoms, 0.5), gaussian(atoms, atoms, 0.5)
    )


PROBLEMS = {
    "gaussian": gaussian_problem,
    "regular": lambda rng: linear_problem(rng, 40),
    "duplicates": duplicate_problem,
    "low rank": lambda rng: linear_problem(rng, 5),
}


class Absolute:
    """A prior that a user might have written."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


WEIGHTS = np.linspace(0.0, 2.0, N_ATOMS)
WEIGHTS[5] = 0.0  # two atoms are free, the first and this one
LABELS = np.array(list("abcde" * 3))[:N_ATOMS]

PRIORS = {
    "NoPrior": NoPrior(),
    "Ridge": Ridge(),
    "L1": L1(),
    "WeightedL1": WeightedL1(WEIGHTS),
    "ElasticNet": ElasticNet(0.5),
    "ElasticNet, little ridge": ElasticNet(0.99),
    "GroupL1": GroupL1(LABELS),
    "GroupL1, free group": GroupL1(LABELS, weights=[0.0, 1.0, 2.0, 1.0, 0.5]),
    "SparseGroupL1": SparseGroupL1(LABELS, l1_ratio=0.3),
    "Locality": Locality(1.0),
    "LocalCoordinate": LocalCoordinate(),
}
CONSTRAINTS = {
    "Free": Free(),
    "NonNegative": NonNegative(),
    "SumToOne": SumToOne(),
    "Simplex": Simplex(),
}
EACH_CONSTRAINT = pytest.mark.parametrize(
    "constraint", CONSTRAINTS.values(), ids=CONSTRAINTS.keys()
)
PAIRS = [(prior, constraint) for prior in PRIORS for constraint in CONSTRAINTS]


def solve(problem, formulation, **options):
    """Codes of a problem, and how they ended."""
    return formulation.solve(problem, Options(**options))


@dataclass(frozen=True)
class Case:
    """A problem, what is minimised, and what cvxpy says about it."""

    problem: CodingProblem
    formulation: Penalised
    optimum: np.ndarray  # (n,)
    optimal_codes: np.ndarray  # (n, N)

    @property
    def scale(self):
        """Objective of the zero code without prior, (n,)."""
        return np.maximum(0.5 * self.problem.self_similarity, 0.5)

    def objective(self, codes):
        """The objective from the formulas, not from the library, (n,)."""
        prior, alpha = self.formulation.prior, self.formulation.alpha
        values = []
        for row, code in enumerate(codes):
            terms = convex.terms(prior, self.problem, row, alpha)
            values.append(convex.objective(self.problem, row, code, terms.value(code)))
        return np.array(values)


@cache
def problem(name):
    """The problem of that name, the same in every test."""
    return PROBLEMS[name](np.random.default_rng(list(PROBLEMS).index(name)))


@cache
def case(problem_name, prior_name, constraint_name, alpha=0.05):
    """One pair on one problem, solved by cvxpy once in a session."""
    prior, constraint = PRIORS[prior_name], CONSTRAINTS[constraint_name]
    given = problem(problem_name)
    values, codes = convex.optimum(given, prior, constraint, alpha)
    return Case(given, Penalised(prior, constraint, alpha), values, codes)
