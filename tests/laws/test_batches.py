"""What a code owes to the samples beside it: the rounding of matrix products, and nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from helpers.every_coder import CODERS, EVERY_CODER
from kernelcoding.problem import CodingProblem

# One factorisation solves the systems of a whole batch, by matrix products.
SOLVED_TOGETHER = {"exact LLC", "least squares", "affine"}


def dense(codes):
    return codes.toarray() if sparse.issparse(codes) else codes


@pytest.fixture
def samples(rng):
    return rng.normal(size=(60, 5)), np.arange(60) % 3, rng.normal(size=(23, 5))


@pytest.mark.parametrize("name", CODERS)
def test_given_its_similarities_a_code_is_the_same_in_any_batch(name, samples):
    X, y, Q = samples
    coder = clone(CODERS[name]).fit(X, y)
    formulation, options = coder._coding()
    own, cross = coder.dictionary_.similarities(Q)
    problem = CodingProblem(own, cross, coder.dictionary_.gram)
    together = dense(formulation.solve(problem, options).codes)
    for rows in (np.arange(1), np.arange(7, 8), np.arange(23)[::-1], np.arange(3, 20, 4)):
        some = dense(formulation.solve(problem.take(rows), options).codes)
        if name in SOLVED_TOGETHER:
            assert_allclose(some, together[rows], rtol=0, atol=1e-8)
        else:
            assert_array_equal(some, together[rows])


@EVERY_CODER
def test_similarities_owe_the_batch_a_few_roundings(coder, samples):
    X, y, Q = samples
    dictionary = clone(coder).fit(X, y).dictionary_
    together = dictionary.cross(Q)
    alone = np.vstack([dictionary.cross(row[np.newaxis]) for row in Q])
    assert_allclose(alone, together, rtol=0, atol=64 * np.finfo(float).eps)
