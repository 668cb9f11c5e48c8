"""Problems with groups of atoms, and how far codes are from optimal: slow and obvious."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from kernelcoding.penalty import Groups, Penalty
from kernelcoding.problem import CodingProblem

CONSTRAINTS = [
    {"nonnegative": nonnegative, "sum_to_one": sum_to_one}
    for nonnegative in (False, True)
    for sum_to_one in (False, True)
]
FREE = CONSTRAINTS[0]


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


def objective(problem, penalty, codes):
    fit = 0.5 * np.einsum("ij,ij->i", codes @ problem.gram, codes)
    return fit - np.einsum("ij,ij->i", codes, problem.cross) + penalty.value(codes)


def violations(problem, penalty, codes, nonnegative, sum_to_one):
    """Distance of each group from optimality, relative to the weights; slow and obvious."""
    groups = penalty.groups
    worst = np.zeros(len(codes))
    for i, y in enumerate(codes):
        l1, ridge = penalty.l1[i % len(penalty.l1)], penalty.ridge[i % len(penalty.ridge)]
        v = problem.cross[i] - problem.gram @ y - ridge * y
        inner = l1 * np.sign(y)
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            if y[members].any():
                inner[members] += w * y[members] / np.linalg.norm(y[members])
        if sum_to_one:
            # any multiplier certifies; the one of the largest entry is the best determined
            v = v - (v - inner)[np.argmax(np.abs(y))]
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            vg, yg, lg = v[members], y[members], l1[members]
            at_zero = np.maximum(vg if nonnegative else np.abs(vg), 0.0)
            at_zero = np.maximum(at_zero - lg, 0.0)
            distances = np.where(yg == 0.0, at_zero, np.abs(vg - inner[members]))
            distance = np.linalg.norm(distances)
            if not yg.any():
                distance = max(distance - w, 0.0)
            scale = (w + np.linalg.norm(lg)) or np.abs(problem.cross[i]).max()
            worst[i] = max(worst[i], distance / scale)
    return worst


def assert_solved(problem, penalty, result, constraints, limit=3e-6):
    codes, converged, n_iter = result
    assert np.isfinite(codes).all()
    assert converged.all()
    assert (n_iter >= 0).all()
    if constraints["nonnegative"]:
        assert codes.min() >= 0.0
    if constraints["sum_to_one"]:
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12)
    assert violations(problem, penalty, codes, **constraints).max() <= limit


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
