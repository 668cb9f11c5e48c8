"""Certificates against exact arithmetic: of the stored numbers, and of the true kernel."""

import numpy as np
import pytest

from helpers.cases import gaussian, solve
from kernelcoding import KernelMatchingPursuit
from kernelcoding.constraints import AtMost, Free, NonNegative, Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.gram import GramFacts
from kernelcoding.kernels import Gaussian, Linear
from kernelcoding.priors import L1, NoPrior, Ridge, WeightedL1
from kernelcoding.problem import CodingProblem
from reference import convex, exact


def assert_bounds(gap, code, n_nonzero, own, cross, gram):
    """The certificate is no less than the distance to the best code, without any tolerance."""
    best = exact.best_support(own, cross, gram, n_nonzero)
    if best is None or best < 0:  # not a Gram matrix: rounding made it indefinite
        return False
    assert gap >= exact.objective(own, cross, gram, code) - best
    return True


def rounding(problem, codes):
    """What the objective of codes may be wrong by: large ones cancel."""
    norms = np.sqrt(np.diag(problem.gram))
    return 2e-13 * (np.sqrt(problem.self_similarity) + np.abs(codes) @ norms) ** 2


def problem_of(kernel, X, atoms):
    return CodingProblem(kernel.diagonal(X), kernel(X, atoms), kernel(atoms, atoms))


def stored(problem):
    return (
        exact.rationals(problem.self_similarity)[0],
        exact.rationals(problem.cross)[0],
        exact.rationals(problem.gram),
    )


def test_atoms_that_only_the_true_kernel_tells_apart():
    rng = np.random.default_rng(986)
    atoms = rng.standard_normal((3, 2))
    near = 10.0 ** rng.uniform(-9, -4)
    atoms[1] = atoms[0] + near * rng.standard_normal(2)
    X = rng.standard_normal((1, 2))
    gamma = 10.0 ** rng.uniform(-1, 1)
    coder = KernelMatchingPursuit(Gaussian(gamma), n_nonzero=2, selection="ols").fit(atoms)
    codes = coder.transform(X)
    gap = coder.certify(X, codes)[0]
    cross, gram = exact.gaussian(X, atoms, gamma)[0], exact.gaussian(atoms, atoms, gamma)
    true = exact.objective(1, cross, gram, codes[0]) - exact.best_support(1, cross, gram, 2)
    assert true > 0.1  # it was certified as optimal
    assert gap >= true
    assert_bounds(gap, codes[0], 2, *stored(coder.dictionary_.problem(X)))


def near_duplicates(rng):
    """Few atoms, two of them 1e-9 to 1e-4 apart, some opposite, norms over many decades."""
    n_atoms, n_features = rng.integers(2, 5), rng.integers(1, 5)
    atoms = rng.standard_normal((n_atoms, n_features))
    near = 10.0 ** rng.uniform(-9, -4) if rng.random() < 0.8 else 0.0
    atoms[1] = atoms[0] + near * rng.standard_normal(n_features)
    if n_atoms > 2 and rng.random() < 0.3:
        atoms[2] = -atoms[0]
    if rng.random() < 0.3:
        atoms *= 10.0 ** rng.uniform(-4, 4, size=(n_atoms, 1))
    return atoms, rng.standard_normal((1, n_features))


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_near_duplicates_never_break_a_certificate(kernel, rng):
    n_stored = 0
    for _ in range(120):
        atoms, X = near_duplicates(rng)
        gamma = 10.0 ** rng.uniform(-1, 1)
        if kernel == "gaussian":
            problem = problem_of(Gaussian(gamma), X, atoms)
            true = 1, exact.gaussian(X, atoms, gamma)[0], exact.gaussian(atoms, atoms, gamma)
        else:
            problem = problem_of(Linear(), X, atoms)
            true = exact.linear(X, X)[0][0], exact.linear(X, atoms)[0], exact.linear(atoms, atoms)
        for constraint in (AtMost(1), AtMost(2), AtMost(2, "ols"), Free()):
            formulation = Penalised(NoPrior(), constraint)
            code = solve(problem, formulation).codes
            gap = formulation.gap(problem, code)[0]
            most = getattr(constraint, "n_nonzero", len(atoms))
            n_stored += assert_bounds(gap, code[0], most, *stored(problem))
            assert assert_bounds(gap, code[0], most, *true)
    assert n_stored > 200


