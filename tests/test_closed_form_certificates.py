"""Certificates in closed form are honest: of approximate LLC, soft assignment and single atoms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import entr, logsumexp

import kernelcoding as kc
from helpers import cases
from kernelcoding.certificates import local_gap, soft_assignment_gap
from kernelcoding.constraints import OneAtom
from kernelcoding.priors import NoPrior
from kernelcoding.problem import Neighbours
from kernelcoding.solvers.assignment import soft_weights

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
