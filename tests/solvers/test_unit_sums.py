"""Sums of one to the last bits, or rows that are not called converged."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelcoding.codes import dense
from kernelcoding.constraints import Simplex, SumToOne
from kernelcoding.formulations import Penalised
from kernelcoding.priors import L1, NoPrior, Ridge
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import CodingResult, Options
from kernelcoding.solvers.unit_sums import with_unit_sums


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_small_errors_are_mended_and_large_ones_reported(form):
    codes = np.array([[0.5, 0.5, 0.0], [0.3, 0.7 + 1e-9, 0.0], [2.0, -1.0, 1e-8], [0.5, 0.6, 0.0]])
    ones = np.ones(4, int)
    found = with_unit_sums(CodingResult(form(codes), ones == 1, ones))
    mended = dense(found.codes)
    assert_array_equal(mended[0], codes[0])
    assert_allclose(mended[:3].sum(axis=1), 1.0, atol=4e-16)
    assert_array_equal(np.sign(mended), np.sign(codes))
    assert_allclose(mended[:3], codes[:3], atol=1e-8)
    assert_array_equal(found.converged, [True, True, True, False])
    assert_array_equal(mended[3], codes[3])


@pytest.mark.parametrize("prior", [NoPrior(), Ridge(), L1()], ids=repr)
@pytest.mark.parametrize("constraint", [SumToOne(), Simplex()], ids=repr)
def test_a_large_multiplier_leaves_no_trace(prior, constraint, rng):
    """Similarities to a sample far larger than the atoms: the multiplier is as large."""
    atoms = rng.normal(size=(5, 3)) * np.logspace(-6, 0, 5)[:, None]
    samples = 1e6 * rng.normal(size=(40, 3))
    own = np.einsum("ij,ij->i", samples, samples)
    problem = CodingProblem(own, samples @ atoms.T, atoms @ atoms.T)
    result = Penalised(prior, constraint, 10.0).solve(problem, Options(tol=1e-8))
    codes = dense(result.codes)
    off = np.abs(codes.sum(axis=1) - 1.0) / np.maximum(np.abs(codes).sum(axis=1), 1.0)
    assert off[result.converged].max(initial=0.0) <= 4 * np.finfo(float).eps
