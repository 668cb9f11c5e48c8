"""The ratio of kernel learning and its gradient, against the ratio written out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelcoding as kc
from helpers.kernel_learning import CODERS, KERNELS, Setting, setting
from kernelcoding.coders.base import options_of
from kernelcoding.formulations import Sensitivity
from kernelcoding.kernel_learning.ratio import discrepancy
from kernelcoding.kernels import Gaussian, MultipleKernel, Sigmoid
from kernelcoding.problem import CodingProblem
from reference.kernel_learning import distances_among
from reference.learning import numeric_gradient

ATOMS = pytest.mark.parametrize("combined", [False, True], ids=["points", "combinations"])


FREE = "multiple, free scale"
PAIRS = [(kernel, False) for kernel in KERNELS if kernel != FREE] + [
    (kernel, True) for kernel in ("gaussian", "polynomial", "stein", "multiple")
]


# A coder's derivative times a kernel's: each coder with every other kernel, and each kernel so.
CELLS = [
    (coder, *pair)
    for row, coder in enumerate(CODERS)
    for column, pair in enumerate(PAIRS)
    if (row + column) % 2 == 0
]


@pytest.mark.parametrize(("coder_name", "kernel_name", "combined"), CELLS)
def test_ratio_and_gradient(coder_name, kernel_name, combined, rng):
    here = setting(coder_name, kernel_name, rng, combined)
    problem = here.problem
    theta = here.kernel.theta
    problem(theta)  # the penalty of unequal shares is measured at the start
    at = theta + rng.uniform(-0.3, 0.3, size=len(theta))
    value, gradient = problem(at)
    assert_allclose(value, here.value(at), rtol=1e-7)
    expected = numeric_gradient(here.value, at, step=1e-4)
    assert np.abs(expected).max() > 1e-4
    assert_allclose(gradient, expected, rtol=2e-4, atol=2e-5 * max(value, 1e-2))


@pytest.mark.parametrize("coder_name", ["sparse", "lcc"])
def test_shares_are_measured_at_the_present_parameters(coder_name, rng):
    """A kernel that grows by its own parameters gets a smaller weight for it."""
    test_ratio_and_gradient(coder_name, FREE, False, rng)


SOFT = ("soft", "local soft")  # codes are a formula of the kernel: nothing to hold


@ATOMS
@pytest.mark.parametrize("coder_name", SOFT)
def test_codes_that_are_a_formula_move_with_the_kernel(coder_name, combined, rng):
    here = setting(coder_name, "gaussian", rng, combined, include_prior=False)
    theta, problem = here.kernel.theta, here.problem
    assert not problem.holds_codes
    value, gradient = problem(theta)
    assert_allclose(value, here.value(theta), rtol=1e-6)
    assert_allclose(gradient, numeric_gradient(here.value, theta), rtol=2e-4, atol=1e-6)


@ATOMS
@pytest.mark.parametrize("coder_name", [name for name in CODERS if name not in SOFT])
def test_gradient_in_the_papers_reading_is_that_of_fixed_codes(coder_name, combined, rng):
    here = setting(coder_name, "gaussian", rng, combined, include_prior=False)
    problem = here.problem
    theta = here.kernel.theta
    value, gradient = problem(theta)
    codes = problem.parts[0].codes
    codes = codes.toarray() if hasattr(codes, "toarray") else codes

    def error_of_these_codes(at):
        return here.ratio(here.kernel.with_theta(at), codes)

    assert_allclose(value, error_of_these_codes(theta), rtol=1e-8)
    assert_allclose(value, here.value(theta), rtol=1e-6)
    assert_allclose(gradient, numeric_gradient(error_of_these_codes, theta), rtol=1e-5)
    problem.frozen = True
    moved = theta + 0.2
    assert_allclose(problem(moved)[0], error_of_these_codes(moved), rtol=1e-8)
    problem.frozen = False
    assert_allclose(problem(moved)[0], here.value(moved), rtol=1e-6)


@pytest.mark.parametrize("coder_name", CODERS)
def test_sensitivity_in_every_similarity(coder_name, rng):
    here = setting(coder_name, "gaussian", rng)
    coder = here.fitted(here.kernel)
    formulation, options = coder.formulation(), options_of(coder)
    own, cross, gram = here.similarities(here.kernel)

    def optimum(own, cross, gram):
        problem = CodingProblem(own, cross, 0.5 * (gram + gram.T))
        codes = formulation.solve(problem, options).codes
        return formulation.sensitivity(problem, codes)

    found = optimum(own, cross, gram)
    by_own = numeric_gradient(lambda at: optimum(at, cross, gram).value, own)
    assert_allclose(found.self_similarity, by_own, atol=1e-5)
    by_cross = numeric_gradient(lambda at: optimum(own, at, gram).value, cross)
    assert_allclose(found.cross, by_cross, atol=1e-5)
    by_gram = numeric_gradient(lambda at: optimum(own, cross, at).value, gram)
    assert_allclose(0.5 * (found.gram + found.gram.T), by_gram, atol=1e-5)


def test_sensitivity_of_errors_of_any_codes(rng):
    here = setting("sparse", "laplacian", rng)
    own, cross, gram = here.similarities(here.kernel)
    codes = rng.normal(size=cross.shape)
    found = Sensitivity.of_error(CodingProblem(own, cross, gram), codes)
    features = np.linalg.cholesky(gram)  # rows are the atoms
    images = np.linalg.solve(features, cross.T).T
    lost = own - (images**2).sum(axis=1)
    expected = 0.5 * np.sum(((images - codes @ features) ** 2).sum(axis=1) + lost)
    assert_allclose(found.value, expected)
    assert_allclose(found.self_similarity, 0.5)
    assert_allclose(found.cross, -codes)
    assert_allclose(found.gram, 0.5 * codes.T @ codes)


def test_discrepancy_is_the_mean_over_pairs(rng):
    A = rng.normal(size=(7, 3))
    value, derivative = discrepancy(A @ A.T)
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(A) for j, b in enumerate(A) if i != j]
    assert_allclose(value, np.mean(pairs))
    assert_allclose(derivative, numeric_gradient(distances_among, A @ A.T), atol=1e-8)


def test_parts_are_coded_with_their_own_atoms(rng):
    """Two parts are two problems whose objectives are averaged, over the J of all atoms."""
    here = setting("sparse", "gaussian", rng)
    problem = here.problem
    atoms = [np.array([0, 1, 2, 5, 8]), np.array([3, 4, 6, 7])]
    rows = [np.array([0, 4]), np.array([1, 2, 3, 5])]
    part = type(problem.parts[0])
    problem.parts = [part(r, a) for r, a in zip(rows, atoms, strict=True)]
    gram = here.kernel(here.points)
    total = 0.0
    for r, a in zip(rows, atoms, strict=True):
        alone = replace(here, points=here.points[a], samples=here.samples[r])
        total += alone.ratio(here.kernel) * len(r) * distances_among(gram[np.ix_(a, a)])
    value, gradient = problem(here.kernel.theta)
    assert_allclose(value, total / 6 / distances_among(gram), rtol=1e-7)
    numeric = numeric_gradient(lambda at: problem(at)[0], here.kernel.theta, step=1e-4)
    assert_allclose(gradient, numeric, rtol=1e-5)


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(0.4, 0.8), MultipleKernel([Gaussian(0.3), Sigmoid(0.5, 1.0)], [0.1, 1.0])],
    ids=["alone", "with others"],
)
def test_gradient_of_an_indefinite_kernel(kernel, rng):
    """The atoms live in the positive part of their spectrum, which turns with the parameters."""
    X = rng.normal(size=(18, 3))
    points, samples = X[:10], X[10:]
    assert np.linalg.eigvalsh(kernel(points))[0] < -1e-2
    with pytest.warns(UserWarning, match="indefinite on these atoms"):
        problem = Setting(kc.KernelSparseCoder(tol=1e-10), kernel, points, None, samples).problem
    theta = kernel.theta
    gradient = problem(theta)[1]
    numeric = numeric_gradient(lambda at: problem(at)[0], theta, step=1e-4)
    assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-5)


def test_the_ratio_of_an_indefinite_kernel_is_that_of_the_coder(rng):
    """Clipping in learning and clipping in coding are the same."""
    X = rng.normal(size=(18, 3))
    kernel = Sigmoid(0.4, 0.8)
    here = Setting(kc.KernelSparseCoder(alpha=0.05, tol=1e-10), kernel, X[:10], None, X[10:])
    with pytest.warns(UserWarning, match="indefinite on these atoms"):
        problem, coder = here.problem, here.fitted(kernel)
    value = problem(kernel.theta)[0]
    codes = coder.transform(here.samples)
    errors = coder.reconstruction_error(here.samples, codes)
    L = np.mean(0.5 * errors + 0.05 * np.abs(codes).sum(axis=1))
    assert_allclose(value, L / distances_among(coder.dictionary_.gram), rtol=1e-6)