KINDS = {
    "identical": lambda atoms: atoms,
    "opposite": lambda atoms: -atoms,
    "near": lambda atoms: atoms + 1e-4 * np.roll(atoms, 1, axis=1),
    "zero": lambda atoms: 0.0 * atoms,
}


@pytest.mark.parametrize("constraint", [Free(), NonNegative(), SumToOne(), Simplex()], ids=repr)
@pytest.mark.parametrize("prior", [NoPrior(), Ridge(), L1(), WeightedL1(np.arange(10) % 3)])
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_tight_at_the_optimum(kind, prior, constraint, rng):
    atoms, X = rng.normal(size=(5, 12)), rng.normal(size=(4, 12))
    atoms = np.vstack([atoms, KINDS[kind](atoms)])
    problem = CodingProblem((X**2).sum(axis=1), X @ atoms.T, atoms @ atoms.T)
    formulation = Penalised(prior, constraint, 0.1)
    codes = solve(problem, formulation, tol=1e-12).codes
    best, _ = convex.optimum(problem, prior, constraint, 0.1)
    gaps = formulation.gap(problem, codes)
    assert np.all(gaps >= formulation.objective(problem, codes) - best - 1e-6)
    assert best.min() > 0.01
    assert np.all(gaps <= 1e-8 + rounding(problem, codes))


@pytest.mark.parametrize("kind", ["identical", "opposite", "near", "zero"])
def test_pursuit_is_tight_where_no_atom_is_left(kind, rng):
    atoms, X = rng.normal(size=(3, 8)), rng.normal(size=(4, 8))
    atoms = np.vstack([atoms, KINDS[kind](atoms)])
    problem = CodingProblem((X**2).sum(axis=1), X @ atoms.T, atoms @ atoms.T)
    formulation = Penalised(NoPrior(), AtMost(6))
    codes = solve(problem, formulation).codes
    assert np.all(formulation.gap(problem, codes) <= 1e-9 + rounding(problem, codes))


def test_equal_atoms_that_a_sample_tells_apart_are_not_equal(rng):
    # The Gram matrix alone cannot tell 1e-9: both atoms are (1, 1) to the last bit.
    atoms = np.array([[0.0, 0.0], [1e-9, 0.0]])
    X = np.array([[1.0, 0.5]])
    problem = CodingProblem(np.ones(1), gaussian(X, atoms, 0.5), gaussian(atoms, atoms, 0.5))
    assert np.all(problem.gram == 1.0)
    formulation = Penalised(NoPrior(), Free())
    codes = np.array([[0.5, 0.5]]) * problem.cross[0, 0]
    true = exact.gaussian(X, atoms, 0.5)[0], exact.gaussian(atoms, atoms, 0.5)
    assert assert_bounds(formulation.gap(problem, codes)[0], codes[0], 2, 1, *true)


def test_a_span_counts_equal_and_opposite_atoms_once(rng):
    atoms = rng.integers(-8, 8, size=(5, 6)) / 8.0  # products and sums without rounding
    atoms = np.vstack([atoms[:4], -atoms[1], atoms[2], np.zeros(6), 2.0**-20 * atoms[4]])
    span = GramFacts(atoms @ atoms.T).span
    assert list(span.atoms) == [0, 1, 2, 3, 7]
    assert list(span.sign) == [1, 1, 1, 1, -1, 1, 0, 1]
    basis = atoms[span.atoms] * span.scale[:, None]
    assert 0 < span.smallest <= np.linalg.svd(basis, compute_uv=False)[-1] ** 2
    right = rng.normal(size=(2, 5))
    solved = span.solve(right)
    assert np.allclose(solved @ span.gram[np.ix_(span.atoms, span.atoms)], right)
    single = GramFacts(np.float32(np.ones((2, 2)) + 1e-6 * np.eye(2))).span
    assert single.smallest < 0  # single precision cannot tell
