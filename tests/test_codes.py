"""Products of codes, dense or sparse, against plain matrix products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from kernelcoding.codes import (
    dense,
    explained,
    picked,
    products,
    row_sums,
    scaled_columns,
    second_moment,
    some_rows,
    stacked,
    times,
    times_codes,
    transposed,
    zero_rows,
)

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
# None, few, and more numbers than the zeros are skipped for.
DENSITIES = pytest.mark.parametrize("density", [0.0, 0.03, 0.2, 0.9])


def random_codes(rng, density, shape=(40, 30)):
    return rng.normal(size=shape) * (rng.uniform(size=shape) < density)


@FORMS
@DENSITIES
def test_products_are_those_of_the_plain_arrays(form, density, rng):
    codes, others = (random_codes(rng, density) for _ in range(2))
    right, left = rng.normal(size=(30, 17)), rng.normal(size=(13, 40))
    assert_allclose(times(form(codes), right), codes @ right, atol=1e-12)
    assert_allclose(times_codes(left, form(codes)), left @ codes, atol=1e-12)
    assert_allclose(times(transposed(form(codes)), left.T), codes.T @ left.T, atol=1e-12)
    assert_allclose(products(form(codes), form(others)), codes @ others.T, atol=1e-12)
    assert_allclose(row_sums(form(codes), codes), (codes**2).sum(axis=1), atol=1e-12)


@FORMS
@DENSITIES
def test_sums_of_rows_take_weights_of_any_shape(form, density, rng):
    codes, weights = random_codes(rng, density), rng.normal(size=(40, 30))
    for some in (1.0, -2.5, weights, weights[0], weights[:1], weights[:, :1]):
        assert_allclose(row_sums(form(codes), some), (codes * some).sum(axis=1), atol=1e-12)
    weighted = row_sums(form(codes), sparse.csr_array(weights))
    assert_allclose(weighted, (codes * weights).sum(axis=1), atol=1e-12)
    assert row_sums(form(codes.astype(np.float32))).dtype == np.float32


def test_blocks_of_codes_are_put_below_each_other(rng):
    blocks = [random_codes(rng, density, (n, 7)) for density, n in ((0.4, 3), (0.0, 2), (0.9, 4))]
    for kinds in ([sparse.csr_array] * 3, [np.asarray] * 3, [np.asarray, *[sparse.csr_array] * 2]):
        found = stacked([kind(block) for kind, block in zip(kinds, blocks, strict=True)])
        assert_allclose(
            found if isinstance(found, np.ndarray) else found.toarray(), np.vstack(blocks)
        )
    single = stacked([sparse.csr_array(block.astype(np.float32)) for block in blocks])
    assert single.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_any_matrix_may_come(dtype, rng):
    codes = random_codes(rng, 0.1)
    whole = (10 * rng.normal(size=(60, 34))).astype(dtype)
    for matrix in (whole[:30], whole[::2], np.asfortranarray(whole[:30]), whole[:30, ::3]):
        expected = codes @ matrix.astype(np.float64)
        assert_allclose(times(sparse.csr_array(codes), matrix), expected, atol=1e-11)
    assert_allclose(times(sparse.csr_array(codes), whole[:30, 0]), codes @ whole[:30, 0], atol=1e-5)


def test_unsorted_and_repeated_entries_add_up(rng):
    matrix = rng.normal(size=(30, 9))
    parts = (np.array([2.0, -1.0, 3.0]), np.array([7, 2, 7]), np.array([0, 0, 3]))
    codes = sparse.csr_array(parts, shape=(2, 30))
    assert_allclose(times(codes, matrix), [np.zeros(9), 5.0 * matrix[7] - matrix[2]], atol=1e-12)


def test_single_precision_stays(rng):
    codes = sparse.csr_array(random_codes(rng, 0.1).astype(np.float32))
    matrix = rng.normal(size=(30, 5)).astype(np.float32)
    assert times(codes, matrix).dtype == np.float32


@FORMS
def test_which_codes_are_zero(form):
    codes = np.zeros((12, 5))
    assert zero_rows(form(codes)).all()
    codes[10, 3], codes[2, 0] = -1e-300, 2.0
    assert np.flatnonzero(~zero_rows(form(codes))).tolist() == [2, 10]
    explicit = sparse.csr_array((np.zeros(3), ([0, 1, 1], [1, 0, 2])), shape=(2, 4))
    assert zero_rows(explicit).all()


@FORMS
@DENSITIES
def test_what_codes_explain_is_the_fall_of_the_squared_norm(form, density, rng):
    codes, atoms, samples = (
        random_codes(rng, density),
        rng.normal(size=(30, 9)),
        rng.normal(size=(40, 9)),
    )
    missed = ((samples - codes @ atoms) ** 2).sum(axis=1)
    found = explained(form(codes), samples @ atoms.T, atoms @ atoms.T)
    assert_allclose((samples**2).sum(axis=1) - found, missed, atol=1e-11)


@FORMS
@DENSITIES
@pytest.mark.parametrize("weighs", [False, True])
def test_second_moments_are_those_of_the_plain_arrays(form, density, weighs, rng):
    codes, weight = random_codes(rng, density), rng.uniform(size=40)
    found = second_moment(form(codes), weight if weighs else None)
    assert_allclose(found, codes.T @ (codes * weight[:, None] if weighs else codes), atol=1e-12)


def test_second_moments_do_not_need_sorted_atoms():
    codes = sparse.csr_array(([2.0, 3.0, 5.0], [7, 1, 4], [0, 3]), shape=(1, 20))
    assert_allclose(second_moment(codes), codes.toarray().T @ codes.toarray())


@FORMS
def test_scaled_columns_leave_the_codes_that_were_given(form, rng):
    codes, factors = random_codes(rng, 0.2), rng.normal(size=30)
    factors[3] = 0.0
    given = form(codes)
    scaled = scaled_columns(given, factors)
    assert_allclose(dense(scaled), codes * factors)
    assert_allclose(dense(given), codes)
    if sparse.issparse(scaled):
        assert scaled.nnz == np.count_nonzero(scaled.toarray())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_picked_codes_are_of_one_kind_or_the_other(form, rng):
    first, second, rows = random_codes(rng, 0.2), random_codes(rng, 0.2), rng.uniform(size=40) < 0.5
    found = picked(form(first), form(second), rows)
    assert_allclose(dense(found), np.where(rows[:, None], second, first))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_all_rows_are_not_copied(form, rng):
    codes = form(random_codes(rng, 0.2))
    assert some_rows(codes, slice(0, 40)) is codes
    assert_allclose(dense(some_rows(codes, slice(3, 9))), dense(codes)[3:9])
