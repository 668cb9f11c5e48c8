"""Systems that are factored in single precision: as accurate as in double precision, or refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from kernelcoding import long_calls
from kernelcoding.long_calls import lower_half, solve_definite, symmetric_product


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(long_calls, "FACTORED", 50)
    monkeypatch.setattr(long_calls, "COLUMNS", 32)
    monkeypatch.setattr(long_calls, "ROWS", 40)


def system(rng, least, n=150):
    """Eigenvalues from ``least`` to one, and right sides of very different sizes."""
    turn = linalg.qr(rng.normal(size=(n, n)))[0]
    matrix = (turn * np.geomspace(least, 1.0, n)) @ turn.T
    return 0.5 * (matrix + matrix.T), rng.normal(size=(n, 3)) * [1.0, 1e-60, 1e60]


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("least", [1e-1, 1e-4, 1e-9])
def test_residuals_are_at_the_level_of_rounding(least, rng):
    matrix, right = system(rng, least)
    found = solve_definite(matrix, right, 0.9 * least)
    missed = linalg.norm(right - matrix @ found, axis=0)
    assert np.all(missed <= 1e-15 * linalg.norm(matrix) * linalg.norm(found, axis=0) * 10)


@pytest.mark.usefixtures("small_is_large")
def test_single_precision_is_what_is_factored(rng, monkeypatch):
    monkeypatch.setattr(long_calls, "cho_factor", None)  # any call would be an error
    matrix, right = system(rng, 1e-3)
    found = solve_definite(matrix, right, 1e-3)
    assert_allclose(found / [1.0, 1e-60, 1e60], np.linalg.solve(matrix, right / [1.0, 1e-60, 1e60]),
                    rtol=1e-9, atol=1e-9)  # fmt: skip


@pytest.mark.usefixtures("small_is_large")
def test_a_bound_that_does_not_hold_costs_time_not_digits(rng):
    matrix, right = system(rng, 1e-10)
    found = solve_definite(matrix, right, 1.0)
    exact = linalg.cho_solve(linalg.cho_factor(matrix), right)
    assert_allclose(found, exact, rtol=1e-3)


@pytest.mark.usefixtures("small_is_large")
def test_right_sides_of_zero_have_solutions_of_zero(rng):
    matrix, right = system(rng, 1e-2)
    right[:, 1] = 0.0
    assert not solve_definite(matrix, right, 1e-2)[:, 1].any()


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_what_single_precision_cannot_hold_is_factored_in_double_precision(scale, rng):
    matrix, right = system(rng, 1e-2)
    right /= [1.0, 1e-60, 1e60]
    found = solve_definite(scale * matrix, right, scale * 1e-2)
    assert_allclose(scale * found, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-12)


class LowerHalf:
    """A symmetric matrix that does not know what is above the diagonal, but for whole blocks."""

    def __init__(self, matrix):
        self.matrix = matrix

    def __len__(self):
        return len(self.matrix)

    def __getitem__(self, place):
        rows, columns = place
        assert columns.stop <= rows.stop
        return self.matrix[rows, columns]


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("least", [1e-2, 1e-9], ids=["single", "double"])
def test_one_half_of_a_matrix_is_enough(least, rng):
    matrix, right = system(rng, least)
    half = LowerHalf(matrix)
    assert_allclose(symmetric_product(half, right), matrix @ right, rtol=1e-9, atol=1e-12)
    assert_allclose(np.tril(lower_half(half, np.float64)), np.tril(matrix))
    assert_allclose(long_calls._size(lower_half(half, np.float64)), np.linalg.norm(matrix))
    found, wanted = (solve_definite(one, right, 0.9 * least) for one in (half, matrix))
    assert_allclose(found, wanted, rtol=1e-12)
