"""The paper's alternation: what it holds, what it omits, and where it ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND, CODERS
from helpers.learning import digits
from kernelcoding.kernel_learning.search import Box, Descent

BOUNDS = (1e-3, 1e3)


def learned(coder, include_prior):
    settings = kc.KernelLearning(include_prior=include_prior, bounds=BOUNDS, tol=1e-4)
    start = kc.kernels.Gaussian(1.0)
    return coder.set_params(kernel=start, atoms=20, learn_kernel=settings).fit(digits(80))


def test_soft_words_have_no_prior_to_omit_and_no_codes_to_hold():
    with_prior = learned(kc.KernelBagOfWords(), True)
    without = learned(kc.KernelBagOfWords(), False)
    assert_allclose(without.kernel_.gamma, with_prior.kernel_.gamma, rtol=1e-3)
    assert_allclose(without.kernel_objective_, with_prior.kernel_objective_, rtol=1e-6)


def test_exact_llc_does_not_collapse():
    # Held codes and no prior: the ratio fell with the width, down to its bound.
    coder = learned(kc.KernelLLC(n_neighbors=None, alpha=0.1), False)
    assert 10 * BOUNDS[0] < coder.kernel_.gamma < BOUNDS[1] / 10
    best = learned(kc.KernelLLC(n_neighbors=None, alpha=0.1), True).kernel_objective_
    assert coder.kernel_objective_ <= 1.5 * best


@AT_A_BOUND
@pytest.mark.parametrize("name", [name for name in CODERS if name != "groups"])
def test_every_coder_ends_at_a_number(name):
    coder = learned(clone(CODERS[name]), False)
    assert np.isfinite(coder.kernel_objective_)
    assert BOUNDS[0] <= coder.kernel_.gamma <= BOUNDS[1]


def test_a_ratio_of_zero_is_nothing_to_divide_by():
    start = np.zeros(1)
    box = Box((start - 1.0, start + 1.0), start)
    here = Descent(lambda theta: (0.0, np.zeros(1)), box, start, [])
    here.renew()
    assert here(np.zeros(1))[0] == 0.0
