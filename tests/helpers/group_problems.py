"""Problems and penalties with groups of atoms, and what their codes must be."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from kernelcoding.constraints import Free
from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers import group
from kernelcoding.solvers.result import Options
from reference.groups import violations

FREE = Free()


def gaussian_problem(n=6, n_atoms=30, dim=3, gamma=0.3, seed=0):
    rng = np.random.default_rng(seed)
    atoms, samples = rng.normal(size=(n_atoms, dim)), rng.normal(size=(n, dim))
    gram = rbf_kernel(atoms, gamma=gamma)
    return CodingProblem(np.ones(n), rbf_kernel(samples, atoms, gamma=gamma), gram)


def make_penalty(labels, weights, l1=0.0, ridge=0.0):
    size = len(labels)
    weights = np.broadcast_to(np.asarray(weights, float), (max(labels) + 1,))
    l1, ridge = (np.atleast_2d(np.broadcast_to(x, np.shape(x) or size)) for x in (l1, ridge))
    return Penalty(l1.astype(float), ridge.astype(float), Groups(np.asarray(labels), weights))


def shuffled_labels(n_atoms, n_groups, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n_atoms) % n_groups)


def solve(problem, penalty, constraint=FREE, **options):
    return group.solve(problem, penalty, constraint, Options(**options))


def assert_solved(problem, penalty, result, constraint, limit=3e-6):
    assert np.isfinite(result.codes).all()
    assert result.converged.all()
    assert (result.n_iter >= 0).all()
    if constraint.nonnegative:
        assert result.codes.min() >= 0.0
    if constraint.sum_to_one:
        assert_allclose(result.codes.sum(axis=1), 1.0, atol=1e-12)
    assert violations(problem, penalty, result.codes, constraint).max() <= limit


PENALTIES = {
    "group": make_penalty(shuffled_labels(30, 6), 0.05),
    "sparse group": make_penalty(shuffled_labels(30, 6), 0.04, l1=0.01),
    "group and ridge": make_penalty(shuffled_labels(30, 5), [0.1, 0.05, 0.02, 0.2, 0.0], ridge=0.1),
    "everything, a row each": make_penalty(
        shuffled_labels(30, 6),
        0.03,
        l1=np.random.default_rng(1).uniform(0.0, 0.03, (6, 30)),
        ridge=np.random.default_rng(2).uniform(0.0, 0.2, (6, 30)),
    ),
    "weights of all sizes": make_penalty(
        np.repeat(np.arange(8), [1, 1, 2, 3, 4, 5, 6, 8]), np.geomspace(1e-4, 0.3, 8), l1=1e-3
    ),
}
