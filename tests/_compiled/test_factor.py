"""The compiled Cholesky factorisation against LAPACK."""

import numpy as np
import pytest

from kernelcoding._compiled import factor
from kernelcoding._compiled.factor import PANEL
from kernelcoding._compiled.jit import compiled

SIZES = [1, 2, 3, 4, 5, 7, 8, 33, PANEL - 1, PANEL, PANEL + 1, PANEL + 6, 2 * PANEL + 3]


@compiled
def cholesky(matrix, size, floor):
    return factor.cholesky(matrix, size, floor)


@compiled
def solve_factored(matrix, size, right):
    factor.solve_factored(matrix, size, right)


def positive_definite(rng, size):
    root = rng.normal(size=(size, size + 3))
    return root @ root.T + 0.1 * np.eye(size)


@pytest.mark.parametrize("size", SIZES)
def test_both_triangles_hold_the_factor(rng, size):
    matrix = positive_definite(rng, size)
    work = np.full((size + 2, size + 2), np.nan)
    work[:size, :size] = np.tril(matrix) + np.triu(np.full_like(matrix, np.nan), 1)
    assert cholesky(work, size, 0.0)
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(np.tril(work[:size, :size]), lower, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(work[:size, :size], work[:size, :size].T)
    assert np.isnan(work[size:]).all()
    right = rng.normal(size=size)
    answer = right.copy()
    solve_factored(work, size, answer)
    np.testing.assert_allclose(matrix @ answer, right, atol=1e-8)


@pytest.mark.parametrize("size", [3, 4, 6, PANEL + 5])
@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan])
def test_refuses_a_bad_pivot(rng, size, where, value):
    matrix = positive_definite(rng, size)
    position = 0 if where == "first" else size - 1
    matrix[position] = matrix[:, position] = 0.0
    matrix[position, position] = value
    assert not cholesky(matrix, size, 1e-12)
