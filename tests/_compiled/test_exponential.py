"""Compiled exponentials and softmax against extended precision."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.processes import run_python
from kernelcoding._compiled.exponential import scaled_exponential, single_exponential
from kernelcoding._compiled.softmax import fill_soft_weights
from kernelcoding.kernels.radial import decay


def test_exponentials_are_right_to_three_units_in_the_last_place():
    values = np.linspace(0.0, 700.0, 100_001)[None]
    result = values.copy()
    scaled_exponential(result, -1.0)
    truth = np.exp(-values.astype(np.longdouble))
    assert np.max(np.abs(result / truth - 1)) < 3 * np.finfo(np.float64).eps


def test_ends_of_the_range():
    values = np.array([[0.0, 706.0, 708.0, 1e300, np.inf, np.nan]])
    scaled_exponential(values, -1.0)
    assert values[0, 0] == 1.0
    assert_allclose(values[0, 1], np.exp(-706.0), rtol=1e-13)
    assert_array_equal(values[0, 2:5], 0.0)
    assert np.isnan(values[0, 5])


def test_single_precision_is_right_to_five_units():
    values = np.linspace(-86.0, 1.0, 100_001, dtype=np.float32).reshape(11, -1)
    truth, result = np.exp(values.astype(np.float64)), values.copy()
    single_exponential(result)
    assert np.max(np.abs(result / truth - 1)) < 2.5 * np.finfo(np.float32).eps
    far = np.array([[0.0, -88.0, -1e30, -np.inf]], np.float32)
    single_exponential(far)
    assert far[0, 0] == 1.0
    assert np.all(np.abs(far[0, 1:]) < 1e-37)


def test_every_length_and_row_alike(rng):
    values = rng.uniform(0.0, 20.0, size=(3, 1100))
    whole = decay(values.copy(), 0.3)
    for length in (1, 3, 5, 511, 512, 513, 1025):
        assert_allclose(decay(values[:, :length].copy(), 0.3), whole[:, :length], rtol=1e-15)
    assert_allclose(whole, np.exp(-0.3 * values), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e4])
def test_softmax_against_extended_precision(rng, dtype, factor):
    cross = rng.uniform(size=(4, 700)).astype(dtype)
    offsets = rng.uniform(size=(1, 700)).astype(dtype)
    codes = np.empty_like(cross)
    fill_soft_weights(cross, offsets, factor, codes)
    scores = np.longdouble(factor) * (cross.astype(np.longdouble) - offsets)
    truth = np.exp(scores - scores.max(axis=1, keepdims=True))
    truth /= truth.sum(axis=1, keepdims=True)
    tolerance = 1e-11 if dtype == np.float64 else 1e-3
    assert_allclose(codes, truth.astype(np.float64), rtol=tolerance, atol=1e-30)


WORDS = """
import numpy as np
from kernelcoding import KernelBagOfWords
from kernelcoding.kernels import Gaussian
X = np.random.default_rng(0).normal(size=(9, 3))
found = [
    KernelBagOfWords(Gaussian(gamma=0.5), atoms=X[:5], **parameters).fit(X).transform(X).tolist()
    for parameters in ({}, {"assignment": "hard"}, {"n_neighbors": 3})
]
"""


def test_compiled_code_is_plain_python():
    compiled = {}
    exec(WORDS, compiled)
    plain = json.loads(run_python(WORDS + "import json; print(json.dumps(found))", "1"))
    assert len(plain) == 3
    assert_allclose(plain, compiled["found"], atol=1e-12)
